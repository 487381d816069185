@testable import HeapAnalysis
import Testing

@Suite struct ExtremeGraphTests {
  /// The length of a chain, which is too long for recursive algorithms.
  private static let count = 1_000_000

  private static func chain(closed: Bool) -> HeapGraph {
    let builder = HeapGraphBuilder(nodeCount: count, expectedEdges: count)
    for node in 0..<NodeID(count - 1) { builder.addEdge(from: node, to: node + 1) }
    if closed { builder.addEdge(from: NodeID(count - 1), to: 0) }
    return builder.build()
  }

  @Test func graphWithoutNodesHasEmptyResults() {
    let graph = HeapGraphBuilder(nodeCount: 0).build()
    #expect(graph.allNodes.isEmpty && graph.reachable(from: []).isEmpty)
    let components = StronglyConnectedComponents(graph)
    #expect(components.count == 0 && components.sources().isEmpty && components.nontrivial.isEmpty)
    #expect(DominatorTree(graph, roots: []).retainedCounts().count == 0)
    #expect(RetainPaths(graph, roots: []).costs.count == 0)
  }

  @Test func chainIsWalkedWithoutRecursion() {
    let graph = Self.chain(closed: false)
    let last = NodeID(Self.count - 1)
    #expect(graph.reachable(from: [1]).count == Self.count - 1)

    let components = StronglyConnectedComponents(graph)
    #expect(components.count == Self.count && components.nontrivial.isEmpty)
    #expect(components.componentOfNode[last] == 0 && components.componentOfNode[0] == last)
    #expect(components.sources().members == [last])

    let tree = DominatorTree(graph, roots: [0])
    #expect(tree.immediateDominator[last] == last - 1)
    let counts = tree.retainedCounts()
    #expect(counts[0] == UInt64(Self.count) && counts[last] == 1)

    let path = RetainPaths(graph, roots: [0]).path(to: last)
    #expect(path?.steps.count == Self.count - 1 && path?.cost == last)
  }

  @Test func ringIsWalkedWithoutRecursion() {
    let graph = Self.chain(closed: true)
    #expect(graph.reachable(from: [5]).count == Self.count)

    let components = StronglyConnectedComponents(graph)
    #expect(components.count == 1 && components.sizes[0] == UInt32(Self.count))
    #expect(components.nontrivial.members == [0] && components.sources().members == [0])

    let tree = DominatorTree(graph, roots: [7])
    #expect(tree.immediateDominator[7] == DominatorTree.superRoot && tree.immediateDominator[6] == 5)
    #expect(tree.retainedCounts()[7] == UInt64(Self.count))

    #expect(RetainPaths(graph, roots: [7]).costs[6] == UInt32(Self.count - 1))
    let cycle = CycleSearch(components).shortestCycle(through: 3)
    #expect(cycle?.nodes.count == Self.count && cycle?.nodes.first == 3 && cycle?.nodes.last == 2)
  }

  /// Edges back to scattered earlier nodes make path compression work hard.
  @Test func chainWithEdgesBackAndAheadKeepsItsDominators() {
    let count = 200_000
    let builder = HeapGraphBuilder(nodeCount: count)
    for node in 0..<count {
      if node + 1 < count { builder.addEdge(from: NodeID(node), to: NodeID(node + 1)) }
      builder.addEdge(from: NodeID(node), to: NodeID(node * 7 % (node + 1)))
      // An edge from every third node skips the next node.
      if node % 3 == 0 && node + 2 < count { builder.addEdge(from: NodeID(node), to: NodeID(node + 2)) }
    }
    let tree = DominatorTree(builder.build(), roots: [0])
    for node in 1..<count {
      let expected = node % 3 == 2 ? node - 2 : node - 1
      if tree.immediateDominator[NodeID(node)] != NodeID(expected) {
        Issue.record("\(node) is dominated by \(tree.immediateDominator[NodeID(node)])")
        break
      }
    }
  }
}
