// Repeated work that leaves objects behind each time is proven to grow, and other work is not.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.serialized, .requires(.recorder)) struct RepetitionTests {
  struct Growth: Equatable, CustomStringConvertible {
    var type: String
    var holder: String
    /// The numbers of objects after rounds 2 to 6.
    var counts: [Int]
    var description: String { "\(type) by \(holder): \(counts)" }
  }

  static let growing: [(work: String, growth: Growth)] = [
    ("registry", Growth(type: "Screen", holder: "Navigator.history", counts: [4, 6, 8, 10, 12])),
    ("dictionary", Growth(type: "[String: Int]", holder: "Navigator.visits", counts: [20, 30, 40, 50, 60])),
    ("set", Growth(type: "Set<Int>", holder: "Navigator.seen", counts: [20, 30, 40, 50, 60])),
    ("closures", Growth(type: "closure", holder: "Navigator.handlers", counts: [6, 9, 12, 15, 18])),
    ("lines", Growth(type: "[String]", holder: "log", counts: [10, 15, 20, 25, 30])),
    ("observers", Growth(type: "Observer", holder: "NotificationCenter.default", counts: [4, 6, 8, 10, 12])),
    ("list", Growth(type: "Node", holder: "Chain.first", counts: [8, 12, 16, 20, 24])),
    ("backlog", Growth(type: "[AnyObject]", holder: "Backlog.jobs", counts: [4, 6, 8, 10, 12])),
    ("timers", Growth(type: "Ticker", holder: "a DispatchSource timer", counts: [2, 3, 4, 5, 6])),
    ("later", Growth(type: "Screen", holder: "work scheduled by DispatchQueue.asyncAfter", counts: [2, 3, 4, 5, 6])),
    ("sleepers", Growth(type: "Screen", holder: "a task started in sleepers()", counts: [2, 3, 4, 5, 6])),
    ("actors", Growth(type: "Screen", holder: "Store.sessions", counts: [12, 18, 24, 30, 36])),
  ]
  static let clean = [
    "bounded", "recentlyUsed", "filling", "pooled", "lazies", "garbage", "pending", "pendingTasks", "blocked",
    "buffered", "generics", "children", "collected",
  ]

  static let optimisations = TestTier.arguments(["-O"], of: ["-Onone", "-O"])

  /// The first tier tests one argument in three.
  private static func part<Argument>(_ all: [Argument]) -> [Argument] {
    TestTier.arguments(stride(from: 0, to: all.count, by: 3).map { all[$0] }, of: all)
  }

  private func program(_ flags: [String]) throws -> String {
    try LeakTraceLibrary.program("rounds.swift", flags: flags).path()
  }

  /// Returns the growth that `analyze` reports.
  private func growth(_ work: String, flags: [String]) throws -> [Growth] {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/rounds.trace"
    let recording = try Command([
      BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try program(flags), work,
    ]).run()
    try #require(recording.end == .exit(0), "\(recording.errorOutput)")
    let command = Command([BuildProducts.leaktrace, "analyze", "--format", "json", "--limit", "1", trace])
    let analysis = try command.run()
    try #require(analysis.end == .exit(0), "\(analysis.errorOutput)")
    let findings = try #require(try VerdictReport.read(analysis.output).findings)
    return try findings.filter { $0.verdict == "growing" }.map { finding in
      let outliving = try #require(finding.outliving)
      #expect(outliving.statement?.kind == "repetition" && outliving.statement?.name == work && outliving.snapshot == 6)
      return Growth(type: finding.path.last?.type ?? "", holder: outliving.holder, counts: outliving.growth)
    }
  }

  @Test(
    "Growth per round is reported once, with its holder and counts", arguments: part(growing), optimisations)
  func grows(expected: (work: String, growth: Growth), optimisation: String) throws {
    #expect(try growth(expected.work, flags: [optimisation]) == [expected.growth], "\(expected.work)")
  }

  @Test("Bounded, one-time and temporary objects are not growth", arguments: part(clean), optimisations)
  func growsNot(work: String, optimisation: String) throws {
    #expect(try growth(work, flags: [optimisation]) == [], "\(work)")
  }

  @Test("Without a recorder, the work is repeated, and errors are passed on") func unrecorded() throws {
    let outcome = try Command([try program(["-O"]), "throws"]).run()
    #expect(outcome == Command.Outcome(end: .exit(0), output: "thrown after 3\n", errorOutput: "", timedOut: false))
  }

  @Test("Too few rounds give images and a note, but no verdict") func tooFew() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/rounds.trace"
    let recording = try Command([
      BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try program(["-O"]), "throws",
    ]).run()
    #expect(recording.end == .exit(0) && recording.output == "thrown after 3\n")
    #expect(
      try TraceReader(path: trace).snapshots.filter { $0.reason == .round }.map(\.label) == [
        "throws", "throws", "suspends", "suspends",
      ])
    let text = try Command([BuildProducts.leaktrace, "analyze", "--width", "200", trace]).run().output
    #expect(text.contains("note: repetition \"throws\": 2 rounds with a heap image; growth is judged from 5 on"))
  }

  // MARK: From outside

  /// Runs `check` on a program that works on request. A script makes the requests, and marks the end of each round.
  private func check(_ work: String, marking: String, rounds: Int = 6, options: [String] = []) throws -> Command.Outcome
  {
    let directory = try TemporaryDirectory()
    let (requests, answers) = (directory.path + "/requests", directory.path + "/answers")
    try #require(mkfifo(requests, 0o600) == 0 && mkfifo(answers, 0o600) == 0)
    let script = """
      exec 3>\(requests) 4<\(answers)
      for i in $(seq \(rounds)); do echo work >&3; read answer <&4; \(marking); done
      """
    var command = Command(
      [BuildProducts.leaktrace, "check", "--width", "200"] + options
        + ["--until", script, "--", try program(["-O"]), "served", work, requests, answers])
    command.environment["TMPDIR"] = directory.path
    return try command.run()
  }

  @Test("A signal ends a round, and growth fails the check") func bySignal() throws {
    let leaky = try check("registry", marking: "kill -USR2 $LEAKTRACE_PID", options: ["--repeat-signal", "USR2"])
    #expect(leaky.end == .exit(1), "\(leaky.errorOutput)")
    #expect(
      leaky.output.contains("GROWS WITH EACH ROUND  Screen")
        && leaky.output.contains("after rounds 2 to 6: 4 → 6 → 8 → 10 → 12."), "\(leaky.output)")
    let clean = try check("bounded", marking: "kill -USR2 $LEAKTRACE_PID", options: ["--repeat-signal", "USR2"])
    #expect(clean.end == .exit(0), "\(clean.output)\(clean.errorOutput)")
  }

  @Test("leaktrace snapshot --round ends a round as well") func bySnapshot() throws {
    let outcome = try check("dictionary", marking: "\(BuildProducts.leaktrace) snapshot --round $LEAKTRACE_PID")
    #expect(outcome.end == .exit(1), "\(outcome.errorOutput)")
    #expect(outcome.output.contains("Elements after rounds 2 to 6: 20 → 30 → 40 → 50 → 60."), "\(outcome.output)")
  }

  @Test("Requested rounds that never come fail the check, whatever else is found") func noRounds() throws {
    let outcome = try check("garbage", marking: "true", rounds: 2, options: ["--repeat-signal", "USR2"])
    #expect(outcome.end == .exit(3))
    #expect(outcome.errorOutput.contains("no process got the signal of --repeat-signal 5 times"))
  }

  @Test("A program's own handler of the signal is kept") func handled() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/rounds.trace"
    let outcome = try Command(
      [
        BuildProducts.leaktrace, "record", "--quiet", "--repeat-signal", "USR2", "-o", trace, "--", try program(["-O"]),
        "handles",
      ]
    ).run()
    #expect(outcome == Command.Outcome(end: .exit(0), output: "handled 6\n", errorOutput: "", timedOut: false))
    #expect(!(try TraceReader(path: trace)).snapshots.contains { $0.reason == .round })
  }

  @Test("The snapshot signal cannot end rounds") func sameSignal() throws {
    for options in [
      ["--repeat-signal", "62"], ["--repeat-signal", "USR1", "--snapshot-signal", "USR1"],
      ["--repeat-signal", "USR1", "--no-snapshots"],
    ] {
      #expect(try Command([BuildProducts.leaktrace, "record"] + options + ["--", "/bin/true"]).run().end == .exit(64))
    }
  }

  // MARK: Tests

  @Test("Tests whose own objects grow with each repetition fail") func traits() throws {
    let directory = try TemporaryDirectory()
    let path = try LeakTraceLibrary.tests("growing-tests.swift").path()
    let arguments = TracedRun.recordArguments(directory) + [path]
    let outcome = try Command(arguments).run()
    #expect(outcome.end == .exit(1))
    let output = outcome.output + outcome.errorOutput
    let failed = Set(output.matches(of: /Test ([A-Za-z]+)[^ ]* recorded an issue/).map { String($0.output.1) })
    #expect(
      failed == ["forgetsScreens", "forgetsScreensOfChildTasks", "writesDownEachVisit", "isNotRepeatedOftenEnough"],
      "\(output)")
    #expect(output.contains("after rounds 2 to") && output.contains("3 rounds are too few"))
    #expect(try Command([path]).run().end == .exit(0))
    // The tests have already checked themselves. The objects that the tests share belong to none of them.
    let trace = try #require(try TracedRun.traces(in: directory).first)
    let analysis = try Command([BuildProducts.leaktrace, "analyze", trace.path]).run()
    #expect(
      !analysis.output.contains("GROWS") && !analysis.output.contains("Scopes and expectations"), "\(analysis.output)")
  }

  @Test("Tests of XCTest whose objects grow fail as well") func assertions() throws {
    let directory = try TemporaryDirectory()
    let path = try LeakTraceLibrary.tests("growing-xctests.swift").path()
    let outcome = try Command(TracedRun.recordArguments(directory) + [path]).run()
    let output = outcome.output + outcome.errorOutput
    let failed = Set(
      output.matches(of: /error: GrowingTests\.([A-Za-z]+) : failed - grew: GROWS WITH EACH ROUND/).map {
        String($0.output.1)
      })
    #expect(failed == ["testGrows", "testGrowsLater"], "\(output)")
    #expect(try Command([path]).run().end == .exit(0))
  }
}
