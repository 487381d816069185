import Testing
import TraceTestSupport

@testable import TraceReading

struct LiveTimelineTests {
  private func timeline(_ count: Int, from start: UInt64 = 0, to end: UInt64 = 99) throws -> [LiveTimeline.Interval] {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x1000, size: 100, time: 5)
    trace.event(.malloc, 0x2000, size: 50, time: 25)
    trace.event(.free, 0x2000, time: 26)
    trace.event(.malloc, 0x3000, size: 10, time: 27)
    trace.event(.free, 0x1000, time: 45)
    return Replayer.replay(try trace.reader(), LiveTimeline(from: start, to: end, count: count)).observer.intervals
  }

  @Test func intervalHasItsMaximumOfLiveBytes() throws {
    let intervals = try timeline(10)
    #expect(intervals.map(\.end) == (1...10).map { $0 * 10 })
    #expect(intervals.map(\.liveBytes) == [100, 100, 150, 110, 110, 10, 10, 10, 10, 10])
    #expect(intervals.map(\.liveBlocks) == [1, 1, 2, 2, 2, 1, 1, 1, 1, 1])
  }

  @Test func eventsOutsideTheTimelineCountAtItsEnds() throws {
    let intervals = try timeline(2, from: 20, to: 30)
    #expect(intervals.count == 2)
    #expect(intervals.first?.liveBytes == 150)
    #expect(intervals.last?.liveBytes == 110)
  }

  @Test(arguments: [(0, 0), (50, 10), (0, UInt64.max)] as [(UInt64, UInt64)]) func anySpanHasAnEnd(
    start: UInt64, end: UInt64
  ) throws {
    #expect(try timeline(400, from: start, to: end).count == 400)
  }
}
