import CTraceFormat
import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

/// Sound traces of extreme shapes. Each compresses far better than usual traces, and is read in full.
@Suite struct ExtremeTraceTests {
  /// The analysis of a trace, which must be without diagnostics.
  private func analysis(_ writer: TraceWriter) throws -> AllocationAnalysis {
    let reader = try TraceReader(bytes: writer.bytes)
    let analysis = AllocationAnalysis(reader)
    #expect(analysis.diagnostics.first == [] && reader.stopTime == nil)
    return analysis
  }

  @Test func quarterOfAMillionSitesInAMegabyteAreAllDistinct() throws { try expectSites(250_000, fileSize: 1 << 20) }

  @Test(.secondTier) func millionSitesInMegabytesAreAllDistinct() throws {
    try expectSites(1_000_000, fileSize: 3 << 20)
  }

  private func expectSites(_ count: UInt64, fileSize: Int) throws {
    let stacks = StackTree()
    let encoder = EventEncoder(stacks: stacks)
    encoder.begin(firstTime: 0)
    for index in 0..<count {
      let stack = stacks.stack([0x1000, 0x2000 + index * 16])
      encoder.append(TraceEvent(operation: .malloc, address: 0x5000_0000, size: 16, stack: stack))
      encoder.append(TraceEvent(operation: .free, address: 0x5000_0000))
    }
    var writer = TraceWriter()
    try writer.append(encoder, thread: 1, firstTime: 0)
    #expect(writer.bytes.count < fileSize)
    let analysis = try analysis(writer)
    #expect(analysis.sites.count == Int(count) && analysis.eventCount == 2 * count)
  }

  @Test(.secondTier) func billionEventsOfOneSiteAreAllCounted() throws {
    let stacks = StackTree()
    let encoder = EventEncoder(stacks: stacks)
    encoder.begin(firstTime: 0)
    let stack = stacks.stack([0x1000])
    let pairs = 1_000_000
    for _ in 0..<pairs {
      encoder.append(TraceEvent(operation: .malloc, address: 0x5000_0000, size: 16, stack: stack))
      encoder.append(TraceEvent(operation: .free, address: 0x5000_0000))
    }
    var writer = TraceWriter()
    let chunks = 500
    for _ in 0..<chunks { try writer.append(encoder, thread: 1, firstTime: 0) }
    let analysis = try analysis(writer)
    #expect(analysis.eventCount == UInt64(2 * pairs * chunks))
    #expect(analysis.sites.map(\.total.allocatedBlocks) == [UInt64(pairs * chunks)])
  }

  @Test(.secondTier) func eventsOfSixtyThousandThreadsAreAllMerged() throws {
    let encoder = EventEncoder(stacks: StackTree())
    let count = 60_000 as UInt32
    var writer = TraceWriter()
    for thread in 1...count {
      encoder.begin(firstTime: UInt64(thread) * 8)
      encoder.makeTimesExact()
      let address = 0x5000_0000 + UInt64(thread) * 16
      encoder.append(
        TraceEvent(operation: .malloc, address: address, size: 16, time: UInt64(thread) * 8, thread: thread))
      // All threads are alive until the last one has begun.
      encoder.append(TraceEvent(operation: .free, address: address, time: UInt64(count + thread) * 8, thread: thread))
      try writer.append(encoder, thread: thread, firstTime: UInt64(thread) * 8)
    }
    let analysis = try analysis(writer)
    #expect(analysis.threads.count == Int(count) && analysis.atPeak.liveBlocks == UInt64(count))
    #expect(analysis.atExit.liveBlocks == 0)
  }

  @Test(.secondTier) func tenMillionTypesAreAllKept() throws {
    var writer = TraceWriter()
    let count = 10_000_000 as UInt32
    for start in stride(from: 1, through: count, by: 100_000) {
      try writer.append(
        (start..<start + 100_000).map { id in
          .type(
            TraceType(
              id: id, metadata: RuntimeAddress(UInt64(id) << 12), kind: .class, name: "App.Node<\(id)>", superclass: 0))
        })
    }
    let reader = try TraceReader(bytes: writer.bytes)
    #expect(reader.diagnostics.isEmpty && reader.definitions.types.count == Int(count))
    #expect(reader.definitions.types[count]?.name == "App.Node<\(count)>")
  }

  @Test(.secondTier) func recursionOfAMillionFramesIsWhole() throws {
    let depth = 1 << 20
    let stacks = StackTree()
    let encoder = EventEncoder(stacks: stacks)
    encoder.begin(firstTime: 0)
    let stack = stacks.stack((0..<UInt64(depth)).map { 0x1000 + $0 % 3 * 16 })
    for index in 0..<100 as Range<UInt64> {
      encoder.append(TraceEvent(operation: .malloc, address: 0x5000_0000 + index * 16, size: 16, stack: stack))
    }
    var writer = TraceWriter()
    try writer.append(encoder, thread: 1, firstTime: 0)
    let analysis = try analysis(writer)
    let site = try #require(analysis.sites.first { $0.total.allocatedBlocks == 100 })
    #expect(analysis.definitions.stacks.path(of: site.stack, limit: .max).frames.count == depth)
  }

  @Test func hundredThousandImagesAreAllKept() throws {
    var trace = TraceBuilder()
    let count = 100_000 as UInt64
    for index in 0..<count { trace.image("/lib/\(index)", 0x1000 * index..<0x1000 * (index + 1)) }
    let reader = try TraceReader(bytes: try trace.bytes())
    #expect(reader.diagnostics.isEmpty && reader.definitions.images.count == Int(count))
  }

  @Test(.secondTier) func switchesBetweenThreadsAreNotLimited() throws {
    let count = 2_500_000 as UInt64
    var writer = TraceWriter()
    let encoder = EventEncoder(stacks: StackTree())
    for thread in 0...1 as ClosedRange<UInt64> {
      encoder.begin(firstTime: thread * 8)
      encoder.makeTimesExact()
      for index in 0..<count {
        encoder.append(
          TraceEvent(
            operation: index % 2 == 0 ? .malloc : .free, address: 0x5000_0000 + thread * 16, size: 16,
            time: index * 16 + thread * 8))
      }
      try writer.append(encoder, thread: UInt32(thread + 1), firstTime: thread * 8)
    }
    let analysis = try analysis(writer)
    #expect(analysis.eventCount == 2 * count)
  }
}

/// The memory limit, and interrupts.
@Suite struct ReadingBudgetTests {
  /// A trace of many live blocks, each with a stack of its own.
  private func trace(blocks: UInt64) throws -> [UInt8] {
    let stacks = StackTree()
    let encoder = EventEncoder(stacks: stacks)
    encoder.begin(firstTime: 0)
    for index in 0..<blocks {
      encoder.append(
        TraceEvent(
          operation: .malloc, address: 0x5000_0000 + index * 16, size: 16,
          stack: stacks.stack([0x1000, 0x2000 + index * 16])))
    }
    var writer = TraceWriter()
    try writer.append(encoder, thread: 1, firstTime: 0)
    return writer.bytes
  }

  private func stops(_ diagnostics: TraceDiagnostics) -> [ReadingStop] {
    diagnostics.first.compactMap { if case .stopped(let stop) = $0.kind { stop } else { nil } }
  }

  @Test func readingStopsAtTheMemoryLimitAndReportsHowFarItCame() throws {
    // This process has more memory already.
    let policy = ReadingPolicy(memoryLimit: MemoryLimit(ByteCount(1 << 20)))
    let reader = try TraceReader(bytes: try trace(blocks: 100_000), policy: policy)
    let analysis = AllocationAnalysis(reader)
    let stop = try #require(stops(analysis.diagnostics).last)
    guard case .events(let read, let all) = stop.place else { throw Unexpected() }
    #expect(stop.reason == .memory(ByteCount(1 << 20)) && read < all && all == 100_000)
    #expect(analysis.eventCount == read && analysis.hasStopped && reader.stopTime != nil)
    #expect(analysis.gaps.hideAllocations && analysis.diagnostics.first.allSatisfy { !$0.isRefusal })
  }

  private struct Unexpected: Error {}

  @Test func interruptEndsEveryPassAtTheSameEvent() throws {
    final class Flag: @unchecked Sendable { var calls = 0 }
    let flag = Flag()
    let policy = ReadingPolicy(isInterrupted: {
      flag.calls += 1
      return flag.calls > 3
    })
    let reader = try TraceReader(bytes: try trace(blocks: 200_000), policy: policy)
    let first = CollectedEvents.of(reader).count
    #expect(first > 0 && first < 200_000)
    flag.calls = -1_000_000
    #expect(CollectedEvents.of(reader).count == first)
    #expect(stops(reader.diagnostics).map(\.reason) == [.interrupt] && reader.refusedPass == nil)
  }

  @Test func standardLimitIsLessThanTheMachinesMemory() {
    #expect(MemoryLimit.standard.bytes.rawValue > 64 << 20)
    #expect(MemoryLimit.standard.ofHeapImage.bytes.rawValue < MemoryLimit.standard.bytes.rawValue / 2 + 1)
  }
}
