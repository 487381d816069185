// Gates of `leaktrace analyze` on existing traces.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct AnalyzeGateTests {
  private func record(_ arguments: String..., in run: CheckedRun, name: String, options: [String] = []) throws -> String
  {
    let path = "\(run.directory.path)/\(name).trace"
    _ = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", path] + options + ["--", run.program] + arguments
    ).run()
    return path
  }

  private func analyze(_ arguments: [String]) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace, "analyze", "--limit", "1", "--width", "200"] + arguments).run()
  }

  @Test func findingsFailOnlyOnRequest() throws {
    let run = try CheckedRun()
    let trace = try record("cycles=3", in: run, name: "a")
    #expect(try analyze([trace]).end == .exit(0))
    let failed = try analyze(["--fail-on", "leaks,growth", trace])
    #expect(failed.end == .exit(1))
    #expect(
      failed.output.hasSuffix(
        "Gates: 1 of 2 failed\n  FAILED  leaks: 1 finding of the program\n  passed  growth: no finding that keep growing\n\n"
      ))
    #expect(failed.errorOutput == "leaktrace: gate failed: leaks: 1 finding of the program\n")
  }

  @Test func baselineCombinesSeveralTraces() throws {
    let run = try CheckedRun()
    let traces = [try record("cycles=20", in: run, name: "a"), try record("cycles=9", "lost=4", in: run, name: "b")]
    let options = ["--baseline", run.baseline, "--fail-on", "new-leaks,worse"]
    #expect(try analyze(options + ["--update-baseline"] + traces).end == .exit(0))
    #expect(try run.text("leaks.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }.count == 2)
    #expect(try analyze(options + traces).end == .exit(0))
    #expect(try analyze(options + [traces[1]]).end == .exit(0))
    #expect(try analyze(["--fail-on", "leaks:3"] + traces).end == .exit(0))
    #expect(try analyze(["--fail-on", "leaks:2"] + traces).end == .exit(1))
  }

  @Test func unjudgeableTraceOverridesTheGateAndKeepsTheBaseline() throws {
    let run = try CheckedRun()
    let leaky = try record("cycles=3", in: run, name: "a")
    let without = try record("cycles=3", in: run, name: "b", options: ["--no-snapshots"])
    let options = ["--baseline", run.baseline, "--update-baseline", "--fail-on", "leaks"]
    let outcome = try analyze(options + [leaky, without])
    #expect(outcome.end == .exit(3))
    #expect(outcome.errorOutput.contains("gates cannot be judged") && outcome.errorOutput.contains("was not updated"))
    #expect(!FileManager.default.fileExists(atPath: run.baseline))
    #expect(try analyze(["--fail-on", "leaks", without, run.directory.path + "/none.trace"]).end == .exit(3))
    // Without a gate, `analyze` does not fail although leaks were not checked.
    #expect(try analyze([without]).end == .exit(0))
  }

  @Test func baselineWithAConflictIsRefusedWithItsLine() throws {
    let run = try CheckedRun()
    let trace = try record("cycles=3", in: run, name: "a")
    _ = try run.directory.write("# x\n<<<<<<< ours\n", to: "leaks.txt")
    let outcome = try analyze(["--baseline", run.baseline, trace])
    #expect(outcome.end == .exit(64))
    #expect(outcome.errorOutput.contains("leaks.txt:2: a merge conflict"))
    #expect(try analyze(["--update-baseline", trace]).end == .exit(64))
    #expect(try analyze(["--together", "--fail-on", "leaks", trace]).end == .exit(64))
  }
}
