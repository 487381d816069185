// Programs that are difficult for a preloaded library run as they do without it, and are traced.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct SurvivalTests {
  /// Runs a program with and without the recorder. Expects an orderly end, and that no event is missing.
  @discardableResult
  static func expectSurvival(
    _ arguments: [String], options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> TraceContents {
    let run = try TracedRun(arguments, options: options)
    run.expectSameBehaviour(sourceLocation: sourceLocation)
    let trace = try run.onlyTrace(sourceLocation: sourceLocation)
    #expect(trace.state == .closed(.exit), sourceLocation: sourceLocation)
    let contents = try TraceContents(trace.path)
    #expect(contents.orphans == 0, sourceLocation: sourceLocation)
    #expect(contents.eventCount == trace.eventCount, sourceLocation: sourceLocation)
    return contents
  }

  @Test("64 threads free each other's objects") func exchange() throws {
    let contents = try Self.expectSurvival([try TestProgram("exchange.c").path()])
    #expect(contents.threadCount == 65)
    #expect(contents.count("malloc") >= 64 * 2000)
    #expect(
      contents.count("malloc") + contents.count("calloc") + contents.count("realloc")
        >= contents.count("free") + contents.count("realloc_free"))
  }

  @Test("A caller's stack may have any word alignment") func unalignedStack() throws {
    let contents = try Self.expectSurvival([try TestProgram("unaligned-stack.c").path()])
    #expect(contents.allocations(ofSize: 57) == 4000)
    #expect(contents.liveBlocks(ofSize: 570) == 0)
  }

  @Test("Threads end with events in their buffers, and allocate in TLS destructors") func threadEnds() throws {
    let contents = try Self.expectSurvival([try TestProgram("thread-ends.c").path()])
    // Each of 200 threads sets three values of 33 bytes, and replaces them. The destructors' values have 77 bytes.
    #expect(contents.allocations(ofSize: 33) == 600)
    #expect(contents.allocations(ofSize: 44) == 1000)
    #expect(contents.liveBlocks(ofSize: 33) == 0)
    #expect(contents.liveBlocks(ofSize: 44) == 0)
    #expect(contents.allocations(ofSize: 77) >= 600)
    #expect(contents.liveBlocks(ofSize: 77) == 0)
    // Each of the 200 threads runs two more rounds of destructors.
    #expect(contents.allocations(ofSize: 88) == 400)
    #expect(contents.liveBlocks(ofSize: 88) == 0)
  }

  @Test("Signal handlers allocate, even if they interrupt a retain", .secondTier) func signalHandlers() throws {
    let run = try TracedRun([try TestProgram("signal-handlers.swift").path()])
    #expect(run.traced == run.untraced)
    let trace = try run.onlyTrace()
    #expect(trace.state == .closed(.exit))
    let contents = try TraceContents(trace.path)
    #expect(contents.allocations(ofSize: 123) == 1000)
    #expect(contents.liveBlocks(ofSize: 123) == 0)
    #expect(contents.orphans == 0)
    // The recorder may drop calls of a handler that interrupts a hook, and counts the dropped calls. Each handler makes
    // two calls.
    let seen = contents.allocations(ofSize: 321)
    // If each stack is verified, the program is inside a hook for nearly all of its time.
    #expect(seen > 0 || StackVerification.isOn)
    #expect(UInt64(seen) * 2 + trace.drops.nested >= 400)
  }

  @Test("Shared objects come and go") func plugins() throws {
    let first = try TestProgram("plugin.c", flags: ["-shared", "-fPIC"]).path()
    let second = try TestProgram("plugin.c", flags: ["-shared", "-fPIC", "-O2"]).path()
    let contents = try Self.expectSurvival([try TestProgram("plugin-host.c").path(), first, second])
    #expect(contents.allocations(ofSize: 101) == 50)
    #expect(contents.allocations(ofSize: 102) == 50)
    #expect(contents.allocations(ofSize: 501) == 100)
    #expect(contents.liveBlocks(ofSize: 501) == 0)
  }

  @Test("A program closes every descriptor above 2", arguments: ["loop", "range", "list"]) func descriptors(way: String)
    throws
  {
    let contents = try Self.expectSurvival([try TestProgram("descriptors.c").path(), way])
    #expect(contents.count("malloc") >= 100_000)
  }

  @Test("A program changes its directory") func directories() throws {
    let contents = try Self.expectSurvival([try TestProgram("wanderer.c").path()])
    #expect(contents.count("malloc") >= 80_000)
  }

  @Test("A relative output path is relative to record's directory") func relativeOutput() throws {
    let directory = try TemporaryDirectory()
    var command = Command([
      BuildProducts.leaktrace, "record", "-q", "-o", "here.trace", try TestProgram("wanderer.c").path(),
    ])
    command.directory = directory.path
    let outcome = try command.run()
    #expect(outcome.end == .exit(0))
    #expect(outcome.errorOutput == "")
    #expect(try directory.fileNames() == ["here.trace"])
  }

  @Test("A Swift crash prints its backtrace", arguments: ["index", "nil", "fatal"]) func swiftBacktrace(way: String)
    throws
  {
    let run = try TracedRun([try TestProgram("crash.swift", flags: ["-Onone"]).path(), way]) { command in
      command.environment["SWIFT_BACKTRACE"] =
        "enable=yes,color=no,interactive=no,threads=crashed,registers=none,images=none"
    }
    #expect(run.traced.end == run.untraced.end)
    #expect(run.traced.output == run.untraced.output)
    #expect(run.recorderLines == [])
    #expect(run.traced.errorOutput.contains("crashed"))
    for function in ["third(_:_:)", "second(_:_:)", "first(_:)"] {
      #expect(run.untraced.errorOutput.contains(function))
      #expect(run.traced.errorOutput.contains(function))
    }
    #expect(try run.onlyTrace().state == .closed(.recovered))
  }
}
