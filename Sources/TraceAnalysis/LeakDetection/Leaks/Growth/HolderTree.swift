// Finds the places that hold the blocks of a heap image, by references that exist in all images.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The place of a reference that has existed since before the counted rounds. The place is equal in every heap image.
enum HolderPlace: Hashable {
  /// In a block, at an offset from its start. The offset is nil if the block's words are not known by name.
  case field(owner: BlockIdentity, offset: Int?)
  /// In a variable of the program, or of a package.
  case global(address: UInt64)
  /// In the variables of a system library. The place within the library is not known and may change.
  case library
}

/// A unit of counting. Objects are counted by class, and closures by the types that they capture. Tasks and untyped
/// blocks are counted by the site that made them.
struct GrowthUnit: Hashable {
  var type: Int
  /// A hash of the allocation site; 0 for classes and closures.
  var family: UInt64
}

/// The data that the heap images of one repetition share. For one thread at a time.
final class GrowthScene {
  private let last: LiveHeap
  private let base: UInt64
  private let sites: AllocationSites
  private var types: [String: Int] = [:]
  private var families: [SiteID: UInt64] = [:]
  private let definitions: TraceDefinitions
  private var stacks: StackTree { definitions.stacks }
  private var libraryMemory: [SiteID: Bool] = [:]

  /// - Parameters:
  ///   - last: the live blocks at the last heap image.
  ///   - base: the time, in ticks, of the heap image that the first counted round is compared with.
  init(last: LiveHeap, base: UInt64, sites: AllocationSites, definitions: TraceDefinitions) {
    (self.last, self.base, self.sites, self.definitions) = (last, base, sites, definitions)
  }

  /// Returns whether a library's function allocated the memory of a site. The memory may be a table of the library
  /// itself, or memory that the library manages for its caller.
  func isLibraryMemory(_ site: SiteID) -> Bool {
    if let known = libraryMemory[site] { return known }
    var isLibrary = false
    if Int(site.rawValue) < sites.count, let frame = stacks.frame(of: sites[Int(site.rawValue)].stack),
      let image = frame.image
    {
      isLibrary = SystemCode.isSystemImage(definitions.images[image].image.path)
    }
    libraryMemory[site] = isLibrary
    return isLibrary
  }

  /// Returns whether a block exists in all heap images that count.
  func isKept(_ block: LiveBlock) -> Bool {
    guard block.birthTime <= base, let found = last.block(containing: block.address) else { return false }
    return last[found].address == block.address && last[found].identity == block.identity
  }

  /// Returns a number for a type. The type of a closure or box describes its captures and has no name, so the trace's
  /// type number identifies it.
  func number(of type: NodeType) -> Int {
    let key =
      "\(type.kind.rawValue) \(type.kind == .closure || type.kind == .box ? "\(type.typeID)" : type.qualifiedName)"
    if let known = types[key] { return known }
    types[key] = types.count
    return types.count - 1
  }

  /// Returns a hash of a site's operation and its three innermost frames. Outer callers do not matter.
  func family(of site: SiteID) -> UInt64 {
    if let known = families[site] { return known }
    guard Int(site.rawValue) < sites.count else { return 1 }
    let found = sites[Int(site.rawValue)]
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(found.operation.rawValue)
    var stack = found.stack
    for _ in 0..<3 {
      hash = (hash ^ (stacks.frame(of: stack)?.key.encoded ?? 0)) &* 0x100_0000_01B3
      hash ^= hash >> 29
      stack = stacks.parent(of: stack)
    }
    families[site] = max(1, hash)
    return max(1, hash)
  }
}

/// Groups the nodes of a heap image by their holders. For one thread at a time.
///
/// The holder of a node is the last root or kept node before it on its cheapest path. Three kinds of nodes do not count
/// as holders. Collections and tables of libraries are replaced as they grow. Nodes of the node's own kind are skipped,
/// so that a list or tree has one holder regardless of its length.
final class HolderTree {
  let graph: ObjectGraph
  let ownership: OwnershipTrees
  private let scene: GrowthScene
  private let kept: NodeSet
  private let typeNumbers: [Int]
  /// For each type: whether it is counted, and whether it is counted by family.
  private let countedTypes: [(isCounted: Bool, hasFamily: Bool)]
  private let entries: NodeTable<EdgeIndex>
  private let known: NodeSet
  /// The reference that holds a node, for nodes that hold others of their own kind.
  private var chains: [NodeID: EdgeIndex] = [:]
  /// Paths from variables. If a variable reaches a node, stale words on stacks do not matter for this node.
  private let namedPaths: RetainPaths

  init(_ graph: ObjectGraph, _ scene: GrowthScene) {
    self.graph = graph
    self.scene = scene
    ownership = OwnershipTrees(graph)
    let variables = graph.rootNodes.filter { if case .global = graph.root($0).kind { true } else { false } }
    namedPaths = RetainPaths(graph.graph, roots: variables, kinds: ObjectGraph.owning, costs: LeakFinder.costs)
    kept = NodeSet(bound: graph.graph.nodeCount)
    for (index, block) in graph.heap.blocks.enumerated() where scene.isKept(block) { kept.insert(NodeID(index)) }
    typeNumbers = graph.types.map(scene.number)
    countedTypes = graph.types.map { type in
      switch type.kind {
      case .object: (!SystemCode.isSystemModule(type.module) && !type.module.isEmpty, false)
      case .closure, .box: (true, false)
      case .task, .malloc: (true, true)
      case .error, .sideTable, .array, .dictionary, .set: (false, false)
      }
    }
    entries = NodeTable(repeating: HeapGraph.noEdge, count: graph.graph.nodeCount)
    known = NodeSet(bound: graph.graph.nodeCount)
  }

  // MARK: Nodes

  func isKept(_ node: NodeID) -> Bool { kept.contains(node) }

  func isCollection(_ node: NodeID) -> Bool {
    guard !graph.isRoot(node) else { return false }
    switch graph.type(of: node).kind {
    case .array, .dictionary, .set: return true
    default: return false
    }
  }

  /// Returns whether a node only connects a holder with the objects it holds: a collection, or a block of a library.
  private func isBetween(_ node: NodeID) -> Bool {
    guard !graph.isRoot(node) else { return false }
    switch graph.type(of: node).kind {
    case .array, .dictionary, .set: return true
    case .malloc: return graph.taskOfSlab[node] == nil && scene.isLibraryMemory(graph.heap[BlockID(node)].site)
    default: return false
    }
  }

  /// Returns the unit that a node is counted in; nil if the node is not counted. Memory of a task is part of the task.
  func unit(of node: NodeID) -> GrowthUnit? {
    let index = Int(graph.nodeTypes[Int(node)])
    guard countedTypes[index].isCounted, graph.taskOfSlab[node] == nil, !graph.deinitialised.contains(node) else {
      return nil
    }
    return GrowthUnit(
      type: typeNumbers[index],
      family: countedTypes[index].hasFamily ? scene.family(of: graph.heap[BlockID(node)].site) : 0)
  }

  func typeNumber(of node: NodeID) -> Int { typeNumbers[Int(graph.nodeTypes[Int(node)])] }

  /// Returns the element count that a collection of the standard library stores.
  func elementCount(of node: NodeID) -> UInt64 {
    let block = graph.heap[BlockID(node)]
    return min(graph.image.word(at: block.address &+ 16) ?? 0, Self.countLimit)
  }
  /// Maximum value of one count. It keeps sums of counts far below 64 bits.
  private static let countLimit: UInt64 = 1 << 32

  // MARK: Holders

  /// Returns the tree that has a node's path. This is the tree of paths from all roots if no variable leads to the
  /// node.
  func paths(to node: NodeID) -> RetainPaths { namedPaths.reaches(node) ? namedPaths : ownership.paths }

  /// Returns the reference that holds a node; nil for unreachable nodes. Constant time, except for the first node of a
  /// path.
  func entry(of node: NodeID) -> EdgeIndex? {
    guard let first = ownEntry(of: node) else { return nil }
    guard !isCollection(node) else { return first }
    var edge = first
    var passed: [NodeID] = []
    while true {
      let owner = graph.graph.source(of: edge)
      guard !graph.isRoot(owner), typeNumber(of: owner) == typeNumber(of: node) else { break }
      if let known = chains[owner] {
        edge = known
        break
      }
      passed.append(owner)
      guard let next = ownEntry(of: owner) else { break }
      edge = next
    }
    for owner in passed { chains[owner] = edge }
    return edge
  }

  private func ownEntry(of node: NodeID) -> EdgeIndex? {
    let paths = paths(to: node)
    guard paths.reaches(node), !graph.isRoot(node) else { return nil }
    var pending: [NodeID] = []
    var current = node
    while !graph.isRoot(current), !known.contains(current), paths.parents[current] != HeapGraph.noNode {
      pending.append(current)
      current = paths.parents[current]
    }
    for next in pending.reversed() {
      let parent = paths.parents[next]
      let passesOn = !graph.isRoot(parent) && (!kept.contains(parent) || isBetween(parent))
      entries.start[Int(next)] = passesOn ? entries[parent] : paths.parentEdges[next]
      known.insert(next)
    }
    let edge = entries[node]
    return edge == HeapGraph.noEdge ? nil : edge
  }

  /// Returns the place of a reference. Returns nil if the place cannot be named, as on a stack, in a register, in a
  /// task's memory, or in memory that the program mapped.
  func place(of edge: EdgeIndex) -> HolderPlace? {
    let owner = graph.graph.source(of: edge)
    let label = graph.graph.label(of: edge)
    if graph.isRoot(owner) {
      let root = graph.root(owner)
      guard case .global(let image) = root.kind, let start = root.ranges.first?.lowerBound,
        let offset = EdgeLabelID(label).scannedOffset
      else { return nil }
      if SystemCode.isSystemImage(graph.roots.images[image].path) { return .library }
      return .global(address: start &+ offset)
    }
    if graph.type(of: owner).kind == .task || graph.taskOfSlab[owner] != nil { return nil }
    return .field(owner: graph.heap[BlockID(owner)].identity, offset: graph.label(label).map(\.offset))
  }

  /// Returns the nodes that references at these places lead to. Linear in the edges of the roots and of the owners.
  ///
  /// Libraries sometimes pass objects that they hold for the program to threads. So targets of stacks and registers
  /// count as held by a library. The result is then independent of whether a round's last work has begun.
  func targets(of places: Set<HolderPlace>) -> [HolderPlace: [NodeID]] {
    var result: [HolderPlace: [NodeID]] = [:]
    var owners: Set<BlockIdentity> = []
    var hasGlobals = false
    for place in places {
      switch place {
      case .field(let owner, _): owners.insert(owner)
      case .global, .library: hasGlobals = true
      }
    }
    func take(_ node: NodeID) {
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        if let place = place(of: edge), places.contains(place) {
          result[place, default: []].append(graph.graph.target(of: edge))
        }
      }
    }
    for (index, block) in graph.heap.blocks.enumerated()
    where owners.contains(block.identity) && kept.contains(NodeID(index)) { take(NodeID(index)) }
    guard hasGlobals else { return result }
    for root in graph.rootNodes {
      if case .global = graph.root(root).kind {
        take(root)
      } else if places.contains(.library) {
        for edge in graph.graph.edges(from: root) { result[.library, default: []].append(graph.graph.target(of: edge)) }
      }
    }
    return result
  }

  // MARK: Counting

  /// Returns the nodes of `units` that a place holds, nearest first. The search starts at `targets`. It follows nodes
  /// that are not kept, collections and tables at the place, and members. Linear in the nodes reached.
  ///
  /// A library may hold the program's objects by tasks and closures. Some of these stay, and others come and go, so the
  /// search follows all of them.
  func members(of units: Set<GrowthUnit>, at place: HolderPlace, from targets: [NodeID]) -> [GrowthUnit: [NodeID]] {
    var result: [GrowthUnit: [NodeID]] = [:]
    var seen: Set<NodeID> = []
    var queue: [(node: NodeID, isInTable: Bool)] = []
    for target in targets where seen.insert(target).inserted { queue.append((target, true)) }
    var next = 0
    while next < queue.count {
      let (node, isInTable) = queue[next]
      next += 1
      let unit = self.unit(of: node)
      let isMember = unit.map { units.contains($0) } ?? false
      if isMember, let unit { result[unit, default: []].append(node) }
      let isTable = isInTable && (isBetween(node) || place == .library && isHandedOn(node))
      guard isMember || isTable || !kept.contains(node) else { continue }
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        let target = graph.graph.target(of: edge)
        if seen.insert(target).inserted { queue.append((target, isTable)) }
      }
    }
    return result
  }

  private func isHandedOn(_ node: NodeID) -> Bool {
    switch graph.type(of: node).kind {
    case .task, .closure, .box, .malloc: true
    default: false
    }
  }

  /// A type of collections that one place holds.
  struct CollectionKey: Hashable {
    var place: HolderPlace
    var type: Int
  }

  /// Returns the number of elements in the collections that `isWanted` accepts, by place and type. Linear in the
  /// blocks.
  func elements(_ isWanted: (CollectionKey) -> Bool) -> [CollectionKey: UInt64] {
    var result: [CollectionKey: UInt64] = [:]
    for node in 0..<NodeID(graph.blockCount) where isCollection(node) {
      let count = elementCount(of: node)
      guard count > 0, let key = collectionKey(of: node), isWanted(key) else { continue }
      result[key, default: 0] &+= count
    }
    return result
  }

  func collectionKey(of node: NodeID) -> CollectionKey? {
    guard let place = entry(of: node).flatMap(place) else { return nil }
    return CollectionKey(place: place, type: typeNumber(of: node))
  }
}
