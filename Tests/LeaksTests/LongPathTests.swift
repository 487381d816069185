import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceSymbolication
@testable import Wording

/// Chains of objects that are too long to read, and too long for quadratic algorithms.
@Suite struct LongPathTests {
  private func row(_ heap: HeapBuilder, _ count: Int) -> [HeapBuilder.Object] {
    heap.type("App.Node", fields: [HeapBuilder.field("next", 0)])
    let nodes = (0..<count).map { _ in heap.object("App.Node") }
    for (a, b) in zip(nodes, nodes.dropFirst()) { heap.set(a, 0, b) }
    return nodes
  }

  @Test func longRingIsShownByItsEnds() throws {
    var fingerprints: Set<String> = []
    for count in [100, 50_000] {
      let heap = HeapBuilder()
      let nodes = row(heap, count)
      heap.set(nodes[count - 1], 0, nodes[0])
      let findings = try heap.findings()
      let finding = try #require(findings.first)
      #expect(findings.count == 1 && finding.verdict == .retainCycle && finding.evidence.isCycle)
      #expect(finding.retainedBlocks == UInt64(count))
      #expect(finding.path.count == 41)
      #expect(finding.path.allSatisfy { $0.type == "Node" })
      #expect(finding.path.compactMap(\.omittedBefore) == [count - 41])
      let omission = finding.path.first { $0.omittedBefore != nil }.map { FindingTitle.name($0) }
      #expect(omission == (count == 100 ? "60" : "49,960") + " more, the last of them Node")
      #expect(finding.path.allSatisfy { $0.reference?.name == "next" })
      fingerprints.insert(finding.fingerprint)
    }
    // The length of a ring does not affect its fingerprint.
    #expect(fingerprints.count == 1)
  }

  @Test func ringOfFortyIsShownWhole() throws {
    let heap = HeapBuilder()
    let nodes = row(heap, 40)
    heap.set(nodes[39], 0, nodes[0])
    #expect(try heap.findings().first?.path.map(\.type) == Array(repeating: "Node", count: 40))
  }

  @Test func longListHasOneWay() throws {
    let heap = HeapBuilder()
    let nodes = row(heap, 50_000)
    heap.global(nodes[0])
    let answer = try heap.analysis().explain(.type(NamePattern("Node")), limit: 60)
    #expect(answer.matches == 50_000 && answer.ways == 1)
    let group = try #require(answer.groups.first)
    #expect(group.instances == 50_000 && group.origin.kind == .global)
    // The report shows one link, and the number of links.
    #expect(group.path.map(\.address.rawValue) == [nodes[0].address, nodes[1].address])
    #expect(group.longestPath == 50_000)
    // The size of each object is counted once, although each object also keeps all objects after it.
    #expect(group.retainedBytes.rawValue == 50_000 * 48)
    #expect(group.addresses.count == 1000 && group.addresses.first?.rawValue == nodes[0].address)
  }

  @Test func treeHasOneWayWhicheverFieldsHoldItsNodes() throws {
    let heap = HeapBuilder()
    heap.type("App.Node", fields: [HeapBuilder.field("left", 0), HeapBuilder.field("right", 1)])
    let nodes = (0..<127).map { _ in heap.object("App.Node") }
    for index in 0..<63 {
      heap.set(nodes[index], 0, nodes[2 * index + 1])
      heap.set(nodes[index], 1, nodes[2 * index + 2])
    }
    heap.global(nodes[0])
    let answer = try heap.analysis().explain(.type(NamePattern("Node")), limit: 10)
    #expect(answer.ways == 1)
    #expect(answer.groups.first?.instances == 127 && answer.groups.first?.longestPath == 7)
  }

  @Test func separateListsAreSeparateWaysWithTheirHeads() throws {
    let heap = HeapBuilder()
    heap.type("App.Node", fields: [HeapBuilder.field("next", 0), HeapBuilder.field("first", 1)])
    heap.type("App.Branch", fields: [HeapBuilder.field("node", 0)])
    let list = (0..<10).map { _ in heap.object("App.Node") }
    for (a, b) in zip(list, list.dropFirst()) { heap.set(a, 0, b) }
    heap.global(list[0])
    let trunk = heap.object("App.Node")
    heap.global(trunk)
    var last = trunk
    for _ in 0..<4 {
      let branch = heap.object("App.Branch")
      heap.set(last, 1, branch)
      last = heap.object("App.Node")
      heap.set(branch, 0, last)
    }
    let answer = try heap.analysis().explain(.type(NamePattern("Node")), limit: 10)
    #expect(answer.groups.map(\.instances) == [10, 5])
    #expect(answer.groups.map(\.longestPath) == [10, 9])
  }

  @Test func objectWithManySiblingsIsNotTheHeadOfAChain() throws {
    let heap = HeapBuilder()
    let nodes = row(heap, 2)
    heap.global(nodes[0])
    for _ in 0..<20 { heap.global(heap.object("App.Node")) }
    let answer = try heap.analysis().explain(.type(NamePattern("Node")), limit: 10)
    #expect(answer.groups.map(\.instances) == [21, 1])
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
