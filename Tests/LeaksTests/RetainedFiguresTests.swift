// The memory that a finding keeps: the figures include all of it, and count nothing twice.

import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceReports

@Suite struct RetainedFiguresTests {
  private typealias Heap = HeapBuilder

  private func heap() -> HeapBuilder {
    let heap = HeapBuilder()
    heap.type("App.Node", fields: [Heap.field("next", 0), Heap.field("other", 1)])
    heap.type("App.Owner", fields: [Heap.field("first", 0)])
    heap.type("App.Keeper", fields: [Heap.field("first", 0)])
    return heap
  }

  @Test func retainedFiguresIncludeEveryBlock() throws {
    let heap = heap()
    let count = 25_000
    var last = heap.object("App.Owner", stack: [0x1000_1010])
    for _ in 0..<count {
      let node = heap.object("App.Node")
      heap.set(last, 0, node)
      last = node
    }
    let finding = try #require(try heap.findings().first)
    #expect(finding.retainedBlocks == UInt64(count) + 1 && finding.retainedBytes.rawValue == UInt64(count + 1) * 48)
    #expect(finding.held.types == [.init(name: "Node", count: UInt64(count), bytes: ByteCount(UInt64(count) * 48))])
    #expect(finding.held.together.isEmpty)
  }

  @Test func memorySharedByInstancesCountsOnce() throws {
    let heap = heap()
    let (shared, below) = (heap.object("App.Node"), heap.object("App.Node"))
    heap.set(shared, 0, below)
    for _ in 0..<3 {
      let owner = heap.object("App.Owner", stack: [0x1000_1010])
      let own = heap.object("App.Node")
      heap.set(owner, 0, own)
      heap.set(own, 1, shared)
    }
    let finding = try #require(try heap.findings().first)
    #expect(finding.instances == 3 && finding.retainedBlocks == 8)
    #expect(finding.held.types.map(\.count) == [1] && finding.held.together.map(\.count) == [2])
    let text = FindingText.text(finding, style: TextStyle())
    #expect(text.contains("Each also keeps: 1 × Node") && text.contains("Together they keep: 2 × Node"))
  }

  @Test func memorySharedByTwoCausesCountsInNeither() throws {
    let heap = heap()
    let shared = heap.object("App.Node")
    let (owner, keeper) = (
      heap.object("App.Owner", stack: [0x1000_1010]), heap.object("App.Keeper", stack: [0x1000_1020])
    )
    heap.set(owner, 0, shared)
    heap.set(keeper, 0, shared)
    let findings = try heap.findings()
    #expect(
      findings.count == 2
        && findings.allSatisfy { $0.retainedBlocks == 1 && $0.held.types.isEmpty && $0.held.together.isEmpty }
    )
  }

  @Test func treesWithASharedLeafCountOnlyTheirOwnNodes() throws {
    let heap = heap()
    let leaf = heap.object("App.Node")
    for size in [3, 5] {
      var last = heap.object("App.Owner", stack: [0x1000_1010 + UInt64(size) * 16])
      for _ in 0..<size {
        let node = heap.object("App.Node")
        heap.set(last, 0, node)
        last = node
      }
      heap.set(last, 1, leaf)
    }
    let names: [UInt64: String] = [0x1000_1040: "first()", 0x1000_1060: "second()"]
    let findings = try heap.findings(names)
    #expect(
      Set(findings.map(\.retainedBlocks)) == [4, 6] && Set(findings.flatMap { $0.held.types.map(\.count) }) == [3, 5])
    // If one function made the objects, they are one finding, with all that they keep.
    #expect(try heap.findings().map(\.retainedBlocks) == [11])
  }
}
