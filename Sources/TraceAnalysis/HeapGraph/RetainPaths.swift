// Why a node is alive: the cheapest paths from the roots.

/// One path of lowest cost from the roots to each node that they reach. Same input, same paths: among equals, earlier roots and edges win.
///
/// Memory: 12 bytes a node. Any number of threads may use it at once.
public final class RetainPaths: @unchecked Sendable {
  /// The cost of the path to each node; `unreached` if there is none.
  public let costs: NodeTable<UInt32>
  /// The node before each node on its path; `HeapGraph.noNode` for a root that is its own path, and for nodes not reached.
  public let parents: NodeTable<NodeID>
  /// The edge by which the path comes from the parent; `HeapGraph.noEdge` where there is no parent.
  public let parentEdges: NodeTable<EdgeIndex>

  public static let unreached = UInt32.max

  /// Paths over edges of some kinds through nodes of `subset`; nil means all nodes. Roots outside `subset` are passed over; a root that is
  /// no node traps. `rootCosts` has for each root what a path that begins there costs to begin with, for example for roots found by a
  /// conservative scan; nil means 0. Costs above 32 bits, on paths of millions of edges, count as equal.
  /// O(nodes + edges + cost of the costliest path).
  public init(
    _ graph: HeapGraph, roots: [NodeID], rootCosts: [UInt8]? = nil, kinds: EdgeKinds = .all, costs edgeCosts: EdgeCosts = .uniform,
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
      // Else it has been found at a lower cost, and dealt with.
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

  /// Whether a path leads to a node; traps if there is no such node. Constant time.
  public func reaches(_ node: NodeID) -> Bool { costs[node] != Self.unreached }

  /// The path to a node; nil if there is none; traps if there is no such node. O(length of the path).
  public func path(to node: NodeID) -> RetainPath? {
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
public struct RetainPath: Hashable, Sendable {
  /// An edge, and the node it leads to.
  public struct Step: Hashable, Sendable {
    public var edge: EdgeIndex
    public var node: NodeID
    public init(edge: EdgeIndex, node: NodeID) { (self.edge, self.node) = (edge, node) }
  }

  public var root: NodeID
  /// From the root onwards; none if the root itself was asked for.
  public var steps: [Step]
  /// The sum of its edges' costs and its root's.
  public var cost: UInt32
}
