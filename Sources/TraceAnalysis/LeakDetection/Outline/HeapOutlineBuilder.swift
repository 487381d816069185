// Makes the outline of a heap image.

import HeapAnalysis
import TraceReading

/// Visits the dominator tree once, and all references once. For one thread at a time.
struct HeapOutlineBuilder {
  private let graph: ObjectGraph
  private let tree: DominatorTree
  private let retained: NodeTable<UInt64>
  private var found = HeapOutline()
  private var kindNumbers: [HeapOutline.Kind: Int] = [:]
  /// The index in the outline's kinds, for each type of the graph.
  private var kindOfType: [Int] = []
  private var kindOfRoot: [NodeID: Int] = [:]
  private let isReachable: (NodeID) -> Bool

  /// Maximum depth of the tree. Deeper blocks count for their ancestor group at this depth. Otherwise, a list of two
  /// alternating types would make the tree as deep as the list is long.
  private static let depthLimit = 100
  /// Maximum number of groups of the tree; a picture cannot show more. Blocks of further groups count for the parent
  /// group.
  private static let groupLimit = 1 << 16

  /// `leakHeads`: leaked blocks that lead to all other leaked blocks.
  init(_ graph: ObjectGraph, leakHeads: [NodeID], isReachable: @escaping (NodeID) -> Bool) {
    self.graph = graph
    self.isReachable = isReachable
    tree = DominatorTree(graph.graph, roots: graph.rootNodes + leakHeads, kinds: ObjectGraph.owning)
    var sizes = [UInt64](repeating: 0, count: graph.graph.nodeCount)
    for (index, block) in graph.heap.blocks.enumerated() { sizes[index] = block.size }
    retained = tree.retainedSizes(sizes)
  }

  consuming func outline() -> HeapOutline {
    kindOfType = graph.types.map {
      number(of: HeapOutline.Kind(name: $0.name, qualifiedName: $0.qualifiedName, node: $0.kind))
    }
    for root in graph.rootNodes {
      kindOfRoot[root] = number(of: HeapOutline.Kind(name: graph.rootName(root), node: nil))
    }
    var totals = found.kinds.map { _ in HeapOutline.TypeTotal(kind: 0) }
    for index in totals.indices { totals[index].kind = index }
    walk(&totals)
    addHolders(&totals)
    distinguish()
    found.types = totals.filter { $0.blocks > 0 }.sorted {
      ($1.retainedBytes, $1.bytes, found.kinds[$0.kind].name) < ($0.retainedBytes, $0.bytes, found.kinds[$1.kind].name)
    }
    return found
  }

  private mutating func number(of kind: HeapOutline.Kind) -> Int {
    if let known = kindNumbers[kind] { return known }
    kindNumbers[kind] = found.kinds.count
    found.kinds.append(kind)
    return found.kinds.count - 1
  }

  /// Adds the module to the names of types that share a name.
  private mutating func distinguish() {
    var counts: [String: Int] = [:]
    for kind in found.kinds { counts[kind.name, default: 0] += 1 }
    for index in found.kinds.indices where counts[found.kinds[index].name, default: 0] > 1 {
      let qualified = found.kinds[index].qualifiedName
      if !qualified.isEmpty { found.kinds[index].name = qualified }
    }
  }

  private func kind(of node: NodeID) -> Int {
    graph.isRoot(node) ? kindOfRoot[node] ?? 0 : kindOfType[Int(graph.nodeTypes[Int(node)])]
  }

  // MARK: Who keeps what

  private struct Step {
    var node: NodeID
    var group: Int
    var depth: Int
    /// True if all blocks that the node dominates have been visited.
    var isDone = false
  }

  private struct GroupKey: Hashable {
    var parent: Int
    var kind: Int
  }

  /// Visits dominators before the nodes that they dominate. O(nodes).
  private mutating func walk(_ totals: inout [HeapOutline.TypeTotal]) {
    let (first, next) = children()
    // Parents for nodes without a dominator: blocks that several roots share, and unreachable blocks.
    let shared = number(of: HeapOutline.Kind(name: "held in several ways", node: nil))
    let leaked = number(of: HeapOutline.Kind(name: "held by nothing", node: nil))
    while totals.count < found.kinds.count { totals.append(HeapOutline.TypeTotal(kind: totals.count)) }
    var numbers: [GroupKey: Int] = [:]
    var open = [Int](repeating: 0, count: found.kinds.count)
    var steps: [Step] = []
    func group(_ kind: Int, in parent: Int, _ outline: inout HeapOutline) -> Int {
      if parent >= 0, outline.groups[parent].kind == kind { return parent }
      let key = GroupKey(parent: parent, kind: kind)
      if let known = numbers[key] { return known }
      if parent >= 0, outline.groups.count >= Self.groupLimit { return parent }
      numbers[key] = outline.groups.count
      outline.groups.append(HeapOutline.Group(parent: parent, kind: kind))
      return outline.groups.count - 1
    }
    var top = first[graph.graph.nodeCount]
    while top != HeapGraph.noNode {
      let parent = graph.isRoot(top) ? -1 : group(isReachable(top) ? shared : leaked, in: -1, &found)
      steps.append(Step(node: top, group: group(kind(of: top), in: parent, &found), depth: 0))
      while let step = steps.popLast() {
        let kind = kind(of: step.node)
        if step.isDone {
          open[kind] -= 1
          continue
        }
        if !graph.isRoot(step.node) {
          let size = graph.heap[BlockID(step.node)].size
          found.groups[step.group].blocks += 1
          found.groups[step.group].bytes &+= size
          totals[kind].blocks += 1
          totals[kind].bytes &+= size
          if open[kind] == 0 { totals[kind].retainedBytes &+= retained[step.node] }
          open[kind] += 1
          steps.append(Step(node: step.node, group: step.group, depth: step.depth, isDone: true))
        }
        var child = first[Int(step.node)]
        while child != HeapGraph.noNode {
          let place =
            step.depth < Self.depthLimit ? group(self.kind(of: child), in: step.group, &found) : step.group
          steps.append(Step(node: child, group: place, depth: step.depth + (place == step.group ? 0 : 1)))
          child = next[Int(child)]
        }
      }
      top = next[Int(top)]
    }
  }

  /// Returns the dominator tree as links from parents to children. `first`: the first child of each node. An additional
  /// last element has the first node without a dominator. `next`: the next sibling of each node.
  private func children() -> (first: [NodeID], next: [NodeID]) {
    let count = graph.graph.nodeCount
    var first = [NodeID](repeating: HeapGraph.noNode, count: count + 1)
    var next = [NodeID](repeating: HeapGraph.noNode, count: count)
    for index in stride(from: tree.order.count - 1, through: 0, by: -1) {
      let node = tree.order[UInt32(index)]
      let dominator = tree.immediateDominator[node]
      let parent = dominator == DominatorTree.superRoot ? count : Int(dominator)
      next[Int(node)] = first[parent]
      first[parent] = node
    }
    return (first, next)
  }

  // MARK: Who refers to what

  private struct Reference: Hashable {
    var holder: Int
    var label: UInt32
    var target: Int
  }

  /// Counts the references by holder, field and target type. O(references).
  private func addHolders(_ totals: inout [HeapOutline.TypeTotal]) {
    var counts: [Reference: UInt64] = [:]
    let heap = graph.graph
    for node in 0..<NodeID(heap.nodeCount) {
      let (holder, isRoot) = (kind(of: node), graph.isRoot(node))
      for edge in heap.edges(from: node) where ObjectGraph.owning.contains(EdgeKinds(kind: heap.kind(of: edge))) {
        let target = heap.target(of: edge)
        guard !graph.isRoot(target) else { continue }
        let label = isRoot ? UInt32.max : heap.label(of: edge)
        counts[
          Reference(
            holder: holder, label: graph.label(label) == nil ? .max : label, target: kind(of: target)), default: 0] += 1
      }
    }
    var sums: [Int: [HeapOutline.Holder: UInt64]] = [:]
    for (reference, count) in counts {
      let field = graph.label(reference.label)?.name ?? ""
      sums[reference.target, default: [:]][
        HeapOutline.Holder(kind: reference.holder, field: field, references: 0), default: 0] += count
    }
    for (target, holders) in sums {
      totals[target].holders = holders.map { holder, count in
        HeapOutline.Holder(kind: holder.kind, field: holder.field, references: count)
      }.sorted {
        ($1.references, found.kinds[$0.kind].name, $0.field) < ($0.references, found.kinds[$1.kind].name, $1.field)
      }
    }
  }
}
