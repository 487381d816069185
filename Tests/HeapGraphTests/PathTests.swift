@testable import HeapAnalysis
import TestRequirements
import Testing
import TraceTestSupport

@Suite struct PathTests {
  @Test(arguments: TestTier.seeds(0..<400))
  func pathsFromRootsAreCheapest(seed: UInt64) {
    let random = RandomGraph(seed: seed)
    var draws = SeededRandom(seed: seed)
    let rootCosts = seed % 3 == 0 ? random.roots.map { _ in UInt8(draws.next() % 9) } : nil
    let paths = RetainPaths(
      random.graph, roots: random.roots, rootCosts: rootCosts, kinds: random.kinds, costs: random.costs,
      within: random.subset)
    var starts: [Int: Int] = [:]
    for (index, root) in random.roots.enumerated() {
      starts[Int(root)] = min(starts[Int(root)] ?? .max, Int(rootCosts?[index] ?? 0))
    }
    let expected = random.cheapest(from: starts)
    for node in 0..<NodeID(random.nodeCount) {
      guard let cost = expected[Int(node)] else {
        #expect(paths.path(to: node) == nil && !paths.reaches(node) && paths.costs[node] == RetainPaths.unreached)
        continue
      }
      guard let path = paths.path(to: node) else {
        Issue.record("no path to \(node)")
        continue
      }
      #expect(paths.reaches(node) && path.cost == UInt32(cost) && paths.costs[node] == path.cost)
      #expect(path.steps.last?.node ?? path.root == node)
      // The edges of the path are allowed, form a chain from a root, and add up to the path's cost.
      var current = Int(path.root)
      var sum = starts[current] ?? -1
      #expect(sum >= 0)
      for step in path.steps {
        let edge = random.edges[Int(step.edge)]
        #expect(random.allows(edge) && edge.source == current && edge.target == Int(step.node))
        current = edge.target
        sum += Int(random.costs[edge.kind])
      }
      #expect(sum == cost)
    }
  }

  @Test func longerExactPathBeatsAShorterConservativePath() {
    let builder = HeapGraphBuilder(nodeCount: 4)
    builder.addEdge(from: 0, to: 3, label: 1, kind: 1)
    builder.addEdge(from: 0, to: 1, label: 2, kind: 0)
    builder.addEdge(from: 1, to: 2, label: 3, kind: 0)
    builder.addEdge(from: 2, to: 3, label: 4, kind: 0)
    let graph = builder.build()
    var costs = EdgeCosts.uniform
    costs[1] = 255
    let labels = { (costs: EdgeCosts) in
      RetainPaths(graph, roots: [0], costs: costs).path(to: 3)?.steps.map { graph.label(of: $0.edge) }
    }
    #expect(labels(.uniform) == [1])
    #expect(labels(costs) == [2, 3, 4])
    #expect(costs[0] == 1 && costs[1] == 255 && costs[2] == 1 && costs[7] == 1)
  }

  @Test func earlierRootWinsAmongEqualPaths() {
    let builder = HeapGraphBuilder(nodeCount: 3)
    builder.addEdge(from: 0, to: 2)
    builder.addEdge(from: 1, to: 2)
    let graph = builder.build()
    #expect(RetainPaths(graph, roots: [1, 0]).path(to: 2)?.root == 1)
    #expect(RetainPaths(graph, roots: [0, 1]).path(to: 2)?.root == 0)
  }

  /// Returns the cost of the cheapest cycle through a node.
  private func cheapestCycle(_ random: RandomGraph, _ node: Int) -> Int? {
    let costs = random.cheapest(from: [node: 0])
    return random.allowedEdges.map(\.edge).filter { $0.target == node }
      .compactMap { edge in costs[edge.source].map { $0 + Int(random.costs[edge.kind]) } }.min()
  }

  private func check(_ cycle: NodeCycle, _ random: RandomGraph) {
    #expect(cycle.nodes.count == cycle.edges.count && Set(cycle.nodes).count == cycle.nodes.count)
    var sum = 0
    for (index, number) in cycle.edges.enumerated() {
      let edge = random.edges[Int(number)]
      #expect(random.allows(edge))
      #expect(
        edge.source == Int(cycle.nodes[index]) && edge.target == Int(cycle.nodes[(index + 1) % cycle.nodes.count]))
      sum += Int(random.costs[edge.kind])
    }
    #expect(cycle.cost == UInt32(sum))
  }

  @Test(arguments: TestTier.seeds(0..<300))
  func cyclesAreCheapest(seed: UInt64) {
    let random = RandomGraph(seed: seed)
    let components = StronglyConnectedComponents(random.graph, kinds: random.kinds, within: random.subset)
    let search = CycleSearch(components, costs: random.costs)
    var cheapest: [ComponentID: Int] = [:]
    for node in 0..<random.nodeCount {
      let expected = cheapestCycle(random, node)
      let cycle = search.shortestCycle(through: NodeID(node))
      #expect(cycle?.cost == expected.map(UInt32.init))
      guard let cycle, let expected else { continue }
      #expect(cycle.nodes[0] == NodeID(node))
      check(cycle, random)
      let component = components.componentOfNode[NodeID(node)]
      cheapest[component] = min(cheapest[component] ?? .max, expected)
    }
    for component in 0..<ComponentID(components.count) {
      let cycle = search.shortestCycle(in: component, startLimit: random.nodeCount)
      #expect(cycle?.cost == cheapest[component].map(UInt32.init))
      #expect(
        cycle == CycleSearch(components, costs: random.costs).shortestCycle(in: component, startLimit: random.nodeCount)
      )
      if let cycle { check(cycle, random) }
      // With fewer starts the search still finds a cycle, although perhaps a longer one.
      let quick = search.shortestCycle(in: component, startLimit: 1)
      #expect((quick == nil) == (cycle == nil))
      if let quick { check(quick, random) }
    }
  }
}
