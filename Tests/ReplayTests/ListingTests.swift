// The blocks of inspections and of light recordings. The replay keeps these lists as they are until another event
// changes a block.

import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct ListingTests {
  /// A block in a list with its kind, the free of a block, a mark at an address, or the beginning of a list.
  private enum Event {
    case block(UInt64, UInt64, isObject: Bool = false, time: UInt64 = 80, thread: UInt32 = 1, stack: [UInt64] = [])
    case free(UInt64)
    case mark(UInt64, time: UInt64)
    case heapListed(time: UInt64)
  }

  /// Returns the blocks at the image of a trace. The trace is of an inspection, or of a recording with the same events.
  private func analysis(_ events: [Event], options: UInt32) throws -> AllocationAnalysis {
    var trace = TraceBuilder()
    trace.header.options |= options
    let node = trace.type("App.Node")
    for event in events {
      switch event {
      case .block(let address, let size, let isObject, let time, let thread, let stack):
        trace.event(
          isObject ? .object : .malloc, address, size: size, type: isObject ? node : 0, stack: trace.stack(stack),
          time: time, thread: thread)
      case .free(let address): trace.event(.free, address, time: 88)
      case .mark(let address, let time):
        var mark = TraceMark(.expectation, time: time)
        mark.address = address
        trace.mark(mark)
      case .heapListed(let time): trace.event(.heapListed, 0, time: time)
      }
    }
    trace.snapshots = [(TraceSnapshot(time: 800), [])]
    let reader = try trace.reader()
    let snapshot = try #require(reader.snapshots.first)
    return AllocationAnalysis(reader, snapshot: snapshot)
  }

  private static let list: [Event] = [
    .block(0x1000, 48), .block(0x1100, 0x1_0000_0000, isObject: true), .block(0x2_0000_1100, 0xFFFF_FFFF),
    .block(0x4_0000_0000, 16, isObject: true), .block(0x4_0000_0010, 0),
  ]

  @Test(
    arguments: [
      [], [.block(0x3000, 48)], [.block(0x4_0000_0010, 32)], [.block(0, 8)], [.free(0x1100)], [.free(0x5000)],
      [.block(0x5_0000_0000, 8, time: 88)], [.block(0x5_0000_0000, 8, thread: 2)],
      [.block(0x5_0000_0000, 8, stack: [0x10])], [.block(0x5_0000_0000, 8, time: 900)],
    ] as [[Event]])
  private func listedBlocksMatchARecordingOfTheSameEvents(_ more: [Event]) throws {
    let events = Self.list + more + [.block(0x6_0000_0000, 24)]
    let listed = try analysis(events, options: UInt32(LT_OPTION_INSPECTED))
    let recorded = try analysis(events, options: 0)
    func sorted(_ analysis: AllocationAnalysis) -> [LiveBlock] {
      analysis.blocksAtSnapshot.sorted { $0.address < $1.address }
    }
    #expect(sorted(listed) == sorted(recorded) && !sorted(listed).isEmpty)
    #expect(listed.sites.map(\.total) == recorded.sites.map(\.total))
    #expect(listed.mismatchCounts == recorded.mismatchCounts && listed.eventCounts == recorded.eventCounts)
    #expect(listed.threads == recorded.threads && listed.atExit == recorded.atExit)
  }

  /// The last list before the image counts, not the next one.
  @Test(
    "Lists of a light recording are kept unchanged, whatever events come between",
    arguments: [
      [], [.heapListed(time: 90)], [.mark(0x1100, time: 85), .heapListed(time: 90), .block(0x1100, 64, time: 90)],
      [.heapListed(time: 90), .block(0x1100, 64, time: 90), .mark(0x1100, time: 95), .mark(0x7000, time: 96)],
      [.heapListed(time: 90), .block(0x2000, 8, time: 90), .block(0x1000, 8, time: 90), .block(0x3000, 8, time: 90)],
      [.free(0x1100), .heapListed(time: 90), .block(0x1000, 8, time: 90), .block(0x1_0000_0000_0000, 8, time: 90)],
      [.heapListed(time: 900), .block(0x1000, 8, time: 900), .block(0x2000, 8, time: 900)],
      [.block(0x9_0000_0000, 8, time: 900), .heapListed(time: 910), .block(0x1000, 8, time: 910)],
    ] as [[Event]])
  private func lists(_ more: [Event]) throws {
    let events = [.heapListed(time: 80)] + Self.list + more
    let light = try analysis(events, options: UInt32(LT_OPTION_LIGHT))
    let recorded = try analysis(events, options: 0)
    func rows(_ analysis: AllocationAnalysis) -> [[UInt64]] {
      analysis.blocksAtSnapshot.map { [$0.address, $0.size, $0.birthTime, UInt64($0.site.rawValue)] }
        .sorted { $0[0] < $1[0] }
    }
    #expect(rows(light) == rows(recorded))
    #expect(light.sites.map(\.total) == recorded.sites.map(\.total))
    #expect(light.mismatchCounts == recorded.mismatchCounts && light.eventCounts == recorded.eventCounts)
    #expect(light.threads == recorded.threads && light.atExit == recorded.atExit)
  }
}
