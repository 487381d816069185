import Testing
import TraceTestSupport

@testable import TraceAnalysis

/// Rows of objects longer than anybody wants to read, and than quadratic work would bear.
@Suite(.timeLimit(.minutes(2))) struct LongPathTests {
  private func row(_ heap: HeapBuilder, _ count: Int) -> [HeapBuilder.Object] {
    heap.type("App.Node", fields: [HeapBuilder.field("next", 0)])
    let nodes = (0..<count).map { _ in heap.object("App.Node") }
    for (a, b) in zip(nodes, nodes.dropFirst()) { heap.set(a, 0, b) }
    return nodes
  }

  @Test func aLongRingIsToldByItsEnds() throws {
    var fingerprints: Set<String> = []
    for count in [100, 50_000] {
      let heap = HeapBuilder()
      let nodes = row(heap, count)
      heap.set(nodes[count - 1], 0, nodes[0])
      let findings = try heap.findings()
      let finding = try #require(findings.first)
      #expect(findings.count == 1 && finding.verdict == .retainCycle && finding.isCycle)
      #expect(finding.retainedBlocks == UInt64(count))
      #expect(finding.path.count == 41)
      #expect(finding.path.filter { $0.type != "Node" }.map(\.type) == ["\(count - 40) more, the last of them Node"])
      #expect(finding.path.allSatisfy { $0.reference?.name == "next" })
      fingerprints.insert(finding.fingerprint)
    }
    // How long it is says nothing of its cause.
    #expect(fingerprints.count == 1)
  }

  @Test func aRingOfFortyIsShownWhole() throws {
    let heap = HeapBuilder()
    let nodes = row(heap, 40)
    heap.set(nodes[39], 0, nodes[0])
    #expect(try heap.findings().first?.path.map(\.type) == Array(repeating: "Node", count: 40))
  }

  @Test func everyNodeOfALongListIsHeldInItsOwnWay() throws {
    let heap = HeapBuilder()
    let nodes = row(heap, 50_000)
    heap.global(nodes[0])
    let answer = try heap.analysis().explain(.type(NamePattern("Node")), limit: 60)
    let (groups, matches) = (answer.groups, answer.matches)
    #expect(matches == 50_000)
    // The shortest paths first.
    #expect(groups.map(\.path.count) == (1...60).map { min($0, 41) })
    #expect(groups.allSatisfy { $0.instances == 1 && $0.origin.kind == .global })
  }

  @Test func pathsThroughTheSameFieldsAreOneWay() throws {
    let heap = HeapBuilder()
    heap.type("App.Cache", fields: [HeapBuilder.field("first", 0), HeapBuilder.field("second", 1)])
    heap.type("App.Item", fields: [])
    for _ in 0..<20 {
      let cache = heap.object("App.Cache")
      heap.set(cache, 0, heap.object("App.Item"))
      heap.set(cache, 1, heap.object("App.Item"))
      heap.global(cache)
    }
    let lost = heap.object("App.Item")
    let answer = try heap.analysis().explain(.type(NamePattern("Item")), limit: 10)
    let (groups, matches) = (answer.groups, answer.matches)
    #expect(matches == 41)
    #expect(groups.map(\.instances) == [20, 20, 1])
    #expect(Set(groups.prefix(2).compactMap { $0.path.first?.reference?.name }) == ["first", "second"])
    #expect(groups.last?.origin.kind == .leaked && groups.last?.path.first?.address.rawValue == lost.address)
  }
}
