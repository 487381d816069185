// Searches for the shortest retain cycles.

/// A cycle in a graph that visits no node twice.
package struct NodeCycle: Hashable, Sendable {
  /// The nodes in order. The edge at an index leads from the node at that index to the next node, and the last edge
  /// leads back to the first node.
  package var nodes: [NodeID]
  package var edges: [EdgeIndex]
  /// The sum of the edges' costs.
  package var cost: UInt32
}

/// Finds cycles of lowest cost inside strongly connected components.
///
/// A search follows the edges and nodes that the components were made with. The same input gives the same cycles. The
/// working memory is kept between searches, so many small searches are cheap. Memory: 12 bytes for each node that a
/// search reached, rounded up to whole pages, and the memory of `ComponentMembers`. For one thread at a time.
package final class CycleSearch {
  private let components: StronglyConnectedComponents
  private let edgeCosts: EdgeCosts
  private let members: ComponentMembers
  /// The inverted bits of each node's cost, so that 0 means that the current search has not reached the node.
  private let costs: NodeTable<UInt32>
  private let parents: NodeTable<NodeID>
  private let parentEdges: NodeTable<EdgeIndex>
  private var queue: CostQueue
  /// Nodes whose cost has been set and must be cleared before the next search.
  private var touched = GrowingStack<NodeID>()

  /// Makes a search over the edges and nodes of `components`. O(nodes of the components).
  package init(_ components: StronglyConnectedComponents, costs edgeCosts: EdgeCosts = .uniform) {
    self.components = components
    self.edgeCosts = edgeCosts
    members = ComponentMembers(components)
    costs = NodeTable(zeroed: components.graph.nodeCount)
    parents = NodeTable(zeroed: components.graph.nodeCount)
    parentEdges = NodeTable(zeroed: components.graph.nodeCount)
    queue = CostQueue(highestCost: edgeCosts.highest(of: components.kinds))
  }

  /// Returns a cycle of lowest cost that begins with a node. Nil if no cycle passes through the node, or if the node is
  /// in no component. Traps if there is no such node. O(nodes + edges of the node's component + cost of the cycle).
  package func shortestCycle(through node: NodeID) -> NodeCycle? {
    let component = components.componentOfNode[node]
    guard component != StronglyConnectedComponents.noComponent, components.nontrivial.contains(component) else {
      return nil
    }
    return search(from: node, in: component, below: RetainPaths.unreached)
  }

  /// Searches for cycles through up to `startLimit` nodes of a component, and returns the cheapest cycle. The start
  /// nodes are evenly spread over the component. If every node is a start node, no cycle of the component is cheaper.
  /// Nil for a component without a cycle. Traps if there is no such component. Does at most `startLimit` times as much
  /// work as a search for one node.
  package func shortestCycle(in component: ComponentID, startLimit: Int = 16) -> NodeCycle? {
    precondition(Int(component) < components.count, "no such component")
    guard components.nontrivial.contains(component) else { return nil }
    let size = members.count(of: component)
    let starts = max(1, min(startLimit, size))
    var best: NodeCycle?
    for index in 0..<starts {
      let start = members.node(index * size / starts, of: component)
      if let cycle = search(from: start, in: component, below: best?.cost ?? RetainPaths.unreached) { best = cycle }
    }
    return best
  }

  /// Returns a cycle of lowest cost through a node if that cost is below `limit`; otherwise nil.
  private func search(from start: NodeID, in component: ComponentID, below limit: UInt32) -> NodeCycle? {
    defer { wipe() }
    let scope = GraphScope(components.graph, kinds: components.kinds, within: components.subset)
    let (costs, componentOfNode) = (costs.start, components.componentOfNode)
    var best = limit
    var lastNode = HeapGraph.noNode
    var lastEdge = HeapGraph.noEdge
    costs[Int(start)] = ~0
    touched.push(start)
    queue.add(start, cost: 0)
    // A path that costs as much as the best cycle cannot lead to a better cycle.
    while let node = queue.next(), queue.cost < best {
      let cost = queue.cost
      if ~costs[Int(node)] != cost { continue }
      for edge in scope.edges(from: node) where scope.follows(edge) {
        let target = scope.targets[edge]
        if componentOfNode.unchecked(target) != component { continue }
        let targetCost = RetainPaths.cost(cost, adding: edgeCosts[scope.kinds[edge]])
        if target == start {
          if targetCost < best { (best, lastNode, lastEdge) = (targetCost, node, EdgeIndex(truncatingIfNeeded: edge)) }
        } else if targetCost < ~costs[Int(target)] && targetCost < best {
          if costs[Int(target)] == 0 { touched.push(target) }
          costs[Int(target)] = ~targetCost
          parents.start[Int(target)] = node
          parentEdges.start[Int(target)] = EdgeIndex(truncatingIfNeeded: edge)
          queue.add(target, cost: targetCost)
        }
      }
    }
    return lastNode == HeapGraph.noNode ? nil : cycle(from: start, lastNode: lastNode, lastEdge: lastEdge, cost: best)
  }

  private func cycle(from start: NodeID, lastNode: NodeID, lastEdge: EdgeIndex, cost: UInt32) -> NodeCycle {
    var (nodes, edges) = ([lastNode], [lastEdge])
    while nodes[nodes.count - 1] != start {
      edges.append(parentEdges[nodes[nodes.count - 1]])
      nodes.append(parents[nodes[nodes.count - 1]])
    }
    return NodeCycle(nodes: nodes.reversed(), edges: edges.reversed(), cost: cost)
  }

  private func wipe() {
    for index in 0..<touched.count { costs.start[Int(touched.start[index])] = 0 }
    touched.truncate(to: 0)
    queue.clear()
  }
}
