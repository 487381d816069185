// Live bytes in the course of the events.

import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct LiveBytesCurveTests {
  /// Returns the curve of a process that allocates `count` blocks of 16 bytes, and frees all but every third one at once.
  private func curve(_ count: Int) throws -> [LiveBytesCurve.Point] {
    var trace = TraceBuilder()
    for number in 0..<UInt64(count) {
      trace.event(.malloc, 0x1000 + number * 16, size: 16, time: 80 * number + 8)
      if number % 3 != 0 { trace.event(.free, 0x1000 + number * 16, time: 80 * number + 16) }
    }
    return AllocationAnalysis(try trace.reader()).liveBytes.points
  }

  @Test(arguments: [1, 100, 5_000, 30_000]) func pointsHaveTheExactLiveBytes(count: Int) throws {
    var live: UInt64 = 0
    var exact: [(bytes: UInt64, time: UInt64)] = []
    for number in 0..<UInt64(count) {
      live += 16
      exact.append((live, 80 * number + 8))
      guard number % 3 != 0 else { continue }
      live -= 16
      exact.append((live, 80 * number + 16))
    }
    let points = try curve(count)
    for point in points {
      let moment = exact[Int(point.events) - 1]
      #expect(point.liveBytes == moment.bytes && point.time == moment.time)
    }
    let distances = Set(zip([0] + points.map(\.events), points.map(\.events)).map { $1 - $0 })
    #expect(distances.count <= 1)
    let expected = exact.count < 8192 ? exact.count / 128 : 64
    #expect(points.count >= expected && points.count <= 128, "\(points.count)")
  }
}
