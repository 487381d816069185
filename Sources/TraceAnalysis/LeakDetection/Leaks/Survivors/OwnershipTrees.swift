// The ownership relations of a graph.

import HeapAnalysis

extension ObjectGraph {
  /// Returns the nodes that a node keeps by a reference of its own, once for each reference. Linear in its edges.
  func owned(by node: NodeID) -> [NodeID] {
    graph.edges(from: node).filter { Self.owning.contains(EdgeKinds(kind: graph.kind(of: $0))) }
      .map(graph.target(of:)).filter { !isRoot($0) }
  }
}

/// Paths and dominators, computed on first use. For one thread at a time.
final class OwnershipTrees {
  private let graph: ObjectGraph
  init(_ graph: ObjectGraph) { self.graph = graph }

  /// The cheapest paths from the roots.
  private(set) lazy var paths = paths(within: nil)

  func paths(within subset: NodeSet?) -> RetainPaths {
    RetainPaths(
      graph.graph, roots: graph.rootNodes,
      rootCosts: graph.rootNodes.map { LeakAnalysis.rootCost(graph.root($0).kind) }, kinds: ObjectGraph.owning,
      costs: LeakFinder.costs, within: subset)
  }

  private(set) lazy var dominators = DominatorTree(graph.graph, roots: graph.rootNodes, kinds: ObjectGraph.owning)
  private(set) lazy var retainedSizes: NodeTable<UInt64> = {
    var sizes = [UInt64](repeating: 0, count: graph.graph.nodeCount)
    for (index, block) in graph.heap.blocks.enumerated() { sizes[index] = block.size }
    return dominators.retainedSizes(sizes)
  }()
  private(set) lazy var retainedCounts = dominators.retainedCounts()

  /// The blocks with unowned references to each node, once for each reference. Linear in the graph for the first access.
  private(set) lazy var unownedReferences: [NodeID: [NodeID]] = {
    var sources: [NodeID: [NodeID]] = [:]
    for node in 0..<NodeID(graph.blockCount) {
      for edge in graph.graph.edges(from: node) where graph.graph.kind(of: edge) == EdgeStrength.unowned.rawValue {
        sources[graph.graph.target(of: edge), default: []].append(node)
      }
    }
    return sources
  }()

  /// Maximum number of a node's dominators that are examined.
  private static let distanceLimit = 256

  /// Returns whether a node cannot be reached without one of the objects.
  func isDominated(_ node: NodeID, by objects: Set<NodeID>) -> Bool {
    dominator(of: node, where: objects.contains) != nil
  }

  /// Returns whether a node cannot be reached without a holder.
  func isOnlyHeld(_ node: NodeID, through holder: NodeID) -> Bool {
    dominator(of: node) { $0 == holder } != nil
  }

  /// Returns the nearest fitting object that a node cannot be reached without; nil if there is none.
  func dominator(of node: NodeID, where fits: (NodeID) -> Bool) -> NodeID? {
    var current = dominators.immediateDominator[node]
    for _ in 0..<Self.distanceLimit where current < DominatorTree.superRoot {
      if Int(current) < graph.blockCount, fits(current) { return current }
      current = dominators.immediateDominator[current]
    }
    return nil
  }
}
