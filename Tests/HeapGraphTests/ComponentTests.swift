import HeapAnalysis
import TestRequirements
import Testing

@Suite struct ComponentTests {
  @Test(arguments: TestTier.seeds(0..<400))
  func componentsContainMutuallyReachableNodes(seed: UInt64) {
    let random = RandomGraph(seed: seed)
    let components = StronglyConnectedComponents(random.graph, kinds: random.kinds, within: random.subset)
    let reach = (0..<random.nodeCount).map { random.reached(from: [$0]) }
    func component(_ node: Int) -> ComponentID { components.componentOfNode[NodeID(node)] }
    let inside = (0..<random.nodeCount).filter(random.contains)
    for a in 0..<random.nodeCount {
      if !random.contains(a) { #expect(component(a) == StronglyConnectedComponents.noComponent) }
      for b in inside where random.contains(a) {
        #expect((component(a) == component(b)) == (reach[a].contains(b) && reach[b].contains(a)))
      }
    }

    let edges = random.allowedEdges.map(\.edge)
    for edge in edges where component(edge.source) != component(edge.target) {
      #expect(component(edge.source) > component(edge.target))
    }

    #expect(Set(inside.map(component)) == Set(0..<ComponentID(components.count)))
    let members = ComponentMembers(components)
    let sources = components.sources()
    for number in 0..<ComponentID(components.count) {
      let expected = inside.filter { component($0) == number }
      var found: [NodeID] = []
      members.forEach(of: number) { found.append($0) }
      #expect(found == expected.map(NodeID.init))
      #expect((0..<members.count(of: number)).map { members.node($0, of: number) } == found)
      #expect(components.sizes[number] == UInt32(expected.count))
      let refersToItself = edges.contains { $0.source == $0.target && component($0.source) == number }
      #expect(components.nontrivial.contains(number) == (expected.count > 1 || refersToItself))
      let isHeld = edges.contains { component($0.target) == number && component($0.source) != number }
      #expect(sources.contains(number) == !isHeld)
    }
  }
}
