// Recorded stacks equal the stacks from the C compiler's own unwinder, in the same process at the same moment.

import TestRequirements
import Testing
@testable import TraceRecording

@Suite(.requires(.recorder)) struct UnwinderAgreementTests {
  enum Checking: CaseIterable { case none, everyStack }

  /// Records a program, and compares all its marks with the trace.
  private func expectAgreement(_ arguments: [String], _ checking: Checking, atLeast count: Int) throws {
    let run = try TracedRun(arguments, options: checking == .everyStack ? ["--verify-stacks"] : [])
    #expect(run.traced.end == .exit(0))
    #expect(run.recorderLines == [])
    let trace = try run.onlyTrace()
    #expect(trace.drops.all == [])
    let marked = try MarkedStacks(run.traced.output)
    #expect(marked.marks.count >= count)
    try marked.expectEqual(try RecordedStacks(trace.path))
  }

  @Test(
    "Stacks of C code match the unwinder's",
    arguments: TestTier.arguments(
      [["-O2", "-fomit-frame-pointer"]],
      of: [
        ["-O0"], ["-O1"], ["-O2", "-fomit-frame-pointer"], ["-O3", "-fno-omit-frame-pointer"], ["-Os", "-Wl,-z,lazy"],
      ]), Checking.allCases)
  func cCode(flags: [String], checking: Checking) throws {
    let plugins = try [24, 200].map { try StackPrograms.plugin(room: $0) }
    try expectAgreement([try StackPrograms.c(flags)] + plugins, checking, atLeast: 500)
  }

  /// The linker puts this section, and all sections after it, far from the preceding ones.
  @Test("Stacks of a program with distant segments match the unwinder's", arguments: ["lld", "bfd"])
  func apart(linker: String) throws {
    let flags = ["-O1", "-DFAR_SECTION", "-fuse-ld=\(linker)", "-Wl,--section-start=.far=0x10000000"]
    let plugins = try [24, 200].map { try StackPrograms.plugin(room: $0) }
    try expectAgreement([try StackPrograms.c(flags)] + plugins, .none, atLeast: 500)
  }

  @Test("Stacks of Swift code match the unwinder's", arguments: StackPrograms.swiftFlags, Checking.allCases)
  func swiftCode(flags: [String], checking: Checking) throws {
    try expectAgreement([try StackPrograms.swift("stacks-paths.swift", flags)], checking, atLeast: 600)
  }

  @Test("A stack deeper than the limit keeps its innermost frames") func cut() throws {
    let program = try StackPrograms.swift("stacks-paths.swift", [])
    let run = try TracedRun([program], options: ["--depth", "1000"])
    let trace = try run.onlyTrace()
    #expect(trace.drops.truncatedStacks > 0)
    let recorded = try RecordedStacks(trace.path)
    var cutCount = 0
    for (size, frames) in try MarkedStacks(run.traced.output).marks {
      let stack = try #require(recorded.allocations[size]?.first)
      #expect(stack.dropFirst().elementsEqual(frames.prefix(1000).dropFirst()), "size \(size)")
      if frames.count > 1000 { cutCount += 1 }
    }
    #expect(cutCount > 5)
  }
}
