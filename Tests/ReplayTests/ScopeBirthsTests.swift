import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct ScopeBirthsTests {
  private func begin(_ trace: inout TraceBuilder, _ number: UInt64 = 1, time: UInt64, thread: UInt32 = 1) {
    var mark = TraceMark(.scopeBegin, time: time)
    mark.number = number
    mark.name = trace.marks.intern("scope")
    trace.mark(mark, thread: thread)
  }

  private func end(_ trace: inout TraceBuilder, _ number: UInt64 = 1, time: UInt64, thread: UInt32 = 1) {
    var mark = TraceMark(.scopeEnd, time: time)
    mark.number = number
    trace.mark(mark, thread: thread)
  }

  private func live(_ trace: TraceBuilder, _ number: UInt64 = 1) throws -> Set<UInt64> {
    let reader = try trace.reader()
    return Set(Replayer.replay(reader, ScopeBirths(number: number, marks: reader.marks)).observer.live.keys)
  }

  @Test func threadScopeHasItsThreadsLiveAllocations() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 16, time: 8)
    begin(&trace, time: 16)
    trace.event(.malloc, 0x200, size: 16, time: 24)
    trace.event(.malloc, 0x300, size: 16, time: 32, thread: 2)
    trace.event(.malloc, 0x400, size: 16, time: 40)
    trace.event(.free, 0x400, time: 48)
    end(&trace, time: 56)
    trace.event(.malloc, 0x500, size: 16, time: 64)
    #expect(try live(trace) == [0x200])
  }

  @Test func taskScopeFollowsItsTaskAcrossThreads() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 16, time: 8, task: 0x7000)
    begin(&trace, time: 16)
    trace.event(.malloc, 0x200, size: 16, time: 24, task: 0x8000)
    trace.event(.malloc, 0x300, size: 16, time: 32, thread: 2, task: 0x7000)
    trace.event(.malloc, 0x400, size: 16, time: 40, thread: 2)
    trace.event(.malloc, 0x500, size: 16, time: 48, task: 0x7000)
    end(&trace, time: 56)
    #expect(try live(trace) == [0x300, 0x500])
  }

  @Test func taskInABlockOfTheScopeBelongsToItWhileTheBlockLives() throws {
    var trace = TraceBuilder()
    begin(&trace, time: 8)
    trace.event(.malloc, 0x1000, size: 256, time: 16)
    trace.event(.malloc, 0x100, size: 16, time: 24, thread: 2, task: 0x1060)
    // These tasks are beyond the block, and below it.
    trace.event(.malloc, 0x200, size: 16, time: 32, thread: 2, task: 0x1100)
    trace.event(.malloc, 0x300, size: 16, time: 40, thread: 2, task: 0xFF0)
    trace.event(.free, 0x1000, time: 48)
    trace.event(.malloc, 0x1000, size: 256, time: 56, thread: 3)
    trace.event(.malloc, 0x400, size: 16, time: 64, thread: 2, task: 0x1060)
    end(&trace, time: 72)
    #expect(try live(trace) == [0x100])
  }

  @Test func firstEndCountsAndOtherScopesAreSeparate() throws {
    var trace = TraceBuilder()
    begin(&trace, time: 8)
    begin(&trace, 2, time: 16)
    trace.event(.malloc, 0x100, size: 16, time: 24)
    end(&trace, time: 32)
    trace.event(.malloc, 0x200, size: 16, time: 40)
    end(&trace, time: 48)
    end(&trace, 2, time: 56)
    #expect(try live(trace) == [0x100])
    #expect(try live(trace, 2) == [0x100, 0x200])
    #expect(try live(trace, 3) == [])
  }
}
