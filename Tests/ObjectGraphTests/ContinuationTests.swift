import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import TraceReading

/// References from libdispatch's continuations, which are idle or wait for a timer.
@Suite struct ContinuationTests {
  private func items(_ heap: HeapBuilder, _ count: Int) -> [HeapBuilder.Object] {
    heap.type("App.Item")
    return (0..<count).map { _ in heap.object("App.Item") }
  }

  @Test func idleContinuationsHoldOnlyEachOther() throws {
    let heap = HeapBuilder()
    let item = items(heap, 1)[0]
    // The continuations are blocks of 64 bytes from calloc.
    let address: UInt64 = 0x5000_4000_0000
    for index in 0..<3 as Range<UInt64> {
      let at = address + index * 0x1000
      heap.block(.calloc, at: at, size: 64)
      heap.words[at] = 0x1000_9000
      heap.words[at + 16] = address + (index + 1) % 3 * 0x1000
      heap.words[at + 32] = 0x1000_1000
      heap.words[at + 40] = item.address
    }
    let base: UInt64 = 0x7000_0000_0000
    heap.regions.append(MemoryRegion(range: base..<base + 0x10000, kind: .anonymous))
    heap.threads = [SnapshotThread(osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0xF000)]
    let graph = { try heap.analysis().graph }
    func targets(_ graph: ObjectGraph) -> [Set<UInt64>] {
      (0..<3 as Range<UInt64>).map { index in
        guard let node = graph.heap.block(containing: address + index * 0x1000) else { return [] }
        return Set(
          graph.graph.edges(from: node.rawValue).map { graph.heap[BlockID(graph.graph.target(of: $0))].address })
      }
    }
    // The first graph has no list of continuations. In the second, the list is in thread-local memory.
    #expect(targets(try graph()) == (0..<3 as Range<UInt64>).map { [address + ($0 + 1) % 3 * 0x1000, item.address] })
    heap.words[base + 0xF000 - 64] = address
    #expect(targets(try graph()) == (0..<3 as Range<UInt64>).map { [address + ($0 + 1) % 3 * 0x1000] })
  }

  @Test func continuationOfATimerHoldsNothingThroughStaleWords() throws {
    let heap = HeapBuilder()
    let items = items(heap, 3)
    let base: UInt64 = 0x5000_4000_0000
    let (continuation, source, record) = (base, base + 0x1000, base + 0x2000)
    heap.block(.calloc, at: continuation, size: 64)
    heap.block(.calloc, at: source, size: 128)
    heap.block(.calloc, at: record, size: 128)
    heap.words[continuation + 16] = items[0].address
    heap.words[continuation + 40] = items[1].address
    heap.words[continuation + 48] = source
    heap.words[continuation + 56] = items[2].address
    heap.words[source + 88] = record
    heap.words[record + 40] = continuation
    func targets() throws -> Set<UInt64> {
      let graph = try heap.analysis().graph
      let node = try #require(graph.heap.block(containing: continuation)).rawValue
      return Set(graph.graph.edges(from: node).map { graph.heap[BlockID(graph.graph.target(of: $0))].address })
    }
    #expect(try targets() == [items[1].address, source])
    // The record now has another continuation. A queue may have this one, and then its link refers to the next one in
    // that queue.
    heap.words[record + 40] = items[0].address
    #expect(try targets() == [items[0].address, items[1].address, source, items[2].address])
  }
}
