// `leaktrace verify` and `check --against`: each answer, and its exit status.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct VerifyCommandTests {
  /// Runs of a shop, by its arguments.
  private struct Shop {
    let directory: TemporaryDirectory
    let program: String

    init() throws {
      directory = try TemporaryDirectory()
      program = try TestProgram("fixed-shop.swift").path()
    }

    /// Records a run, and returns its trace's name.
    func record(_ arguments: String, options: [String] = []) throws -> String {
      let name = "\(UUID().uuidString.prefix(8)).trace"
      let outcome = try run(
        ["record", "--quiet"] + options + ["-o", name, "--", program] + arguments.split(separator: " ").map(String.init)
      )
      try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
      return name
    }

    func run(_ arguments: [String]) throws -> Command.Outcome {
      var command = Command([BuildProducts.leaktrace] + arguments)
      command.directory = directory.path
      return try command.run()
    }

    /// Returns the answers of `verify`, and its exit status.
    func verify(_ old: String, _ new: [String], options: [String] = []) throws -> (answers: [String], status: Int32) {
      let outcome = try run(["verify", "--format", "json"] + options + [old] + new)
      guard case .exit(let status) = outcome.end, !outcome.output.isEmpty else {
        throw CommandFailure("verify: \(outcome.end) \(outcome.errorOutput)")
      }
      let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
      return (document.fixes.map(\.answer) + document.newFindings.map { _ in "new" }, Int32(status))
    }
  }

  private struct Document: Decodable {
    struct Fix: Decodable { var answer: String }
    struct New: Decodable { var runCount: Int }
    var fixes: [Fix]
    var newFindings: [New]
  }

  @Test func eachAnswerHasItsExitStatus() throws {
    let shop = try Shop()
    let old = try shop.record("20 20")
    for (arguments, answer, status) in [
      ("20 0", "gone", 0), ("20 4", "fewer", 1), ("20 20", "same", 1), ("40 40", "worse", 1),
      ("0 0", "notExercised", 7), ("0 0 preview", "notExercised", 7),
    ] as [(String, String, Int32)] {
      let found = try shop.verify(old, [shop.record(arguments)])
      #expect(found.answers == [answer] && found.status == status, "\(arguments): \(found)")
    }
    let new = try shop.verify(old, [shop.record("20 0 download")])
    #expect(new.answers == ["gone", "new"] && new.status == 1)
  }

  @Test(
    "Builds with changed names and sources",
    arguments: [
      ("leak-fixed", ["gone", "gone"]), ("renamed-and-fixed", ["gone"]), ("fixed-and-introduced", ["gone", "new"]),
      ("renamed-and-worse", ["worse"]), ("function-split", ["same"]), ("leak-copied", ["same", "new"]),
    ])
  func pairsOfBuilds(pair: String, answers: [String]) throws {
    let recordings = try PairRecordings(PairCase.read(pair), .optimised)
    let old = try recordings.trace(.before, [], number: 0)
    let new = try recordings.trace(.after, [], number: 0)
    let outcome = try Command([BuildProducts.leaktrace, "verify", "--format", "json", old, new]).run()
    let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
    #expect(document.fixes.map(\.answer) + document.newFindings.map { _ in "new" } == answers)
    #expect(outcome.end == .exit(answers.allSatisfy { $0 == "gone" } ? 0 : 1))
  }

  @Test func repeatedRunsTellFlakyFromFixed() throws {
    let shop = try Shop()
    let old = try shop.record("20 20")
    let clean = try (0..<3).map { _ in try shop.record("20 0") }
    let leaky = try (0..<2).map { _ in try shop.record("20 3") }
    let flaky = try shop.run(["verify", old, clean[0], leaky[0], clean[1], leaky[1], clean[2]])
    #expect(flaky.end == .exit(1))
    #expect(flaky.output.contains("flaky: gone in 3 of 5 runs, still in 2 with 3 instances"), "\(flaky.output)")
    let fixed = try shop.verify(old, clean)
    #expect(fixed.answers == ["gone"] && fixed.status == 0)
    let missed = try shop.verify(old, [clean[0], shop.record("0 0")])
    #expect(missed.answers == ["gone"] && missed.status == 0)
  }

  @Test func lightRecordingShowsAnAbsentLeakAsGoneOnlyIfSampled() throws {
    let shop = try Shop()
    let old = try shop.record("20 20")
    let light = try shop.verify(old, [shop.record("0 0", options: ["--light"])])
    #expect(light.answers == ["notKnown"] && light.status == 7)
    let sampled = try shop.verify(old, [shop.record("20000 0", options: ["--light", "--sample", "4KiB"])])
    #expect(sampled.answers == ["gone"] && sampled.status == 0)
  }

  @Test func askedFindingAloneIsAnswered() throws {
    let shop = try Shop()
    let old = try shop.record("20 20 download")
    #expect(try shop.verify(old, [shop.record("20 0 download")]).answers == ["same", "gone"])
    let json = try shop.run(["verify", "--format", "json", old, old])
    // The same run twice is an old and a new run of one build.
    #expect(json.end == .exit(1))
    let document = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    let fixes = try #require(document["fixes"] as? [[String: Any]])
    let fingerprints = try fixes.map { try #require($0["fingerprint"] as? String) }
    #expect(fixes.allSatisfy { ($0["runs"] as? [[String: Any]])?.first?["site"] as? String == "reached" })
    for fingerprint in fingerprints {
      let beginning = String(fingerprint.prefix(10))
      #expect(try shop.verify(old, [old], options: ["--finding", beginning]).answers == ["same"])
    }
    let unknown = try shop.run(["verify", "--finding", "feed", old, old])
    #expect(unknown.end == .exit(2) && unknown.output.isEmpty && unknown.errorOutput.contains("has no finding feed"))
  }

  @Test func runThatCannotBeJudgedFails() throws {
    let shop = try Shop()
    let old = try shop.record("20 20")
    let noImage = try shop.record("20 0", options: ["--no-snapshots"])
    let outcome = try shop.run(["verify", old, noImage])
    #expect(outcome.end == .exit(3) && outcome.output.contains("Not judged"), "\(outcome.output)")
    #expect(try shop.run(["verify", old, "missing.trace"]).end == .exit(3))
    #expect(try shop.run(["verify", old]).end == .exit(64))
    #expect(try shop.run(["verify", "--format", "sarif", old, noImage]).end == .exit(64))
  }

  @Test func checkAgainstAnOldRunGivesTheSameAnswers() throws {
    let shop = try Shop()
    let old = try shop.record("20 20")
    #expect(try shop.run(["digest", old, "-o", "old.digest"]).end == .exit(0))
    for (run, arguments, words, status) in [
      (old, ["20", "0"], "Fixed: 1 gone, nothing new.", 0), ("old.digest", ["20", "0"], "Fixed: 1 gone", 0),
      ("old.digest", ["20", "20"], "Not fixed: 1 same.", 1), (old, ["0", "0"], "Not proven: 1 not exercised.", 7),
      (old, ["20", "0", "download"], "New: 1 gone, 1 new.", 1),
    ] as [(String, [String], String, Int32)] {
      let outcome = try shop.run(["check", "--against", run, "--", shop.program] + arguments)
      #expect(outcome.end == .exit(status) && outcome.output.contains(words), "\(arguments): \(outcome.output)")
    }
    let written = try shop.run([
      "check", "--against", old, "--format", "markdown", "--report", "fix.md", "--write", "json=fix.json", "--",
      shop.program, "20", "0",
    ])
    #expect(written.end == .exit(0) && written.output.isEmpty)
    #expect(try String(contentsOfFile: shop.directory.path + "/fix.md", encoding: .utf8).contains("Fixed"))
    #expect(try String(contentsOfFile: shop.directory.path + "/fix.json", encoding: .utf8).contains("leaktrace.verify"))
    #expect(try shop.run(["check", "--against", old, "--fail-on", "leaks", "--", shop.program]).end == .exit(64))
    #expect(try shop.run(["check", "--against", "none.trace", "--", shop.program]).end == .exit(3))
  }

  /// The program leaks in each run whose number, which a file counts, is odd.
  @Test func checkAgainstRepeatsTheProgram() throws {
    let shop = try Shop()
    let old = try shop.record("20 20")
    let script = "n=$(cat runs 2>/dev/null || echo 0); n=$((n + 1)); echo $n > runs; exec \"$0\" 20 $((n % 2 * 3))"
    func check(_ options: [String], _ script: String) throws -> (outcome: Command.Outcome, runs: Int) {
      try? FileManager.default.removeItem(atPath: shop.directory.path + "/runs")
      let outcome = try shop.run(
        ["check", "--against", old, "--only", "fixed-shop"] + options + ["--", "/bin/sh", "-c", script, shop.program])
      let count = try String(contentsOfFile: shop.directory.path + "/runs", encoding: .utf8)
      return (outcome, try #require(Int(count.trimmingCharacters(in: .whitespacesAndNewlines))))
    }
    let flaky = try check(["--runs", "5"], script)
    #expect(flaky.outcome.end == .exit(1) && flaky.runs == 5, "\(flaky)")
    #expect(flaky.outcome.output.contains("flaky: gone in 2 of 5 runs, still in 3"), "\(flaky.outcome.output)")
    let fixed = try check(["--runs", "3"], script.replacingOccurrences(of: "n % 2 * 3", with: "0"))
    #expect(fixed.outcome.end == .exit(0) && fixed.runs == 3, "\(fixed)")
    #expect(fixed.outcome.output.contains("Fixed: 1 gone"), "\(fixed.outcome.output)")
    // A run that fails is the last one, and its status is the command's.
    let failing = try check(["--runs", "3"], "echo 1 > runs; \"$0\" 20 0; exit 9")
    #expect(failing.outcome.end == .exit(9) && failing.runs == 1, "\(failing)")
    #expect(try shop.run(["check", "--runs", "2", "--", shop.program]).end == .exit(64))
    #expect(try shop.run(["check", "--against", old, "--runs", "0", "--", shop.program]).end == .exit(64))
  }

  @Test func eachRunInheritsTheSameSignals() throws {
    let shop = try Shop()
    let old = try shop.record("20 20")
    let script = "grep '^Sig[BI]' /proc/self/status >> states; exec \"$0\" 20 0"
    let outcome = try shop.run(
      ["check", "--against", old, "--runs", "3", "--only", "fixed-shop", "--", "/bin/sh", "-c", script, shop.program])
    #expect(outcome.end == .exit(0), "\(outcome)")
    let lines = try String(contentsOfFile: shop.directory.path + "/states", encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 6 && Set(lines).count == 2, "\(lines)")
  }
}
