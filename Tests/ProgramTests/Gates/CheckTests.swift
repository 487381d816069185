// The exit status of `leaktrace check`, and the files that it leaves behind.

import Foundation
import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder)) struct CheckTests {
  @Test func programWithoutLeaksPasses() throws {
    let outcome = try CheckedRun().check()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    #expect(outcome.output.hasPrefix("begins\nends\nLeaks: none found"))
    #expect(outcome.output.contains("Gates: passed"))
    #expect(outcome.errorOutput == "")
  }

  @Test func leakingProgramFailsWithThePlaceAndAdvice() throws {
    let outcome = try CheckedRun().check([], "cycles=3")
    #expect(outcome.end == .exit(1))
    #expect(outcome.output.contains("RETAIN CYCLE  Parent"))
    #expect(outcome.output.contains("FAILED  new-leaks: 1 new finding"))
    #expect(outcome.errorOutput.contains("gate failed: new-leaks"))
    #expect(outcome.errorOutput.contains("--keep DIRECTORY"))
  }

  @Test(arguments: [("none", 0), ("leaks:2", 0), ("leaks:2,retained:1B", 1), ("growth", 0)] as [(String, Int32)])
  func conditionsDecideTheResult(conditions: String, status: Int32) throws {
    #expect(try CheckedRun().check(["--fail-on", conditions], "cycles=2").end == .exit(status))
  }

  @Test func largeLibraryLeakFailsUntilAPatternAcceptsIt() throws {
    let run = try CheckedRun()
    let few = try run.check([], "library=900")
    #expect(few.end == .exit(0) && few.output.contains("Gates: passed"), "\(few.output)")
    let many = try run.check([], "library=1100")
    #expect(many.end == .exit(1) && many.output.contains("Leaks: 1 by a library"), "\(many.output)")
    #expect(
      many.output.contains("FAILED  library-leaks: 1 finding of a library with 1.00 MiB or 1,000 blocks or more"),
      "\(many.output)")
    #expect(try run.check(["--fail-on", "new-leaks,library-leaks:2000"], "library=1100").end == .exit(0))
    let patterns = run.directory.path + "/patterns"
    try Data("leak:loseStrings\n".utf8).write(to: URL(fileURLWithPath: patterns))
    #expect(try run.check(["--suppressions", patterns], "library=1100").end == .exit(0))
  }

  @Test func acceptedLeakPassesAndASecondLeakIsNew() throws {
    let run = try CheckedRun()
    let options = ["--baseline", run.baseline]
    let missing = try run.check(options, "cycles=3")
    #expect(missing.end == .exit(1) && missing.output.contains("FAILED  new-leaks: 1 new finding"))
    #expect(missing.errorOutput.components(separatedBy: "there is no baseline").count == 2)
    let none = try run.check(options)
    #expect(none.end == .exit(0) && none.errorOutput.contains("To accept the current ones"))
    #expect(!FileManager.default.fileExists(atPath: run.baseline))

    let written = try run.check(options + ["--update-baseline"], "cycles=20")
    #expect(written.end == .exit(0), "\(written.errorOutput)")
    #expect(written.errorOutput.contains("1 added, 0 changed, 0 dropped, 1 accepted"))
    #expect(try run.text("leaks.txt").contains(/\n[0-9a-f]{16} \d+ retainCycle "Parent ↺"\n/))

    let accepted = try run.check(options, "cycles=20")
    #expect(accepted.end == .exit(0), "\(accepted.output)")
    #expect(accepted.output.contains("Known, accepted."))

    let second = try run.check(options, "cycles=20", "lost=9")
    #expect(second.end == .exit(1))
    #expect(second.output.contains("New: not in the baseline."))
    #expect(second.output.contains("FAILED  new-leaks: 1 new finding"))

    let more = try run.check(options, "cycles=40")
    #expect(more.end == .exit(1))
    #expect(more.output.contains("FAILED  worse: 1 known finding got worse"))
    #expect(try run.check(options + ["--fail-on", "worse:200%"], "cycles=40").end == .exit(0))

    let gone = try run.check(options)
    #expect(gone.end == .exit(0))
    #expect(gone.output.contains("--update-baseline removes them"))
  }

  @Test func updateKeepsReasonsHeaderPermissionsAndLinks() throws {
    let run = try CheckedRun()
    let options = ["--baseline", run.baseline, "--update-baseline"]
    _ = try run.check(options, "cycles=10", "lost=10")
    var text = try run.text("leaks.txt")
    text =
      "# Ours.\n\n"
      + text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
        $0.contains("Parent") ? "\($0) ticket 12" : "\($0)"
      }.joined(separator: "\n")
    let real = try run.directory.write(text, to: "kept/real.txt")
    chmod(real, 0o640)
    try FileManager.default.removeItem(atPath: run.baseline)
    try FileManager.default.createSymbolicLink(atPath: run.baseline, withDestinationPath: real)
    let outcome = try run.check(options, "cycles=10")
    #expect(outcome.end == .exit(0))
    #expect(outcome.errorOutput.contains("dropped") && outcome.errorOutput.contains("Forgotten"))
    let updated = try run.text("kept/real.txt")
    #expect(updated.hasPrefix("# Ours.\n\n") && updated.hasSuffix("ticket 12\n") && !updated.contains("Forgotten"))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: run.baseline) == real)
    #expect(try FileManager.default.attributesOfItem(atPath: real)[.posixPermissions] as? Int == 0o640)
    #expect(try FileManager.default.contentsOfDirectory(atPath: run.directory.path + "/kept") == ["real.txt"])
  }

  @Test func programsFailureIsPassedOnAndItsLeaksAreReported() throws {
    let run = try CheckedRun()
    let outcome = try run.check(["--baseline", run.baseline, "--update-baseline"], "cycles=3", "exit=7")
    #expect(outcome.end == .exit(7))
    #expect(outcome.output.contains("RETAIN CYCLE  Parent"))
    #expect(outcome.errorOutput.contains("the program failed with exit status 7"))
    // A program that fails may end before it leaks. So accepted leaks that are missing from its report do not count as
    // gone.
    #expect(outcome.errorOutput.contains("was not updated"))
    #expect(!FileManager.default.fileExists(atPath: run.baseline))
  }

  @Test func checkEndsByTheProgramsSignal() throws {
    let run = try CheckedRun()
    let terminated = try run.check([], "cycles=3", "signal=15")
    #expect(terminated.end == .signal(15))
    #expect(terminated.output.contains("RETAIN CYCLE  Parent"))
    let killed = try run.check([], "cycles=3", "signal=9")
    #expect(killed.end == .signal(9))
    #expect(!killed.output.contains("none found") && !killed.output.contains("passed"))
    #expect(killed.output.contains("FAILED  new-leaks: cannot be judged"))
  }

  @Test func signalsReachTheProgramBeforeTheReport() throws {
    let run = try CheckedRun()
    let running = try run.command([], [run.program, "lost=4", "wait"]).start()
    // The program prints this line after it has made all its leaks.
    try running.waitForErrorOutput(containing: "ready\n")
    running.send(SIGTERM)
    let outcome = try running.wait()
    #expect(outcome.end == .signal(SIGTERM))
    #expect(outcome.output.contains("LOST  Forgotten"))
    try run.expectNothingLeft()
  }

  @Test func untilCommandEndsTheProgram() throws {
    let run = try CheckedRun()
    let ready = run.directory.path + "/ready"
    let untilReady = "while ! [ -e '\(ready)' ]; do sleep 0.01; done; rm '\(ready)'"
    let leaky = try run.check(["--until", "\(untilReady); echo done"], "lost=4", "tell=\(ready)", "wait")
    #expect(leaky.end == .exit(1))
    #expect(leaky.output.contains("LOST  Forgotten") && !leaky.output.contains("done"))
    #expect(leaky.errorOutput.contains("done"))
    #expect(try run.check(["--until", untilReady], "tell=\(ready)", "wait").end == .exit(0))
    #expect(try run.check(["--until", "\(untilReady); exit 9"], "tell=\(ready)", "wait").end == .exit(9))
    let early = try run.check(["--until", "sleep 50"])
    #expect(early.end == .exit(3))
    #expect(early.errorOutput.contains("the program ended before the command of --until did"))
  }

  /// Returns a shell command that waits for the file that the program creates.
  private static func untilReady(_ path: String) -> String {
    "while ! [ -e '\(path)' ]; do sleep 0.01; done; rm '\(path)'"
  }

  @Test(
    "A server that does not stop is judged by the image at the end of the load",
    arguments: [("lost=4", 1), ("lost=0", 0)] as [(String, Int32)])
  func serverThatIgnoresTheSignal(leak: String, status: Int32) throws {
    let run = try CheckedRun()
    let ready = run.directory.path + "/ready"
    let outcome = try run.check(
      ["--until", Self.untilReady(ready), "--stop-timeout", "0.1s", "--write", "json=leaks.json"], leak, "ignore",
      "tell=\(ready)", "wait")
    #expect(outcome.end == .exit(status), "\(outcome.output)\(outcome.errorOutput)")
    #expect(outcome.output.contains("LOST  Forgotten") == (status == 1), "\(outcome.output)")
    let sentence =
      /gated \(pid \d+\) did not end within 100 ms of SIGTERM, and was killed\. The report judges heap image 1, taken at the end of the load, [0-9.]+ \S+ before/
    #expect(outcome.errorOutput.contains(sentence), "\(outcome.errorOutput)")
    // The report may break a line at any space.
    let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains(sentence), "\(outcome.output)")
    #expect(try run.text("leaks.json").contains(sentence))
  }

  @Test func serverWaitingForLeakedStreamsIsJudgedByThem() throws {
    let run = try CheckedRun()
    let ready = run.directory.path + "/ready"
    let program = try TestProgram("open-streams.swift", flags: ["-Onone"]).path()
    let outcome = try run.command(
      ["--until", Self.untilReady(ready), "--stop-timeout", "0.1s"], [program, ready]
    ).run()
    #expect(outcome.end == .exit(1), "\(outcome.output)\(outcome.errorOutput)")
    #expect(
      outcome.output.contains("RETAIN CYCLE  EventStream") && outcome.output.contains("20 instances"),
      "\(outcome.output)")
    #expect(
      outcome.errorOutput.contains("was killed. The report judges heap image 1, taken at the end of the load"))
    try run.expectNothingLeft()
  }

  @Test func serverStuckInAnExitHandlerIsJudgedByTheImageAtTheEndOfTheLoad() throws {
    let run = try CheckedRun()
    let ready = run.directory.path + "/ready"
    let outcome = try run.check(
      ["--until", Self.untilReady(ready), "--stop-timeout", "0.1s"], "lost=4", "stuck", "tell=\(ready)", "wait")
    #expect(outcome.end == .exit(1), "\(outcome.errorOutput)")
    #expect(outcome.output.contains("LOST  Forgotten"))
    #expect(
      outcome.errorOutput.contains(
        /was killed\. The report judges heap image 1, taken at the end of the load, [0-9.]+ \S+ before/),
      "\(outcome.errorOutput)")
  }

  @Test func serverThatCrashesOnExitFailsAndItsLeaksAreReported() throws {
    let run = try CheckedRun()
    let ready = run.directory.path + "/ready"
    let outcome = try run.check(["--until", Self.untilReady(ready)], "lost=4", "abort", "tell=\(ready)", "wait")
    #expect(outcome.end == .signal(SIGABRT), "\(outcome.errorOutput)")
    #expect(outcome.output.contains("LOST  Forgotten"), "\(outcome.output)")
    #expect(
      outcome.errorOutput.contains(
        /left no heap image when it ended\. The report judges heap image 1, taken at the end of the load/),
      "\(outcome.errorOutput)")
  }

  @Test(
    "A server that outlives its start script is stopped and judged", arguments: [false, true])
  func serverOfAScript(ignores: Bool) throws {
    let run = try CheckedRun()
    let ready = run.directory.path + "/ready", number = run.directory.path + "/number"
    let script = "'\(run.program)' lost=4 \(ignores ? "ignore" : "") 'tell=\(ready)' wait & echo $! > '\(number)'; wait"
    let outcome = try run.command(
      ["--until", Self.untilReady(ready), "--stop-timeout", ignores ? "0.1s" : "1h"], ["/bin/sh", "-c", script]
    ).run()
    #expect(outcome.end == .exit(1), "\(outcome.output)\(outcome.errorOutput)")
    #expect(outcome.output.contains("LOST  Forgotten"), "\(outcome.output)")
    #expect(outcome.errorOutput.contains("and was killed. The report judges heap image 1") == ignores)
    let process = try #require(Int32(run.text("number").dropLast()))
    try AwaitedState.wait(until: "the server has ended") { ProcessState(processID: process).hasEnded }
    try run.expectNothingLeft()
  }

  @Test func killedServerDropsNoBaselineEntry() throws {
    let run = try CheckedRun()
    let ready = run.directory.path + "/ready"
    _ = try run.directory.write("0123456789abcdef 3 retainCycle \"Till ↺\" ticket 9\n", to: "leaks.txt")
    let outcome = try run.check(
      [
        "--until", Self.untilReady(ready), "--stop-timeout", "0.1s", "--baseline", run.baseline, "--update-baseline",
      ], "lost=4", "ignore", "tell=\(ready)", "wait")
    #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    #expect(outcome.errorOutput.contains("warning: the program was killed"), "\(outcome.errorOutput)")
    let baseline = try run.text("leaks.txt")
    #expect(baseline.contains("Till ↺") && baseline.contains("Forgotten"), "\(baseline)")
  }

  @Test func stopTimeoutNeedsALoad() throws {
    let run = try CheckedRun()
    let outcome = try run.command(["--stop-timeout", "1s"], [run.program]).run()
    #expect(outcome.end == .exit(64) && outcome.errorOutput.contains("--stop-timeout needs --until"))
  }

  @Test func unjudgeableRunNeverPasses() throws {
    let run = try CheckedRun()
    #expect(try run.command([], ["/no/such/program"]).run().end == .exit(127))
    let untraceable = try run.command([], [try TestProgram("churn.c", flags: ["-static"]).path()]).run()
    #expect(untraceable.end == .exit(3))
    #expect(untraceable.errorOutput.contains("cannot be traced: it is linked statically"))
    // No recorded process has the name `gated`.
    let shell = try run.command(["--only", "gated"], ["/bin/sh", "-c", "exit 0"]).run()
    #expect(shell.end == .exit(3))
    #expect(shell.errorOutput.contains("leaks cannot be judged"))
    #expect(try run.command(["--fail-on", "leeks"], [run.program]).run().end == .exit(64))
    try run.expectNothingLeft()
  }

  @Test func onlyTheProgramsOwnFollowedProcessesAreJudged() throws {
    let run = try CheckedRun()
    let script = "\(run.program) cycles=3; ls / > /dev/null"
    let followed = try run.command([], ["/bin/sh", "-c", script]).run()
    #expect(followed.end == .exit(1))
    #expect(followed.output.contains("RETAIN CYCLE  Parent"))
    #expect(followed.errorOutput.contains("not judged, of the system: "))
    let replaced = try run.command([], ["/bin/sh", "-c", "exec ls / > /dev/null"]).run()
    #expect(replaced.end == .exit(0), "a shell's place is taken by the program that is meant: \(replaced.errorOutput)")
    let alone = try run.command(["--no-follow-children"], ["/bin/sh", "-c", script]).run()
    #expect(
      alone.end == .exit(0) && alone.errorOutput.contains("2 child processes, which were not traced"),
      "\(alone.errorOutput)")
    #expect(try run.command(["--only", "nothing-of-it"], ["/bin/sh", "-c", script]).run().end == .exit(3))
    try run.expectNothingLeft()
  }

  @Test func tracesAreKeptOnRequest() throws {
    let run = try CheckedRun()
    let outcome = try run.check(["--keep", "traces/of %n"], "cycles=3")
    #expect(outcome.end == .exit(1))
    let kept = try FileManager.default.contentsOfDirectory(atPath: run.directory.path + "/traces/of %n")
    #expect(kept.count == 1)
    #expect(RecordedTrace(path: "\(run.directory.path)/traces/of %n/\(kept.first ?? "")") != nil)
  }

  @Test func reportsAreWrittenInSeveralFormats() throws {
    let run = try CheckedRun()
    let outcome = try run.check(
      [
        "--report", "leaks.out", "--write", "json=leaks.json", "--write", "sarif=leaks.sarif", "--write",
        "junit=leaks.xml", "--write", "markdown=leaks.md",
        "--write", "github=leaks.github", "--write", "codequality=leaks.codequality.json", "--source-root",
        BuildProducts.packageRoot,
      ], "cycles=3")
    #expect(outcome.end == .exit(1))
    #expect(outcome.output == "begins\nends\n")
    #expect(try run.text("leaks.out").contains("RETAIN CYCLE  Parent"))
    #expect(try run.text("leaks.xml").hasPrefix("<?xml"))
    #expect(try run.text("leaks.md").contains("Parent"))
    #expect(try run.text("leaks.github").contains("file=Tests/Programs/gated.swift,"))
    #expect(try run.text("leaks.codequality.json").contains("\"path\": \"Tests/Programs/gated.swift\""))
    let json = try #require(JSONSerialization.jsonObject(with: Data(try run.text("leaks.json").utf8)) as? [String: Any])
    let gates = try #require(json["gates"] as? [[String: Any]])
    #expect(gates.map { $0["hasFailed"] as? Bool } == [true, false, false])
    let reports = try #require(json["reports"] as? [[String: Any]])
    let findings = try #require(reports.first?["findings"] as? [[String: Any]])
    #expect(findings.first?["standing"] as? String == "new")
    #expect(try JSONSerialization.jsonObject(with: Data(try run.text("leaks.sarif").utf8)) is [String: Any])
    #expect(try run.check(["--write", "json=/no/such/directory/x"]).end == .exit(5))
  }

  @Test(.secondTier) func onlyTheTestsOfSwiftTestAreJudged() throws {
    let run = try CheckedRun()
    _ = try run.directory.write(
      """
      // swift-tools-version: 6.0
      import PackageDescription
      let package = Package(name: "Shop", targets: [.target(name: "Shop"), .testTarget(name: "ShopTests", dependencies: ["Shop"])])
      """, to: "Package.swift")
    _ = try run.directory.write(
      "public final class Basket { public var changed: (() -> Void)?; public init() { changed = { _ = self } } }",
      to: "Sources/Shop/Basket.swift")
    _ = try run.directory.write(
      "import Shop\nimport Testing\n@Test func opens() { for _ in 0..<5 { #expect(Basket().changed != nil) } }",
      to: "Tests/ShopTests/ShopTests.swift")
    var command = run.command([], ["\(BuildProducts.toolchain)/swift", "test"])
    command.environment["TMPDIR"] = nil
    let outcome = try command.run()
    #expect(outcome.end == .exit(1), "\(outcome.output)\(outcome.errorOutput)")
    #expect(outcome.output.contains("RETAIN CYCLE  Basket"))
    // The report names the line that uses #expect, not its expansion. It also names the test that contains the line.
    #expect(outcome.output.contains("ShopTests.swift:3") && !outcome.output.contains("swiftmacro"), "\(outcome.output)")
    #expect(outcome.output.contains("Leaked in test opens."), "\(outcome.output)")
    #expect(outcome.errorOutput.contains("not judged, of the toolchain: "))
    #expect(outcome.output.contains("FAILED  new-leaks: 1 new finding"))

    // A failed test does not prevent an update: the other tests' leaks are accepted, and accepted leaks that were not
    // found this time stay accepted.
    _ = try run.directory.write(
      "import Testing\n@Test func flaky() { #expect(Bool(false)) }", to: "Tests/ShopTests/FlakyTests.swift")
    _ = try run.directory.write("0123456789abcdef 3 retainCycle \"Till ↺\" ticket 9\n", to: "leaks.txt")
    command = run.command(
      ["--baseline", run.baseline, "--update-baseline"], ["\(BuildProducts.toolchain)/swift", "test"])
    command.environment["TMPDIR"] = nil
    let failed = try command.run()
    #expect(failed.end == .exit(1), "\(failed.output)\(failed.errorOutput)")
    #expect(
      failed.errorOutput.contains("the program failed with exit status 1")
        && failed.errorOutput.contains("warning: tests failed"))
    let baseline = try run.text("leaks.txt")
    #expect(
      baseline.contains("0123456789abcdef 3 retainCycle \"Till ↺\" ticket 9\n") && baseline.contains("Basket ↺"),
      "\(baseline)")
  }
}
