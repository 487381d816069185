// Recorded stacks through the Swift library and Foundation equal a debugger's. Many functions there have no unwind
// information.

import Foundation
import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder)) struct DebuggerAgreementTests {
  @Test("Stacks through the Swift libraries match gdb's", .requires(.debugger), arguments: [["-Onone"], []])
  func libraries(flags: [String]) throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/libraries.trace", marks = directory.path + "/marks"
    let settings = [
      "LD_PRELOAD \(BuildProducts.preloadLibrary)", "LEAKTRACE_OUTPUT \(trace)", "LEAKTRACE_VERIFY_STACKS 1",
    ]
    let arguments =
      ["gdb", "-nx", "-batch", "-ex", "set startup-with-shell off", "-ex", "set debuginfod enabled off"]
      + settings.flatMap { ["-ex", "set environment \($0)"] }
      + ["-ex", "python marks_path = '\(marks)'", "-x", BuildProducts.packageRoot + "/Tests/Programs/stacks-points.py"]
    let outcome = try Command(arguments + [try StackPrograms.swift("stacks-libraries.swift", flags)]).run()
    #expect(outcome.output.contains("exited normally"), "\(outcome.output) \(outcome.errorOutput)")
    let recorded = try #require(RecordedTrace(path: trace))
    #expect(recorded.drops.all == [])
    let marked = try MarkedStacks(try String(contentsOfFile: marks, encoding: .utf8))
    #expect(marked.marks.count >= 30)
    try marked.expectEqual(try RecordedStacks(trace))
  }
}
