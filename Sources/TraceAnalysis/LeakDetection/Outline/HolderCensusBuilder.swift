// Counts the blocks of a heap image by type and holder.

import HeapAnalysis
import PlatformRules
import TextWriting
import TraceReading
import TraceSymbolication

/// Finds each block's holder on its cheapest path from the roots, preferably from named variables. Collections,
/// closures and untyped blocks do not count as holders: the holder of such a block counts instead. Objects of the
/// block's own type do not count either, so all nodes of a list have the list's holder. For one thread at a time.
struct HolderCensusBuilder {
  private typealias Key = HolderCensus.Key
  private typealias Name = HolderCensus.HolderName

  private struct Holder {
    var name: String
    var kind: HolderCensus.HolderKind
    var owner: String?
  }

  private struct FieldKey: Hashable {
    var type: UInt32
    var label: UInt32
  }

  private let graph: ObjectGraph
  private let names: FindingNaming
  private let isLeaked: (NodeID) -> Bool
  private let ownership: OwnershipTrees
  private let named: RetainPaths
  /// For each node: the reference that holds it.
  private let entries: NodeTable<EdgeIndex>
  private let known: NodeSet
  private var holders: [Holder] = []
  private var holderOfField: [FieldKey: Int] = [:]
  private var holderOfVariable: [UInt64: Int] = [:]
  private var holderNumbers: [String: Int] = [:]
  private var stableTypes: [UInt32: String] = [:]

  init(_ graph: ObjectGraph, _ names: FindingNaming, isLeaked: @escaping (NodeID) -> Bool) {
    (self.graph, self.names, self.isLeaked) = (graph, names, isLeaked)
    ownership = OwnershipTrees(graph)
    let variables = graph.rootNodes.filter { if case .global = graph.root($0).kind { true } else { false } }
    named = RetainPaths(graph.graph, roots: variables, kinds: ObjectGraph.owning, costs: LeakFinder.costs)
    entries = NodeTable(repeating: HeapGraph.noEdge, count: graph.graph.nodeCount)
    known = NodeSet(bound: graph.graph.nodeCount)
  }

  private struct RowKey: Hashable {
    var type: UInt32
    var holder: Int
  }

  consuming func census() -> ImageCensus {
    var rows: [HolderCensus.Row] = []
    var samples: [ObjectSample] = []
    var examples: [(node: NodeID, cost: UInt32)] = []
    var numbers: [RowKey: Int] = [:]
    var byName: [Key: Int] = [:]
    let rowOfNode = NodeTable<UInt32>(repeating: .max, count: graph.graph.nodeCount)
    var bytes: UInt64 = 0
    for (index, block) in graph.heap.blocks.enumerated() {
      let node = NodeID(index)
      bytes &+= block.size
      let type = graph.nodeTypes[index]
      let kind = graph.types[Int(type)].kind
      if kind == .sideTable || graph.taskOfSlab[node] != nil { continue }
      let key = RowKey(type: type, holder: holder(of: node))
      let row: Int
      if let number = numbers[key] {
        row = number
      } else {
        // Several types may have the same name.
        let made = self.row(key)
        row = byName[made.key] ?? rows.count
        if row == rows.count {
          byName[made.key] = row
          rows.append(made)
          samples.append(ObjectSample())
          examples.append((node, .max))
        }
        numbers[key] = row
      }
      rowOfNode.start[index] = UInt32(row)
      rows[row].objects += 1
      rows[row].bytes &+= block.size
      if kind.isCollection { rows[row].elements &+= elementCount(of: block) }
      samples[row].add(address: block.address)
      let paths = paths(to: node)
      let cost = paths.reaches(node) ? paths.costs[node] : .max - 1
      if cost < examples[row].cost { examples[row] = (node, cost) }
    }
    addRetained(&rows, rowOfNode)
    let order = rows.indices.sorted {
      (rows[$1].retainedBytes, rows[$1].bytes, rows[$0].key) < (rows[$0].retainedBytes, rows[$0].bytes, rows[$1].key)
    }
    let kept = order.prefix(HolderCensus.rowLimit)
    var result = ImageCensus(
      census: HolderCensus(
        rows: kept.map { rows[$0] }, objects: UInt64(graph.blockCount), bytes: bytes,
        omittedRows: order.count - kept.count))
    for row in kept {
      result.samples[rows[row].key] = samples[row]
      result.examples[rows[row].key] = .init(node: examples[row].node, entry: entry(of: examples[row].node))
    }
    return result
  }

  private mutating func row(_ key: RowKey) -> HolderCensus.Row {
    let type = graph.types[Int(key.type)]
    let holder = holders[key.holder]
    return HolderCensus.Row(
      key: Key(type: stableType(key.type), holder: StableName.of(holder.name)), name: type.name, kind: type.kind,
      holderKind: holder.kind, owner: holder.owner,
      isPlatform: type.kind == .object && !type.module.isEmpty && SystemCode.isSystemModule(type.module))
  }

  private mutating func stableType(_ type: UInt32) -> String {
    if let known = stableTypes[type] { return known }
    let name = StableName.of(graph.types[Int(type)].qualifiedName)
    stableTypes[type] = name.isEmpty ? graph.types[Int(type)].name : name
    return stableTypes[type]!
  }

  /// Returns the number of elements that a collection of the standard library stores, limited to the number that fits
  /// its size.
  private func elementCount(of block: LiveBlock) -> UInt64 {
    min(graph.image.word(at: block.address &+ 16) ?? 0, block.size &* 8)
  }

  /// Adds to each row the bytes that its objects retain. Does not count an object again if another object of the row
  /// retains it. In very long chains, the inner parts may count more than once.
  private func addRetained(_ rows: inout [HolderCensus.Row], _ rowOfNode: NodeTable<UInt32>) {
    let dominators = ownership.dominators.immediateDominator
    let sizes = ownership.retainedSizes
    for node in 0..<NodeID(graph.blockCount) where rowOfNode[node] != .max {
      let row = rowOfNode[node]
      var above = dominators[node]
      var steps = 0
      while above < DominatorTree.superRoot, rowOfNode[above] != row, steps < Self.dominatorSteps {
        above = dominators[above]
        steps += 1
      }
      if above < DominatorTree.superRoot, rowOfNode[above] == row { continue }
      let (sum, overflow) = rows[Int(row)].retainedBytes.addingReportingOverflow(sizes[node])
      rows[Int(row)].retainedBytes = overflow ? .max : sum
    }
  }

  /// Maximum number of dominators to search. Between two objects of one type and holder, there are only a few
  /// dominators, such as collections.
  private static let dominatorSteps = 64

  // MARK: Holders

  private func paths(to node: NodeID) -> RetainPaths { named.reaches(node) ? named : ownership.paths }

  private mutating func holder(of node: NodeID) -> Int {
    guard !isLeaked(node), let edge = entry(of: node) else { return number(.init(name: Name.nothing, kind: .nothing)) }
    let owner = graph.graph.source(of: edge)
    let label = graph.graph.label(of: edge)
    if graph.isRoot(owner) { return variable(owner, label, target: graph.graph.target(of: edge)) }
    let type = graph.nodeTypes[Int(owner)]
    if graph.taskOfSlab[owner] != nil || graph.types[Int(type)].kind == .task {
      let task = graph.taskOfSlab[owner] ?? owner
      let function = names.suspension(of: task).map { " in \(StableName.of($0))" } ?? ""
      return number(.init(name: "a task\(function)", kind: .task))
    }
    let key = FieldKey(type: type, label: graph.label(label) == nil ? .max : label)
    if let known = holderOfField[key] { return known }
    let field = graph.label(label)?.name ?? ""
    let name = graph.types[Int(type)].name
    let found = number(
      .init(name: field.isEmpty ? name : "\(name).\(field)", kind: .field, owner: stableType(type)))
    holderOfField[key] = found
    return found
  }

  /// Returns the number of a holder that is a root.
  private mutating func variable(_ root: NodeID, _ label: UInt32, target: NodeID) -> Int {
    switch graph.root(root).kind {
    case .global(let index):
      let image = graph.roots.images[index]
      if SystemCode.isSystemImage(image.path) {
        return number(.init(name: "variables of \(fileName(ofPath: image.path))", kind: .library))
      }
      guard let place = place(in: graph.root(root), label, target) else {
        return number(.init(name: "variables of \(fileName(ofPath: image.path))", kind: .variable))
      }
      if let known = holderOfVariable[place] { return known }
      let variable = names.variable(at: place, in: image)
      let found = number(
        .init(name: variable ?? "variables of \(fileName(ofPath: image.path))", kind: .variable))
      holderOfVariable[place] = found
      return found
    case .stack, .registers: return number(.init(name: Name.stacks, kind: .thread))
    case .threadLocal: return number(.init(name: Name.threadLocal, kind: .library))
    case .mapping: return number(.init(name: Name.mapping, kind: .mapping))
    case .unseen: return number(.init(name: Name.unseen, kind: .mapping))
    }
  }

  /// Returns the address of the word in a root that refers to `target`. The label has the word's distance from the
  /// beginning of one of the root's ranges. The word's value shows which range it is.
  private func place(in root: HeapRoot, _ label: UInt32, _ target: NodeID) -> UInt64? {
    guard let offset = EdgeLabelID(label).scannedOffset else { return nil }
    let block = graph.heap[BlockID(target)]
    return root.ranges.lazy.map { $0.lowerBound &+ offset }.first { [graph] place in
      guard let word = graph.image.word(at: place) else { return false }
      let pointer = word & HeapImage.addressBits
      return pointer >= block.address && pointer - block.address < max(block.size, 1)
    }
  }

  private mutating func number(_ holder: Holder) -> Int {
    if let known = holderNumbers[holder.name] { return known }
    holders.append(holder)
    holderNumbers[holder.name] = holders.count - 1
    return holders.count - 1
  }

  /// Returns the reference that holds a node; nil for unreachable nodes. Constant time, except for the first node of a
  /// path.
  private func entry(of node: NodeID) -> EdgeIndex? {
    let paths = paths(to: node)
    guard paths.reaches(node) else { return nil }
    var pending: [NodeID] = []
    var current = node
    while !graph.isRoot(current), !known.contains(current), paths.parents[current] != HeapGraph.noNode {
      pending.append(current)
      current = paths.parents[current]
    }
    for next in pending.reversed() {
      let parent = paths.parents[next]
      entries.start[Int(next)] = passesOn(parent, to: next) ? entries[parent] : paths.parentEdges[next]
      known.insert(next)
    }
    let edge = entries[node]
    return edge == HeapGraph.noEdge ? nil : edge
  }

  private func passesOn(_ parent: NodeID, to node: NodeID) -> Bool {
    if graph.isRoot(parent) { return false }
    let type = graph.type(of: parent)
    switch type.kind {
    case .array, .dictionary, .set, .closure, .box, .error, .sideTable: return true
    case .malloc: return graph.taskOfSlab[parent] == nil
    case .task: return false
    case .object:
      if graph.nodeTypes[Int(parent)] == graph.nodeTypes[Int(node)] { return true }
      // An object of a platform library belongs to the program's object or variable that holds it.
      guard type.module.isEmpty || SystemCode.isSystemModule(type.module) else { return false }
      let above = entries[parent]
      guard above != HeapGraph.noEdge else { return false }
      let holder = graph.graph.source(of: above)
      if graph.isRoot(holder) {
        guard case .global(let image) = graph.root(holder).kind else { return false }
        return !SystemCode.isSystemImage(graph.roots.images[image].path)
      }
      let module = graph.type(of: holder).module
      return !module.isEmpty && !SystemCode.isSystemModule(module)
    }
  }
}
