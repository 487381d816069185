// The blocks of inspections: a list that the replay keeps as it comes, until anything else does.

import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct ListingTests {
  /// A block of an inspection, and of which kind; or the free of one.
  private enum Event {
    case block(UInt64, UInt64, isObject: Bool = false, time: UInt64 = 80, thread: UInt32 = 1, stack: [UInt64] = [])
    case free(UInt64)
  }

  /// The blocks at the image of a trace: of an inspection, or of a recording that has the same events.
  private func analysis(_ events: [Event], isInspection: Bool) throws -> AllocationAnalysis {
    var trace = TraceBuilder()
    if isInspection { trace.header.options |= UInt32(LT_OPTION_INSPECTED) }
    let node = trace.type("App.Node")
    for event in events {
      switch event {
      case .block(let address, let size, let isObject, let time, let thread, let stack):
        trace.event(
          isObject ? .object : .malloc, address, size: size, type: isObject ? node : 0, stack: trace.stack(stack),
          time: time, thread: thread)
      case .free(let address): trace.event(.free, address, time: 88)
      }
    }
    trace.snapshots = [(TraceSnapshot(time: 800), [])]
    let reader = try trace.reader()
    return AllocationAnalysis(reader, snapshot: try #require(reader.snapshots.first))
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
  private func blocksAreThoseOfTheSameEventsInARecording(_ more: [Event]) throws {
    let events = Self.list + more + [.block(0x6_0000_0000, 24)]
    let listed = try analysis(events, isInspection: true)
    let recorded = try analysis(events, isInspection: false)
    func sorted(_ analysis: AllocationAnalysis) -> [LiveBlock] {
      analysis.blocksAtSnapshot.sorted { $0.address < $1.address }
    }
    #expect(sorted(listed) == sorted(recorded) && !sorted(listed).isEmpty)
    #expect(listed.sites.map(\.total) == recorded.sites.map(\.total))
    #expect(listed.mismatchCounts == recorded.mismatchCounts && listed.eventCounts == recorded.eventCounts)
    #expect(listed.threads == recorded.threads && listed.atExit == recorded.atExit)
  }
}
