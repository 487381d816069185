// Counts after each round that prove growth, and counts that do not.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading

@Suite struct RoundCountTests {
  @Test(
    arguments: [[4, 6, 8, 10, 12], [0, 1, 2, 3], [10, 110, 212, 311, 410], [1, 2, 4, 8, 16], [4, 5, 7, 8, 10]]
      as [[UInt64]])
  func additionsInEachRoundAreGrowth(counts: [UInt64]) { #expect(RoundCounts(counts: counts).grows) }

  @Test(
    arguments: [
      [], [5], [4, 6, 8], [4, 6, 6, 8], [4, 6, 5, 8], [0, 100, 150, 175, 188], [8, 12, 14, 15, 16], [.max, 0, 1, 2],
    ] as [[UInt64]])
  func levelingOffOrConstantCountsAreNotGrowth(counts: [UInt64]) { #expect(!RoundCounts(counts: counts).grows) }

  @Test func countsAloneProveGrowthOnlyByEvenSteps() {
    #expect(
      RoundCounts(counts: [20, 30, 40, 50]).growsEvenly && RoundCounts(counts: [20, 30, 45, 60, 70]).growsEvenly)
    #expect(!RoundCounts(counts: [20, 21, 40, 41, 70]).growsEvenly)
  }

  @Test func blocksAreCollectedForEachTime() throws {
    let heap = HeapBuilder()
    let stays = heap.malloc(16), goes = heap.malloc(16)
    let first = heap.time
    heap.free(goes)
    let comes = heap.malloc(16)
    let second = heap.time
    heap.free(comes)
    _ = heap.malloc(16)
    let blocks = RoundBlocks.collect(at: [second, first], in: try heap.reader())
    #expect(Set(blocks.blocks(at: first).map(\.address)) == [stays.address, goes.address])
    #expect(Set(blocks.blocks(at: second).map(\.address)) == [stays.address, comes.address])
  }

  @Test func blockOfAFailedReallocCountsOnce() throws {
    let heap = HeapBuilder()
    let block = heap.malloc(16)
    let first = heap.time
    heap.block(.reallocFree, at: block.address, size: 0)
    heap.block(.reallocFailed, at: block.address, size: 16)
    let second = heap.time
    let blocks = RoundBlocks.collect(at: [first, second], in: try heap.reader())
    #expect(
      blocks.blocks(at: first).map(\.address) == [block.address]
        && blocks.blocks(at: second).map(\.address) == [block.address])
  }
}
