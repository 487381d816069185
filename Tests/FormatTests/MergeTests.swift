import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct MergeTests {
  /// Sorts by time and then by thread, with brute force. Events of one thread stay in their recorded order.
  static func sorted(_ events: [UInt32: [TraceEvent]]) -> [TraceEvent] {
    var all: [(key: UInt64, thread: UInt32, index: Int, event: TraceEvent)] = []
    for (thread, events) in events {
      var key: UInt64 = 0
      for (index, event) in events.enumerated() {
        key = max(key, event.time)
        all.append((key, thread, index, event))
      }
    }
    return all.sorted { ($0.key, $0.thread, $0.index) < ($1.key, $1.thread, $1.index) }.map(\.event)
  }

  @Test(arguments: TestTier.seeds(0..<40))
  func mergeMatchesASort(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var builder = TraceBuilder()
    builder.eventsPerChunk = Int.random(in: 1...40, using: &random)
    let threads = UInt32.random(in: 1...9, using: &random)
    for thread in 1...threads {
      var time = 8 * (random.next() % 200)
      for index in 0..<Int.random(in: 1...150, using: &random) {
        // There are many equal times, and long times without events.
        if random.oneIn(2) { time += 8 * (random.next() % (random.oneIn(10) ? 500 : 3)) }
        builder.event(.malloc, UInt64(index + 1) * 16, size: UInt64(index), time: time, thread: thread)
      }
    }
    let merged = try CollectedEvents.of(builder.reader(), in: builder.stacks)
    #expect(merged == Self.sorted(builder.events))
  }

  @Test func overlappingChunksKeepTheirOrder() throws {
    var writer = TraceWriter()
    let encoder = EventEncoder(stacks: StackTree())
    for (thread, times) in [(1, [800]), (1, [80]), (2, [400]), (2, [808])] as [(UInt32, [UInt64])] {
      encoder.begin(firstTime: times[0])
      encoder.makeTimesExact()
      for time in times { encoder.append(TraceEvent(operation: .malloc, address: time, time: time)) }
      try writer.append(encoder, thread: thread, firstTime: times[0])
    }
    let merged = try CollectedEvents.of(TraceReader(bytes: writer.bytes))
    #expect(merged.map(\.time) == [400, 800, 80, 808])
  }

  @Test func chunksAreReadInSequenceOrder() throws {
    var writer = TraceWriter()
    let encoder = EventEncoder(stacks: StackTree())
    for sequence in [2, 0, 1] as [UInt32] {
      encoder.begin(firstTime: 0)
      encoder.append(TraceEvent(operation: .malloc, address: UInt64(sequence)))
      try writer.append(kind: .events, thread: 1, payload: encoder.payload, sequence: sequence, eventCount: 1)
    }
    #expect(try CollectedEvents.of(TraceReader(bytes: writer.bytes)).map(\.address) == [0, 1, 2])
  }

  @Test func damagedPayloadLosesOnlyItsOwnRest() throws {
    var writer = TraceWriter()
    let encoder = EventEncoder(stacks: StackTree())
    encoder.begin(firstTime: 0)
    for address in 1...5 as ClosedRange<UInt64> {
      encoder.append(TraceEvent(operation: .malloc, address: address * 1000, size: address))
    }
    try writer.append(kind: .events, thread: 1, payload: encoder.payload + [0], eventCount: 5)
    try writer.append(kind: .events, thread: 1, payload: encoder.payload, eventCount: 6)
    try writer.append(encoder, thread: 2, firstTime: 0)
    let reader = try TraceReader(bytes: writer.bytes)
    #expect(CollectedEvents.of(reader).count == 15)
    #expect(
      reader.diagnostics.first.map(\.kind) == [
        .damagedEvents(payloadOffset: encoder.count, events: 5), .eventCountMismatch(claimed: 6, found: 5),
      ])
    _ = CollectedEvents.of(reader)
    #expect(reader.diagnostics.count == 2)
  }

  /// Makes allocations of live addresses and frees of free addresses wait. Takes them only when waiting is no longer
  /// possible.
  struct WaitingSink: EventSink {
    var live: Set<UInt64> = []
    var taken: [TraceEvent] = []
    var forced = 0

    mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
      switch event.operation.effect {
      case .allocation:
        if live.contains(event.address) {
          if mayWait { return .waitForFree }
          forced += 1
        }
        live.insert(event.address)
      case .free:
        if !live.contains(event.address) {
          if mayWait { return .waitForAllocation }
          forced += 1
        }
        live.remove(event.address)
      default: break
      }
      taken.append(event)
      return .taken
    }
  }

  @Test func allocationWaitsForTheFreeOfAThreadWithAFastClock() throws {
    var builder = TraceBuilder()
    builder.event(.malloc, 0x10, size: 1, time: 0, thread: 1)
    builder.event(.malloc, 0x10, size: 2, time: 1000, thread: 2)
    builder.event(.malloc, 0x30, size: 2, time: 1008, thread: 2)
    builder.event(.malloc, 0x20, size: 1, time: 1016, thread: 1)
    builder.event(.free, 0x10, time: 1600, thread: 1)
    builder.event(.malloc, 0x40, size: 1, time: 2000, thread: 1)
    builder.event(.malloc, 0x50, size: 1, time: 3000, thread: 3)
    var sink = WaitingSink()
    try builder.reader().replay(into: &sink)
    #expect(sink.forced == 0)
    #expect(sink.taken.map(\.address) == [0x10, 0x20, 0x10, 0x10, 0x30, 0x40, 0x50])
  }

  @Test func allocationWaitsAtMostAMillisecond() throws {
    var builder = TraceBuilder()
    builder.event(.malloc, 0x10, size: 1, time: 0, thread: 1)
    builder.event(.malloc, 0x10, size: 2, time: 1000, thread: 2)
    builder.event(.malloc, 0x20, size: 2, time: 900_000, thread: 1)
    builder.event(.malloc, 0x30, size: 2, time: 1_002_000, thread: 1)
    builder.event(.free, 0x10, time: 2_000_000, thread: 1)
    var sink = WaitingSink()
    try builder.reader().replay(into: &sink)
    #expect(sink.taken.map(\.address) == [0x10, 0x20, 0x10, 0x30, 0x10])
    #expect(sink.forced == 1)
  }

  @Test func repeatedWaitsDoNotDelayAThreadFurther() throws {
    var builder = TraceBuilder()
    // The blocks that thread 2 frees were never allocated.
    for n in 1...200 as ClosedRange<UInt64> { builder.event(.free, n * 16, time: 1000 + 80 * n, thread: 2) }
    for n in 1...50 as ClosedRange<UInt64> {
      builder.event(.malloc, 0x10_0000 + n * 16, size: 1, time: 100_000 * n, thread: 1)
    }
    var sink = WaitingSink()
    try builder.reader().replay(into: &sink)
    #expect(sink.forced == 200)
    let last = try #require(sink.taken.lastIndex { $0.thread == 2 })
    #expect(sink.taken[..<last].filter { $0.thread == 1 }.map(\.time) == (1...10).map { 100_000 * $0 })
  }

  /// There are enough events for the merge to run on a separate thread.
  @Test(arguments: [1, 4] as [UInt32])
  func readAheadMatchesASort(threads: UInt32) throws {
    var random = SeededRandom(seed: 9)
    var builder = TraceBuilder()
    builder.eventsPerChunk = 10_000
    let stacks = (0..<50).map { builder.stack([0x1000, 0x2000 + UInt64($0)]) }
    for n in 1...300_000 as ClosedRange<UInt64> {
      let thread = UInt32.random(in: 1...threads, using: &random)
      builder.event(.malloc, n * 16, size: n, stack: stacks.randomElement(using: &random)!, time: 8 * n, thread: thread)
    }
    let reader = try builder.reader()
    let merged = CollectedEvents.of(reader, in: builder.stacks)
    #expect(merged == Self.sorted(builder.events))
  }

  /// The clocks of threads are wrong by up to 400 µs. In the true order, the heap is consistent.
  @Test(arguments: TestTier.seeds(0..<30))
  func disagreeingClocksLoseNoEvents(seed: UInt64) throws {
    var heap = RandomHeap(seed: seed)
    heap.threads = 4
    heap.events = 1500
    let (built, inOrder) = heap.build()
    var builder = TraceBuilder()
    builder.definitions = built.definitions
    let stacks = built.stacks
    let skew: [UInt64] = [0, 80_000, 200_000, 400_000]
    for var event in inOrder where event.operation.effect == .allocation || event.operation.effect == .free {
      event.time += 1000 + skew[Int(event.thread - 1)]
      event.stack = builder.stack(stacks.keys(of: event.stack))
      builder.append(event)
    }
    var sink = WaitingSink()
    let reader = try builder.reader()
    reader.replay(into: &sink)
    #expect(sink.taken.count == builder.events.values.reduce(0) { $0 + $1.count })
    // Each thread's own order is always kept.
    for (thread, events) in builder.events {
      #expect(
        sink.taken.filter { $0.thread == thread }.map {
          $0.content.moved(from: reader.definitions.stacks, to: builder.stacks)
        } == events)
    }
  }
}
