// Dominators: the nodes that every path to a node passes through, and that keep the node alive.

/// The dominator tree of the nodes that some roots reach. A virtual super root precedes all roots. It is the only
/// dominator of a root, and of a node that several roots reach on separate paths.
///
/// Memory: 4 bytes for each node, and 4 more for each reached node. Safe for concurrent use.
package final class DominatorTree: @unchecked Sendable {
  /// By node: the closest other node that every path from the roots passes through. `superRoot` if there is none,
  /// `unreached` for nodes that the roots do not reach.
  package let immediateDominator: NodeTable<NodeID>
  /// The reached nodes, each after its dominators.
  package let order: NodeTable<NodeID>

  package static let superRoot = HeapGraph.noNode - 1
  package static let unreached = HeapGraph.noNode

  /// Makes the tree over edges of some kinds through nodes of `subset`; nil means all nodes. Skips roots outside
  /// `subset`. A root may occur twice. Traps if a root is not a node of the graph. O(edges · log nodes) in the worst
  /// case, linear in practice. Working memory: about 36 bytes for each reached node, 4 for each node, and 4 for each
  /// edge.
  package init(_ graph: HeapGraph, roots: some Sequence<NodeID>, kinds: EdgeKinds = .all, within subset: NodeSet? = nil)
  {
    let scope = GraphScope(graph, kinds: kinds, within: subset)
    (order, immediateDominator) = DominatorSearch.run(scope, roots: roots, nodeCount: graph.nodeCount)
    withExtendedLifetime((graph, subset)) {}
  }

  /// Returns the retained size of every node: its own size plus the sizes of all nodes that it dominates. These bytes
  /// would be freed with the node. 0 for nodes that are not reached. `sizes` has a size for every node. Sums saturate
  /// at 64 bits. O(nodes).
  package func retainedSizes(_ sizes: [UInt32]) -> NodeTable<UInt64> { sums { UInt64(sizes[$0]) } }

  /// Like the function above, for sizes of 64 bits.
  package func retainedSizes(_ sizes: [UInt64]) -> NodeTable<UInt64> { sums { sizes[$0] } }

  /// Returns for every node the number of nodes that it dominates, plus 1 for the node itself. 0 for nodes that are not
  /// reached. O(nodes).
  package func retainedCounts() -> NodeTable<UInt64> { sums { _ in 1 } }

  @inline(__always)
  private func sums(_ size: (Int) -> UInt64) -> NodeTable<UInt64> {
    let result = NodeTable<UInt64>(repeating: 0, count: immediateDominator.count)
    let (sums, dominators, order) = (result.start, immediateDominator.start, order.start)
    for index in stride(from: self.order.count - 1, through: 0, by: -1) {
      let node = Int(order[index])
      let sum = Self.saturatingSum(sums[node], size(node))
      sums[node] = sum
      let dominator = dominators[node]
      if dominator < Self.superRoot { sums[Int(dominator)] = Self.saturatingSum(sums[Int(dominator)], sum) }
    }
    withExtendedLifetime(self) {}
    return result
  }

  @inline(__always)
  private static func saturatingSum(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }
}
