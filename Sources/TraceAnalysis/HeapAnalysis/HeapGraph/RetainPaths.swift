// Retain paths: the cheapest paths from the roots to a node, which show why it is alive.

/// A path of lowest cost from the roots to each node that they reach. The same input gives the same paths: among paths
/// of equal cost, the path with the earlier root or edge wins.
///
/// Memory: 12 bytes a node. Safe for concurrent use.
package final class RetainPaths: @unchecked Sendable {
  /// The cost of the path to each node; `unreached` if there is none.
  package let costs: NodeTable<UInt32>
  /// The node before each node on its path. `HeapGraph.noNode` for a root where a path begins, and for nodes that are
  /// not reached.
  package let parents: NodeTable<NodeID>
  /// The edge from each node's parent on its path; `HeapGraph.noEdge` for a node without a parent.
  package let parentEdges: NodeTable<EdgeIndex>

  package static let unreached = UInt32.max

  /// Finds paths over edges of some kinds through nodes of `subset`; nil means all nodes. Skips roots outside `subset`.
  /// Traps if a root is not a node of the graph.
  ///
  /// `rootCosts` has the initial cost of the paths from each root; nil means 0. Roots found by a conservative scan can
  /// get a higher cost, for example. Costs saturate at 32 bits, on paths of millions of edges. O(nodes + edges + cost
  /// of the costliest path).
  package init(
    _ graph: HeapGraph, roots: [NodeID], rootCosts: [UInt8]? = nil, kinds: EdgeKinds = .all,
    costs edgeCosts: EdgeCosts = .uniform,
    within subset: NodeSet? = nil
  ) {
    precondition(rootCosts == nil || rootCosts!.count == roots.count, "a cost for each root, or none")
    costs = NodeTable(repeating: Self.unreached, count: graph.nodeCount)
    parents = NodeTable(repeating: HeapGraph.noNode, count: graph.nodeCount)
    parentEdges = NodeTable(repeating: HeapGraph.noEdge, count: graph.nodeCount)
    let scope = GraphScope(graph, kinds: kinds, within: subset)
    let (costs, parents, parentEdges) = (costs.start, parents.start, parentEdges.start)
    let highestCost = max(edgeCosts.highest(of: kinds), rootCosts?.max() ?? 0)
    var queue = CostQueue(highestCost: highestCost)
    for (index, root) in roots.enumerated() where scope.admits(root) {
      let cost = UInt32(rootCosts?[index] ?? 0)
      if cost < costs[Int(root)] {
        costs[Int(root)] = cost
        queue.add(root, cost: cost)
      }
    }
    while let node = queue.next() {
      let cost = queue.cost
      // Otherwise the node was found at a lower cost, and its edges were followed then.
      if costs[Int(node)] != cost { continue }
      for edge in scope.edges(from: node) where scope.follows(edge) {
        let target = scope.targets[edge]
        if !scope.contains(target) { continue }
        let targetCost = Self.cost(cost, adding: edgeCosts[scope.kinds[edge]])
        if targetCost < costs[Int(target)] {
          costs[Int(target)] = targetCost
          parents[Int(target)] = node
          parentEdges[Int(target)] = EdgeIndex(truncatingIfNeeded: edge)
          queue.add(target, cost: targetCost)
        }
      }
    }
    withExtendedLifetime((graph, subset, self)) {}
  }

  @inline(__always)
  static func cost(_ cost: UInt32, adding step: UInt8) -> UInt32 {
    let (sum, overflow) = cost.addingReportingOverflow(UInt32(step))
    return overflow || sum == unreached ? unreached - 1 : sum
  }

  /// Returns whether a path leads to a node; traps if there is no such node. Constant time.
  package func reaches(_ node: NodeID) -> Bool { costs[node] != Self.unreached }

  /// Returns the path to a node; nil if there is none. Traps if there is no such node. O(length of the path).
  package func path(to node: NodeID) -> RetainPath? {
    guard reaches(node) else { return nil }
    var steps: [RetainPath.Step] = []
    var current = node
    while parents[current] != HeapGraph.noNode {
      steps.append(RetainPath.Step(edge: parentEdges[current], node: current))
      current = parents[current]
    }
    return RetainPath(root: current, steps: steps.reversed(), cost: costs[node])
  }
}

/// A path from a root to a node.
package struct RetainPath: Hashable, Sendable {
  /// An edge, and the node that it leads to.
  package struct Step: Hashable, Sendable {
    package var edge: EdgeIndex
    package var node: NodeID
    package init(edge: EdgeIndex, node: NodeID) { (self.edge, self.node) = (edge, node) }
  }

  package var root: NodeID
  /// The steps from the root on; empty for a path to the root itself.
  package var steps: [Step]
  /// The sum of the costs of the edges and the root.
  package var cost: UInt32
}
