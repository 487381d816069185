@testable import HeapAnalysis
import TestRequirements
import Testing
import TraceTestSupport

@Suite struct GraphTests {
  @Test(arguments: TestTier.seeds(0..<200))
  func edgesAreKeptBySourceInTheOrderTheyWereAdded(seed: UInt64) {
    let random = RandomGraph(seed: seed)
    let graph = random.graph
    #expect(graph.nodeCount == random.nodeCount && graph.edgeCount == random.edges.count)
    var found: [RandomGraph.Edge] = []
    for node in 0..<NodeID(graph.nodeCount) {
      for edge in graph.edges(from: node) {
        #expect(graph.source(of: edge) == node)
        found.append(
          .init(
            source: Int(node), target: Int(graph.target(of: edge)), label: graph.label(of: edge),
            kind: graph.kind(of: edge)))
      }
    }
    #expect(found == random.edges)
  }

  @Test(arguments: TestTier.seeds(0..<300))
  func reachabilityMatchesAnOracle(seed: UInt64) {
    let random = RandomGraph(seed: seed)
    let reached = random.graph.reachable(from: random.roots, kinds: random.kinds, within: random.subset)
    #expect(reached.members == random.reached(from: random.roots.map(Int.init)).sorted().map(NodeID.init))
  }

  @Test func builderIsReusableAfterBuilding() {
    let builder = HeapGraphBuilder(nodeCount: 3)
    builder.addEdge(from: 2, to: 0, label: 7)
    builder.addEdge(from: 0, to: 1, label: 8)
    let first = builder.build()
    #expect(builder.edgeCount == 0)
    builder.addEdge(from: 1, to: 2, label: 9, kind: 7)
    let second = builder.build()
    #expect(first.edgeCount == 2 && first.label(of: 0) == 8 && first.label(of: 1) == 7)
    #expect(second.edgeCount == 1 && second.edges(from: 1) == 0..<1 && second.kind(of: 0) == 7)
  }

  @Test func edgesBeyondTheLimitAreCountedAndSkipped() {
    let builder = HeapGraphBuilder(nodeCount: 2, edgeLimit: 3)
    for _ in 0..<5 { builder.addEdge(from: 1, to: 0) }
    #expect(builder.refusedEdgeCount == 2)
    #expect(builder.build().edgeCount == 3)
    #expect(builder.refusedEdgeCount == 0)
  }

  @Test(arguments: [1, 63, 64, 65, 200])
  func nodeSetsBehaveLikeSets(bound: Int) {
    var random = SeededRandom(seed: UInt64(bound))
    let (a, b) = (NodeSet(bound: bound), NodeSet(bound: bound))
    var (oracleA, oracleB) = (Set<UInt32>(), Set<UInt32>())
    for _ in 0..<300 {
      let member = UInt32(random.next() % UInt64(bound))
      #expect(a.insert(member) == oracleA.insert(member).inserted)
      let other = UInt32(random.next() % UInt64(bound))
      b.insert(other)
      oracleB.insert(other)
      if random.oneIn(2) {
        let gone = UInt32(random.next() % UInt64(bound))
        a.remove(gone)
        oracleA.remove(gone)
      }
      if random.oneIn(30) {
        b.subtract(a)
        oracleB.subtract(oracleA)
      }
    }
    #expect(a.members == oracleA.sorted() && a.count == oracleA.count && a.isEmpty == oracleA.isEmpty)
    #expect(b.members == oracleB.sorted())
    #expect(a.complement.members == Set(0..<UInt32(bound)).subtracting(oracleA).sorted())
    let union = NodeSet(copying: a)
    union.formUnion(b)
    #expect(union.members == oracleA.union(oracleB).sorted())
    let common = NodeSet(oracleA, bound: bound)
    common.formIntersection(b)
    #expect(common.members == oracleA.intersection(oracleB).sorted())
    #expect(!a.contains(UInt32(bound)) && !a.contains(.max))
  }
}
