// Finds the leaked live blocks, and the holders of each block, before any names are looked up.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The fault found in an object.
package enum Verdict: String, CaseIterable, Codable, Hashable, Sendable {
  /// Objects that hold one another, and that nothing else can reach.
  case retainCycle
  /// An object that nothing holds although its count is above 0, or a block that nothing points to.
  case lost
  /// An object whose `deinit` has run. Unowned references keep its memory.
  case deinitialised
  /// A task that nothing can resume.
  case suspended
  /// A live object refers to memory that has been freed.
  case dangling
  /// A reachable object whose scope has ended, like its siblings.
  case outlived
  /// Reachable objects of a kind that never ends. Their number keeps growing.
  case accumulating
  /// Reachable objects. Their number grows with each round of repeated work.
  case growing
}

/// Instances of one shape from the same allocation sites. One of them is shown.
struct LeakGroup {
  /// An instance: the object itself, or one object of a cycle. The figures describe the memory that would be freed with
  /// the instance.
  struct Member {
    var node: NodeID
    var bytes: UInt64
    var blocks: UInt64
    /// A hash that is equal for instances that hold blocks of the same types and sizes.
    var types: UInt64 = 0
  }

  /// A node of the shown instance, and the edge to the next node.
  struct Step {
    var node: NodeID
    /// The edge to the next step's node. In a cycle, the last step's edge leads to the first. Nil at the end of a path.
    var edge: EdgeIndex?
  }

  var verdict: Verdict
  var steps: [Step]
  var isCycle: Bool
  var instances: Int
  /// The memory that would be freed with all instances, and its number of blocks.
  var retainedBytes: UInt64
  var retainedBlocks: UInt64
  /// The number of the group of causes that this group belongs to, in `LeakFinder.causes`; nil for reachable objects.
  var cause: Int32?
  /// The blocks that would be freed with the shown instance alone, including the instance itself, by type.
  var held: [UInt32: BlockSum] = [:]
  /// The blocks that several instances hold together and nothing else holds, by type.
  var heldTogether: [UInt32: BlockSum] = [:]
  /// One member for each instance, in order of address. Empty if the objects themselves are gone.
  var members: [Member] = []
  /// The node of the shown instance in `members`; nil if the objects themselves are gone. The shown cycle may not
  /// contain this node.
  var shown: NodeID?
  /// True if all instances keep equal numbers of blocks and bytes, of the same types.
  var isHeldByEach: Bool {
    members.allSatisfy { ($0.blocks, $0.bytes, $0.types) == (members[0].blocks, members[0].bytes, members[0].types) }
  }
  var dangling: ObjectGraph.DanglingReference?
  /// The block of the shown instance that has ended. References still lead to it, or code used it later.
  var ended: EndedBlock?
  /// A way to the objects other than through a reference that keeps them.
  var way: PossibleWay?
  /// In a light trace, the stack of one sampled instance, which is used for all instances. Nil if no instance was
  /// sampled.
  var sampledStack: StackID?
}

extension LeakGroup {
  /// Returns a group of some of the members. The first of them is shown. Nil if there are none. Linear in the members.
  func part(_ members: [Member]) -> LeakGroup? {
    guard let first = members.first else { return nil }
    var part = self
    // Facts about the previous shown instance do not apply to the new one.
    if steps.first?.node != first.node { part.held = [:] }
    part.steps = [.init(node: first.node, edge: nil)]
    part.heldTogether = [:]
    part.members = members
    part.instances = members.count
    part.retainedBytes = members.reduce(0) { $0 &+ $1.bytes }
    part.retainedBlocks = members.reduce(0) { $0 &+ $1.blocks }
    return part
  }
}

/// All leaks in a snapshot.
struct LeakFinder {
  let graph: ObjectGraph
  /// The nodes that no root leads to, without side tables.
  let unreachable: NodeSet
  /// Nodes that no root leads to, but that are not leaks: values of functions that never return.
  let abandoned: [NodeID]
  private(set) var groups: [LeakGroup] = []
  /// Other ways to the unreachable nodes.
  private let reach: PossibleReach
  /// The causes of the unreachable groups; nil if everything is reachable.
  private(set) var causes: LeakCauses?

  /// Report only leaks that contain one of these blocks; nil reports all.
  private let wanted: ((BlockID) -> Bool)?
  /// Returns whether a block is known only from the allocator's metadata.
  private let isListed: (LiveBlock) -> Bool
  /// True if the heap image is the only information about the process.
  private let isImageAlone: Bool

  /// Linear in the graph, except for the search for cycles, which takes one search for each shape of component.
  /// `abandoned`: returns the unreachable nodes that are not leaks. The nodes that these keep are not leaks either.
  init(
    _ graph: ObjectGraph, among wanted: ((BlockID) -> Bool)? = nil,
    isListed: @escaping (LiveBlock) -> Bool = { _ in false }, isImageAlone: Bool = false,
    abandoned: (NodeSet) -> [NodeID] = { _ in [] }
  ) {
    self.graph = graph
    self.wanted = wanted
    self.isListed = isListed
    self.isImageAlone = isImageAlone
    let heap = graph.graph
    let unreachable = TaskHandles.reached(in: graph).complement
    for node in 0..<NodeID(graph.blockCount) where unreachable.contains(node) && graph.type(of: node).kind == .sideTable
    { unreachable.remove(node) }
    self.abandoned = abandoned(unreachable)
    if !self.abandoned.isEmpty {
      heap.reachable(from: self.abandoned, kinds: ObjectGraph.owning).forEach { unreachable.remove($0) }
    }
    if !graph.unknownTasks.isEmpty {
      let tasks = graph.unknownTasks.filter { unreachable.contains($0) }
      heap.reachable(from: tasks, kinds: ObjectGraph.owning).forEach { unreachable.remove($0) }
    }
    // Numbers and weak references in memory that is not a leak count too, so treat that memory as in use here.
    reach = PossibleReach(graph, inUse: unreachable.complement, unreachable: unreachable)
    unreachable.subtract(reach.resumable)
    self.unreachable = unreachable
    // Missing parts of a heap image may hold these objects, or show that the objects are just ending.
    if graph.isWhole { findDeinitialised() }
    // Do not report blocks that may have been freed without a record.
    graph.uncertain.forEach { unreachable.remove($0) }
    // Deinitialised objects hold nothing, and already have groups.
    graph.deinitialised.forEach { unreachable.remove($0) }
    if graph.isWhole { findUnreachable() }
    if !graph.hasUnseenMemory { groups += danglingGroups { _ in true } }
  }

  /// The leaked blocks: the unreachable blocks, and the deinitialised objects that were found. Unowned references keep
  /// the memory of these objects. Nil if the heap image lacks parts.
  var leaked: NodeSet? {
    guard graph.isWhole else { return nil }
    let result = NodeSet(copying: unreachable)
    for group in groups where group.verdict == .deinitialised { group.members.forEach { result.insert($0.node) } }
    return result
  }

  /// Returns the way that the program still has to a leaked block; nil if there is none.
  func way(to node: NodeID) -> LeakWay? { graph.deinitialised.contains(node) ? .reference : reach.kindOfWay(to: node) }

  /// Returns whether a leak of a block is reported.
  func isWanted(_ block: BlockID) -> Bool { wanted?(block) ?? true }

  // MARK: Unreachable

  private mutating func findUnreachable() {
    guard !unreachable.isEmpty else { return }
    let heap = graph.graph
    let components = StronglyConnectedComponents(heap, kinds: ObjectGraph.keeping, within: unreachable)
    let sources = components.sources().members
    let members = ComponentMembers(components)
    var numbers: [Signature: Int32] = [:]
    var found: [Candidate] = []
    let groupOfSource = sources.map { component -> Int32 in
      if let wanted,
        !(0..<members.count(of: component)).contains(where: { wanted(BlockID(members.node($0, of: component))) })
      {
        return CauseShares.several
      }
      var signature = signature(of: component, members, components)
      signature.way = Self.rank(way(to: component, members))
      signature.isFinishedTask = graph.taskStates[members.node(0, of: component)] == .finished
      let size = members.count(of: component)
      let node = members.node(0, of: component)
      let order = graph.birthOrder(of: node)
      if let known = numbers[signature] {
        // The smallest component shows the cause best. Break ties by allocation order, which is stable across runs.
        if (size, order) < (found[Int(known)].size, found[Int(known)].order) {
          (found[Int(known)].component, found[Int(known)].size, found[Int(known)].order) = (component, size, order)
        }
        return known
      }
      let number = Int32(truncatingIfNeeded: found.count)
      numbers[signature] = number
      found.append(Candidate(component: component, size: size, order: order))
      return number
    }
    let shares = CauseShares(components, members, sources: sources, group: groupOfSource)
    causes = LeakCauses(components, members, sources: sources, groups: groupOfSource)
    let shown = found.map { shares.causes[Int($0.component)] }
    var instances = sources.map { LeakGroup.Member(node: members.node(0, of: $0), bytes: 0, blocks: 0) }
    unreachable.forEach { node in
      let component = Int(components.componentOfNode[node])
      let group = Int(shares.groups[component])
      guard found.indices.contains(group) else { return }
      let size = graph.heap[BlockID(node)].size
      found[group].all.add(size)
      let cause = shares.causes[component]
      let type = graph.nodeTypes[Int(node)]
      if instances.indices.contains(Int(cause)) {
        instances[Int(cause)].blocks += 1
        instances[Int(cause)].bytes &+= size
        // A sum is independent of the order of the types.
        instances[Int(cause)].types &+= Self.mix(UInt64(type), size)
      }
      if cause == shown[group] {
        found[group].held[type, default: .init()].add(size)
      } else if cause == CauseShares.several {
        found[group].heldTogether[type, default: .init()].add(size)
      }
    }
    for (index, group) in groupOfSource.enumerated() where found.indices.contains(Int(group)) {
      found[Int(group)].members.append(instances[index])
    }
    // Searching takes memory for each node, so search only if there is a cycle.
    let hasCycle = found.contains { components.nontrivial.contains($0.component) }
    let cycles = hasCycle ? CycleChoice(graph, components, members, within: unreachable) : nil
    for (number, candidate) in found.enumerated() {
      var group = group(candidate, members, components, cycles)
      group.shown = members.node(0, of: candidate.component)
      group.cause = Int32(truncatingIfNeeded: number)
      groups.append(group)
    }
  }

  private struct Candidate {
    /// The component of the shown instance, and its number of objects.
    var component: ComponentID
    var size: Int
    var order: BirthOrder
    var members: [LeakGroup.Member] = []
    /// All blocks that would be freed with the group.
    var all = BlockSum()
    var held: [UInt32: BlockSum] = [:]
    var heldTogether: [UInt32: BlockSum] = [:]
  }

  /// Costs of edges by strength. Exact references make better evidence than scanned words. The counts of a surplus
  /// word's target show that other references keep it. So a path leads over such a word only if no other path does.
  static var costs: EdgeCosts {
    var costs = EdgeCosts(default: 200)
    costs[EdgeStrength.strong.rawValue] = 2
    costs[EdgeStrength.conservative.rawValue] = 9
    costs[EdgeStrength.taskLink.rawValue] = 9
    costs[EdgeStrength.surplus.rawValue] = 150
    costs[EdgeStrength.unmanaged.rawValue] = 12
    return costs
  }

  /// The features that instances of a shape share, even if they differ in their number of objects. These are the types,
  /// the sites, and the fields of references with the types at both ends.
  private struct Signature: Hashable {
    var first: UInt64
    var second: UInt64
    var isCycle: Bool
    /// 0 if no other way leads to the instance, 1 for numbers, 2 for weak and unowned references.
    var way = 0
    var isFinishedTask = false
  }

  /// Returns the way to any object of a component. Numbers come before other ways.
  private func way(to component: ComponentID, _ members: ComponentMembers) -> PossibleWay? {
    var found: PossibleWay?
    for index in 0..<members.count(of: component) {
      switch reach.way(to: members.node(index, of: component)) {
      case .number(let holder)?: return .number(holder: holder)
      case let way?: found = found ?? way
      case nil: break
      }
    }
    return found
  }

  private static func rank(_ way: PossibleWay?) -> Int {
    switch way {
    case nil: 0
    case .number?: 1
    case .unkept?: 2
    }
  }

  /// Returns a class for a size. Each small size is a separate class. Larger sizes are grouped by their four highest
  /// bits, so there are at most a few hundred classes.
  private static func sizeClass(_ size: UInt64) -> UInt64 {
    let spareBits = UInt64.bitWidth - size.leadingZeroBitCount - 4
    return size < 1024 ? size : (size >> spareBits) << spareBits
  }

  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    var x = (a ^ b &* 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
    x ^= x >> 31
    return x &* 0x94D0_49BB_1331_11EB
  }

  private func signature(
    of component: ComponentID, _ members: ComponentMembers, _ components: StronglyConnectedComponents
  ) -> Signature {
    let isCycle = components.nontrivial.contains(component)
    if !isCycle {
      let node = members.node(0, of: component)
      let block = graph.heap[BlockID(node)]
      let type = UInt64(graph.nodeTypes[Int(node)])
      // Without a type and a stack, only the size distinguishes one use of memory from another.
      let isUntold = graph.type(of: node).kind == .malloc && isListed(block)
      return Signature(
        first: type,
        second: isUntold
          ? Self.mix(UInt64(block.site.rawValue) + (1 << 42), Self.sizeClass(block.size)) : UInt64(block.site.rawValue),
        isCycle: false)
    }
    var parts: Set<UInt64> = []
    members.forEach(of: component) { node in
      let type = UInt64(graph.nodeTypes[Int(node)])
      parts.insert(Self.mix(type, UInt64(graph.heap[BlockID(node)].site.rawValue) + (1 << 40)))
      for edge in graph.graph.edges(from: node) {
        let target = graph.graph.target(of: edge)
        guard ObjectGraph.keeping.contains(EdgeKinds(kind: graph.graph.kind(of: edge))),
          components.componentOfNode[target] == component
        else { continue }
        // In scanned memory, the offsets of references differ between otherwise equal objects.
        let label = graph.graph.label(of: edge)
        parts.insert(
          Self.mix(
            Self.mix(type, UInt64(label < 1 << 31 ? label : 1 << 31)), UInt64(graph.nodeTypes[Int(target)]) + (1 << 41))
        )
      }
    }
    var sum: UInt64 = 0
    var product: UInt64 = 1
    for part in parts {
      sum &+= part
      product &*= part | 1
    }
    return Signature(first: sum, second: product, isCycle: true)
  }

  private func group(
    _ candidate: Candidate, _ members: ComponentMembers, _ components: StronglyConnectedComponents,
    _ cycles: CycleChoice?
  ) -> LeakGroup {
    let component = candidate.component
    let first = members.node(0, of: component)
    func make(_ verdict: Verdict, _ steps: [LeakGroup.Step], isCycle: Bool) -> LeakGroup {
      LeakGroup(
        verdict: verdict, steps: steps, isCycle: isCycle, instances: candidate.members.count,
        retainedBytes: candidate.all.bytes,
        retainedBlocks: candidate.all.blocks, held: candidate.held, heldTogether: candidate.heldTogether,
        members: candidate.members, way: way(to: component, members))
    }
    guard components.nontrivial.contains(component) else {
      let isWaiting = graph.type(of: first).kind == .task && graph.taskStates[first] != .finished
      return make(isWaiting ? .suspended : .lost, [.init(node: first, edge: nil)], isCycle: false)
    }
    let cycle = cycles?.cycle(of: component)
    // Blocks of C code have no reference counts. If they point to one another, the cycle is not the cause: nothing
    // would have freed them without the cycle either.
    let isCounted = (0..<members.count(of: component)).contains {
      graph.type(of: members.node($0, of: component)).kind.isCounted
    }
    if !isCounted { return make(.lost, [.init(node: cycle?.steps.first?.node ?? first, edge: nil)], isCycle: false) }
    // If the program has a weak or unowned reference to one of the objects, it may cancel the task through that
    // reference. That ends the cycle.
    var isEndable = false
    if case .unkept? = way(to: component, members) { isEndable = true }
    return make(
      cycle?.hasTask == true && !isEndable ? .suspended : .retainCycle,
      cycle?.steps ?? [.init(node: first, edge: nil)], isCycle: true)
  }

  // MARK: Deinitialised

  /// Finds objects whose `deinit` has run, although unowned references lead to them. Words that look like pointers
  /// prove nothing here. An object that is just ending does not count. Such an object is on its thread's stack, or in
  /// memory that the thread has just released.
  private mutating func findDeinitialised() {
    guard !graph.deinitialised.isEmpty else { return }
    let heap = graph.graph
    var holders: [NodeID: (node: NodeID, edge: EdgeIndex)] = [:]
    var unownedCounts: [NodeID: UInt32] = [:]
    var onStacks: Set<NodeID> = []
    for node in 0..<NodeID(heap.nodeCount) {
      let isStack = graph.isRoot(node) && graph.root(node).isOfRunningThread(in: graph.snapshot)
      for edge in heap.edges(from: node) where graph.deinitialised.contains(heap.target(of: edge)) {
        let target = heap.target(of: edge)
        if isStack { onStacks.insert(target) }
        guard heap.kind(of: edge) == EdgeStrength.unowned.rawValue else { continue }
        unownedCounts[target, default: 0] += 1
        // A leaked holder is a separate finding, together with everything that it holds.
        guard !unreachable.contains(node) else { continue }
        if holders[target].map({ isPreferred(node, edge, to: $0) }) ?? true { holders[target] = (node, edge) }
      }
    }
    var numbers: [[UInt64]: Int] = [:]
    for target in graph.deinitialised.members where wanted?(BlockID(target)) ?? true {
      guard let holder = holders[target] else { continue }
      // Until `deinit` returns, the object's unowned count is one higher than the number of references that lead to the
      // object.
      let isEnding = (graph.referenceCount(of: target)?.unowned ?? 0) > unownedCounts[target] ?? 0
      if isEnding, onStacks.contains(target) { continue }
      let block = graph.heap[BlockID(target)]
      let key = [
        UInt64(graph.nodeTypes[Int(target)]), UInt64(block.site.rawValue), UInt64(graph.nodeTypes[Int(holder.node)]),
        UInt64(heap.label(of: holder.edge)),
      ]
      if let known = numbers[key] {
        groups[known].instances += 1
        groups[known].retainedBytes &+= block.size
        groups[known].retainedBlocks += 1
        groups[known].members.append(.init(node: target, bytes: block.size, blocks: 1))
      } else {
        numbers[key] = groups.count
        groups.append(
          LeakGroup(
            verdict: .deinitialised,
            steps: [.init(node: holder.node, edge: holder.edge), .init(node: target, edge: nil)], isCycle: false,
            instances: 1,
            retainedBytes: block.size, retainedBlocks: 1, members: [.init(node: target, bytes: block.size, blocks: 1)]))
      }
    }
  }

  /// Returns whether a holder is reported in preference to another one. The names of types and references decide, since
  /// addresses differ between runs.
  private func isPreferred(_ node: NodeID, _ edge: EdgeIndex, to other: (node: NodeID, edge: EdgeIndex)) -> Bool {
    func key(_ node: NodeID, _ edge: EdgeIndex) -> (Int, String, String) {
      (
        graph.isRoot(node) ? 4 : graph.classOrigin(of: node),
        graph.isRoot(node) ? "" : graph.type(of: node).qualifiedName,
        graph.label(graph.graph.label(of: edge))?.name ?? ""
      )
    }
    return key(node, edge) < key(other.node, other.edge)
  }

  // MARK: Dangling

  /// Returns the groups of the references that certainly dangle.
  func danglingGroups(_ isCertain: (ObjectGraph.DanglingReference) -> Bool) -> [LeakGroup] {
    var groups: [LeakGroup] = []
    var numbers: [[UInt64]: Int] = [:]
    let settled = isImageAlone && graph.dangling.contains(where: \.isTargetOfOtherClass) ? self.settled : nil
    for reference in graph.dangling
    where isCertain(reference) && !unreachable.contains(reference.from.rawValue) && wanted?(reference.from) ?? true {
      // If the target's memory was reused, the events show whether the reference dangles. Without events, the class of
      // the new object shows it. The exception is a holder under construction, which contains old words.
      if reference.isTargetReused {
        guard let settled, reference.isTargetOfOtherClass, settled.contains(reference.from.rawValue),
          let declared = graph.label(reference.label.rawValue)?.typeName,
          let module = declared.split(separator: ".").first, !SystemCode.isSystemModule(String(module))
        else { continue }
      }
      let key = key(of: reference)
      if let known = numbers[key] {
        groups[known].instances += 1
      } else {
        numbers[key] = groups.count
        groups.append(
          LeakGroup(
            verdict: .dangling, steps: [.init(node: reference.from.rawValue, edge: nil)], isCycle: false, instances: 1,
            retainedBytes: 0, retainedBlocks: 0, dangling: reference))
      }
    }
    return groups
  }

  /// The nodes that can be reached without the stacks of running threads. O(graph).
  private var settled: NodeSet {
    graph.graph.reachable(
      from: graph.rootNodes.filter { !graph.root($0).isOfRunningThread(in: graph.snapshot) }, kinds: ObjectGraph.owning)
  }

  /// Returns a key that is equal for the references of one group.
  func key(of reference: ObjectGraph.DanglingReference) -> [UInt64] {
    let block = graph.heap[reference.from]
    return [
      UInt64(graph.nodeTypes[Int(reference.from.rawValue)]), UInt64(block.site.rawValue),
      UInt64(reference.label.rawValue),
    ]
  }
}
