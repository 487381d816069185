@testable import HeapAnalysis
import TestRequirements
import Testing
import TraceTestSupport

@Suite struct DominatorTests {
  @Test(arguments: TestTier.seeds(0..<600))
  func dominatorIsOnEveryPathToItsNode(seed: UInt64) {
    let random = RandomGraph(seed: seed, maximumNodes: seed % 10 == 0 ? 60 : 24)
    let roots = random.roots.map(Int.init)
    let tree = DominatorTree(random.graph, roots: random.roots, kinds: random.kinds, within: random.subset)
    let reached = random.reached(from: roots)
    // For each node: the other nodes that cannot be reached without it.
    let lost = (0..<random.nodeCount).map { node in
      reached.contains(node) ? reached.subtracting(random.reached(from: roots, without: node)) : []
    }

    var draws = SeededRandom(seed: seed)
    let sizes = (0..<random.nodeCount).map { _ in UInt32(truncatingIfNeeded: draws.next()) }
    let retained = tree.retainedSizes(sizes)
    let wide = tree.retainedSizes(sizes.map(UInt64.init))
    let counts = tree.retainedCounts()
    for node in 0..<random.nodeCount {
      let found = tree.immediateDominator[NodeID(node)]
      if reached.contains(node) {
        // The immediate dominator is the strict dominator that all other strict dominators dominate.
        let dominators = (0..<random.nodeCount).filter { $0 != node && lost[$0].contains(node) }
        let immediate = dominators.first { candidate in dominators.allSatisfy { lost[$0].contains(candidate) } }
        #expect(found == immediate.map(NodeID.init) ?? DominatorTree.superRoot)
      } else {
        #expect(found == DominatorTree.unreached)
      }
      let expected = lost[node].reduce(0) { $0 + UInt64(sizes[$1]) }
      #expect(retained[NodeID(node)] == expected && wide[NodeID(node)] == expected)
      #expect(counts[NodeID(node)] == UInt64(lost[node].count))
    }

    let order = tree.order.all
    #expect(Set(order.map(Int.init)) == reached && order.count == reached.count)
    var seen: Set<NodeID> = [DominatorTree.superRoot]
    for node in order {
      #expect(seen.contains(tree.immediateDominator[node]))
      seen.insert(node)
    }
  }

  @Test func sumsOfSizesSaturateAt64Bits() {
    let builder = HeapGraphBuilder(nodeCount: 3)
    builder.addEdge(from: 0, to: 1)
    builder.addEdge(from: 1, to: 2)
    let retained = DominatorTree(builder.build(), roots: [0]).retainedSizes([5, .max - 1, 1] as [UInt64])
    #expect(retained.all == [.max, .max, 1])
  }
}
