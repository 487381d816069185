// However a program ends, it ends the same under the recorder, and its trace holds everything up to its end.

import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder)) struct EndingTests {
  /// The number of blocks that the program keeps, of 1000 bytes each. They fill the recorder's buffers several times.
  static let kept = 100_000

  static func run(_ way: String) throws -> TracedRun {
    let run = try TracedRun([try TestProgram("endings.c").path(), way, String(kept)])
    run.expectSameBehaviour()
    return run
  }

  @Test(
    "A process that ends normally closes its trace",
    arguments: [
      ("return", RecordedTrace.CloseReason.exit), ("exit", .exit), ("atexit", .exit), ("thread-exit", .exit),
      ("main-thread-ends", .exit), ("_exit", .underscoreExit), ("_Exit", .underscoreExit),
      ("quick_exit", .underscoreExit),
    ])
  func orderlyEnd(way: String, reason: RecordedTrace.CloseReason) throws {
    let run = try Self.run(way)
    let trace = try run.onlyTrace()
    #expect(trace.state == .closed(reason))
    try expectKeptBlocks(trace)
    #expect(try run.directory.fileNames().count == 1, "the live file is gone")
  }

  @Test(
    "record finishes the trace of a killed process", arguments: ["abort", "crash", "kill", "terminate"])
  func violentEnd(way: String) throws {
    let run = try Self.run(way)
    let trace = try run.onlyTrace()
    #expect(trace.state == .closed(.recovered))
    try expectKeptBlocks(trace)
    #expect(try run.directory.fileNames().count == 1, "the live file is gone")
  }

  @Test("A program that replaces itself leaves a trace for each program") func exec() throws {
    let run = try Self.run("exec")
    #expect(run.traces.count == 2)
    #expect(run.traces.first?.state == .closed(.exec))
    #expect(run.traces.last?.state == .closed(.exit))
    #expect(Set(run.traces.map(\.processID)).count == 1)
    try expectKeptBlocks(try #require(run.traces.first))
  }

  @Test("A program that fails to replace itself continues the same trace") func failedExec() throws {
    let run = try Self.run("exec-fails")
    defer { withExtendedLifetime(run) {} }
    let trace = try run.onlyTrace()
    #expect(trace.state == .closed(.exit))
    let contents = try TraceContents(trace.path)
    #expect(contents.allocations(ofSize: 300) == 1)
    try expectKeptBlocks(trace)
  }

  @Test(
    "Events of other threads are kept, whether or not the program is replaced", arguments: [true, false])
  func threads(isReplaced: Bool) throws {
    let run = try Self.run(isReplaced ? "threads-exec" : "threads-exec-fails")
    #expect(run.traces.count == (isReplaced ? 2 : 1))
    let trace = try #require(run.traces.first)
    #expect(trace.state == .closed(isReplaced ? .exec : .exit))
    try expectKeptBlocks(trace)
    let contents = try TraceContents(trace.path)
    #expect(contents.allocations(ofSize: 500) == Self.kept && contents.liveBlocks(ofSize: 500) == Self.kept)
    #expect(try TraceReader(path: trace.path).diagnostics.isEmpty)
    #expect(try !run.directory.fileNames().contains { $0.hasSuffix(".live") })
  }

  private func expectKeptBlocks(_ trace: RecordedTrace, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let contents = try TraceContents(trace.path)
    #expect(contents.allocations(ofSize: 1000) == Self.kept, sourceLocation: sourceLocation)
    #expect(contents.liveBlocks(ofSize: 1000) == Self.kept, sourceLocation: sourceLocation)
    #expect(contents.orphans == 0, sourceLocation: sourceLocation)
    #expect(contents.eventCount == trace.eventCount, sourceLocation: sourceLocation)
  }
}
