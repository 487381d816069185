// Traces that have reached their limit. Each image belongs to one part of the trace.

import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct TracePartTests {
  private static let limit: UInt64 = 400

  /// Returns a trace with calls before the limit, a call that was in progress then, and a list of blocks at a later
  /// image. `late`: adds another image of the first part, taken a moment after the limit's record.
  private func trace(late: Bool = false) throws -> TraceBuilder {
    var trace = TraceBuilder()
    trace.header.version = 3
    trace.header.options = UInt32(LT_OPTION_LIMITED)
    trace.definitions.append(.process(ProcessRecord(executable: "/app")))
    trace.definitions.append(.limit(ReachedLimit(time: Self.limit, bytes: 1 << 20, samplePeriod: 4096)))
    trace.event(.malloc, 0x1000, size: 50, stack: trace.stack([0x10]), time: 80)
    trace.event(.malloc, 0x1100, size: 50, stack: trace.stack([0x10]), time: 160)
    trace.event(.free, 0x1000, time: 480)
    trace.event(.malloc, 0x7000, size: 50, stack: trace.stack([0x10]), time: 560)
    trace.event(.heapListed, 0, time: 800, thread: UInt32(LT_THREAD_OF_LISTS))
    trace.event(.malloc, 0x2000, size: 64, time: 800, thread: UInt32(LT_THREAD_OF_LISTS))
    trace.snapshots = [(TraceSnapshot(number: 1, reason: .limit, time: 320), [])]
    if late { trace.snapshots.append((TraceSnapshot(number: 2, reason: .request, time: 480), [])) }
    var listed = TraceSnapshot(number: 3, time: 800)
    listed.isListed = true
    trace.snapshots.append((listed, []))
    trace.closing = TraceClosing(reason: .exit, time: 960, eventCount: 6)
    return trace
  }

  private func analysis(_ trace: TraceBuilder, _ part: TracePart, snapshot: UInt32?) throws -> AllocationAnalysis {
    let reader = try TraceReader(bytes: trace.bytes(), part: part)
    return AllocationAnalysis(
      reader, snapshot: try snapshot.map { number in try #require(reader.snapshots.first { $0.number == number }) })
  }

  @Test(
    "An image before the limit equals the end of a full recording",
    arguments: [TracePart.withImage(1), .events])
  func before(part: TracePart) throws {
    let analysis = try self.analysis(trace(), part, snapshot: 1)
    #expect(!analysis.header.isLight && analysis.diagnostics.isEmpty && analysis.gaps == .none)
    #expect(analysis.blocksAtSnapshot.map(\.address).sorted() == [0x1000, 0x1100])
    #expect(analysis.count(of: .allocation) == 2 && analysis.count(of: .free) == 0)
    #expect(analysis.closing?.reason == .stopped && analysis.closing?.time == Self.limit)
    #expect(analysis.definitions.limit?.imageBefore == 1 && analysis.definitions.limit?.hasLaterImage == true)
    let reader = try TraceReader(bytes: trace().bytes(), part: part)
    #expect(reader.snapshots.map(\.number) == [1])
  }

  @Test(
    "An image after the limit equals one of a light recording",
    arguments: [TracePart.withImage(nil), .withImage(3), .withImage(9)])
  func after(part: TracePart) throws {
    let analysis = try self.analysis(trace(), part, snapshot: 3)
    #expect(analysis.header.isLight && analysis.header.samplePeriod == 4096 && analysis.diagnostics.isEmpty)
    #expect(analysis.blocksAtSnapshot.map(\.address) == [0x2000])
    #expect(analysis.count(of: .allocation) == 1)
    #expect(analysis.closing?.reason == .exit && analysis.closing?.time == 960)
  }

  @Test("An image without a list proves that all earlier events are present") func late() throws {
    let analysis = try self.analysis(trace(late: true), .withImage(2), snapshot: 2)
    #expect(!analysis.header.isLight && analysis.blocksAtSnapshot.map(\.address) == [0x1100])
    #expect(analysis.count(of: .free) == 1 && analysis.closing?.time == 480)
    #expect(analysis.definitions.limit?.imageBefore == 2)
  }

  @Test("A whole trace, or one without a limit, has the contents of its file") func whole() throws {
    let reader = try trace().reader()
    #expect(reader.snapshots.map(\.number) == [1, 3] && !reader.header.isLight && reader.closing?.time == 960)
    var events = 0
    try reader.forEachEvent { _ in events += 1 }
    #expect(events == 6)
    var unreached = try trace()
    unreached.definitions.removeAll { if case .limit = $0 { true } else { false } }
    unreached.snapshots.removeLast()
    let other = try TraceReader(bytes: unreached.bytes(), part: .withImage(1))
    #expect(other.snapshots.count == 1 && other.definitions.limit == nil && other.closing?.reason == .exit)
  }

  @Test("Without a limit record, the images separate the parts") func lost() throws {
    var trace = try self.trace()
    trace.definitions.removeAll { if case .limit = $0 { true } else { false } }
    trace.header.samplePeriod = 512
    let after = try analysis(trace, .withImage(nil), snapshot: 3)
    #expect(
      after.header.isLight && after.header.samplePeriod == 512 && after.blocksAtSnapshot.map(\.address) == [0x2000])
    let before = try analysis(trace, .withImage(1), snapshot: 1)
    #expect(before.blocksAtSnapshot.count == 2 && before.count(of: .free) == 0)
  }

  @Test("A process that ends without a later image is shown up to the limit") func killed() throws {
    var trace = try self.trace()
    trace.snapshots.removeLast()
    trace.closing = nil
    let analysis = try self.analysis(trace, .withImage(nil), snapshot: 1)
    #expect(!analysis.header.isLight && analysis.closing == nil && analysis.count(of: .allocation) == 2)
    #expect(analysis.definitions.limit?.hasLaterImage == false)
  }
}
