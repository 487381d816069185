// The suite's checking mode verifies stacks, and reports mismatches.

import CTraceFormat
import Foundation
import TestRequirements
import Testing
import TraceReading
@testable import TraceRecording

@Suite(.requires(.recorder)) struct StackVerificationTests {
  @Test(
    "Every way to record checks every stack",
    arguments: TestTier.arguments(["check", "preload"], of: ["record", "record by another", "check", "preload"]))
  func adjusted(way: String) throws {
    let directory = try TemporaryDirectory()
    let program = [try TestProgram("plain.swift").path()]
    var command: Command
    switch way {
    case "record": command = Command(TracedRun.recordArguments(directory) + program)
    case "record by another":
      command = Command(["/bin/sh", "-c", "\"$@\"", "sh"] + TracedRun.recordArguments(directory) + program)
    case "check":
      command = Command(
        [BuildProducts.leaktrace, "check", "--keep", directory.path, "--fail-on", "leaks:1000", "--"] + program)
    default:
      command = Command(program)
      command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
      command.environment["LEAKTRACE_OUTPUT"] = directory.path + "/a.trace"
    }
    let adjusted = StackVerification.adjusted(command)
    let outcome = try adjusted.run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let trace = try #require(try TracedRun.traces(in: directory).first)
    let header = try TraceReader(path: trace.path).header
    #expect(header.options & UInt32(LT_OPTION_VERIFY_STACKS) != 0)
    #expect(trace.eventCount > 0)
    #expect(StackVerification.failure(of: adjusted, outcome) == nil)
  }

  @Test(
    "Every stack of ordinary programs equals a fresh unwind, in each test run",
    arguments: TestTier.arguments(
      [TestProgram("tasks.swift"), TestProgram("thread-ends.c")],
      of: [
        TestProgram("plain.swift"), TestProgram("plain.swift", flags: ["-Onone"]), TestProgram("plain.cpp"),
        TestProgram("tasks.swift"), TestProgram("tasks.swift", flags: ["-static-stdlib"]),
        TestProgram("thread-ends.c"), TestProgram("hook-paths.swift"),
        TestProgram(
          named: "feed-client", sources: ["feed-client/shared", "feed-client/leaky"], flags: ["-swift-version", "5"]),
      ]))
  func ordinary(program: TestProgram) throws {
    let arguments = program.name == "hook-paths" ? ["2000"] : program.name == "feed-client" ? ["5"] : []
    let run = try TracedRun(
      [try program.path()] + arguments, options: StackVerification.isOn ? [] : ["--verify-stacks"])
    #expect(run.traced.end == .exit(0), "\(run.traced.errorOutput)")
    let trace = try run.onlyTrace()
    #expect(try TraceReader(path: trace.path).header.options & UInt32(LT_OPTION_VERIFY_STACKS) != 0)
    #expect(trace.eventCount > 100 && trace.drops.mismatchedStacks == 0 && trace.drops.incompleteStacks == 0)
  }

  @Test("A package manager is recorded without stack checks") func packageManager() {
    let command = Command([BuildProducts.leaktrace, "check", "--", BuildProducts.toolchain + "/swift", "test"])
    #expect(StackVerification.adjusted(command).arguments == command.arguments)
  }

  @Test("A mismatched stack is a failure, found in the output and in the trace") func failure() throws {
    let directory = try TemporaryDirectory()
    var command = Command(TracedRun.recordArguments(directory) + ["/bin/true"])
    command.directory = directory.path
    let outcome = try command.run()
    #expect(StackVerification.failure(of: command, outcome) == nil)
    var mismatched = outcome
    mismatched.errorOutput = "leaktrace: warning: a.trace: 3 stacks differed from a fresh unwind\n"
    #expect(StackVerification.failure(of: command, mismatched)?.contains("3 stacks differed") == true)

    // If the trace has no closing record, the counters are read from the status block.
    let trace = try #require(try TracedRun.traces(in: directory).first)
    var header = try Data(contentsOf: URL(fileURLWithPath: trace.path)).prefix(Int(LT_TRACE_HEADER_SIZE))
    let counter =
      Int(LT_TRACE_STATUS_OFFSET) + (try #require(MemoryLayout<lt_trace_status>.offset(of: \.drops))) + 8
      * Int(LT_DROP_STACK_MISMATCH)
    header[counter] = 2
    try header.write(to: URL(fileURLWithPath: directory.path + "/b.trace"))
    #expect(StackVerification.failure(of: command, outcome)?.hasPrefix("b.trace: 2 of ") == true)
  }
}
