// Tests of `watch`: the suspects, the objects that are not suspected, and how a watch ends.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.command), .serialized) struct WatchTests {
  /// One mode of Tests/Programs/watched.swift, and the expected report. The expectations were written before the first
  /// run.
  struct Way: CustomTestStringConvertible {
    var testDescription: String
    /// Types and holders, in the form `Session in Server.sessions`.
    var suspects: [String] = []
    /// Verdicts and titles of proven leaks.
    var proven: [String] = []
  }

  static let allWays = [
    Way(testDescription: "registry", suspects: ["Session in Server.sessions"]),
    Way(testDescription: "fluctuating-registry", suspects: ["Session in Server.sessions"]),
    Way(testDescription: "observers", suspects: ["Session in Bus.observers"]),
    Way(testDescription: "delayed", suspects: ["Session in variables of libdispatch.so"]),
    Way(testDescription: "log", suspects: ["String storage in Server.log"]),
    Way(testDescription: "cycles", proven: ["retainCycle Screen ↺"]),
    Way(testDescription: "cache"), Way(testDescription: "small-cache"), Way(testDescription: "pool"),
    Way(testDescription: "backlog"), Way(testDescription: "emptied-log"), Way(testDescription: "sessions"),
    Way(testDescription: "steps"), Way(testDescription: "ring"), Way(testDescription: "names"),
    Way(testDescription: "idle"),
  ]

  /// The first tier tests a leak of each kind, and a cache that does not leak.
  private static let testedWays = TestTier.arguments(
    allWays.filter { ["registry", "cycles", "small-cache"].contains($0.testDescription) }, of: allWays)

  struct Report: Decodable {
    struct Row: Decodable {
      var name: String
      var holder: String
      var counts: [UInt64]
    }
    struct Proven: Decodable {
      var verdict: String
      var title: String
      var instances: [Int]
      var isLibrary: Bool
    }
    /// Nil in a report that is part of another document.
    var schema: String?
    var processID: Int32
    var imagesTaken: Int
    var suspects: [Row]
    var grown: [Row]
    var proven: [Proven]
    var remarks: [String]

    init(_ text: String) throws { self = try JSONDecoder().decode(Report.self, from: Data(text.utf8)) }
  }

  private static func watch(_ target: String, _ options: [String]) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace, "watch", target, "--format", "json"] + options).run()
  }

  @Test("A watch names leaks and no correct code", arguments: testedWays)
  func ways(_ way: Way) throws {
    let program = try InspectionTests.Waiting("watched.swift", [way.testDescription])
    let traces = program.directory.path + "/traces"
    let live = try Self.watch(
      String(program.processID), ["--every", "1s", "--count", "12", "-o", traces, "--keep", "12"])
    let report = try Report(live.output)
    #expect(report.schema == "leaktrace.watch" && report.processID == program.processID && report.imagesTaken == 12)
    #expect(report.suspects.map { "\($0.name) in \($0.holder)" } == way.suspects, "\(report.suspects) \(report.grown)")
    let proven = report.proven.filter { !$0.isLibrary }
    #expect(proven.map { "\($0.verdict) \($0.title)" } == way.proven)
    #expect(proven.allSatisfy { $0.instances.count == 12 && $0.instances.last! > $0.instances.first! })
    #expect(live.end == .exit(way.suspects.isEmpty && way.proven.isEmpty ? 0 : 1), "\(live.errorOutput)")
    // The kept traces give the same report.
    let later = try Command([BuildProducts.leaktrace, "watch", "--from", traces, "--format", "json"]).run()
    let again = try Report(later.output)
    #expect(again.suspects.map(\.holder) == report.suspects.map(\.holder) && later.end == live.end)
    #expect(again.suspects.map(\.counts) == report.suspects.map(\.counts))
    #expect(program.children.isEmpty && program.states == ["TracerPid:\t0"])
    #expect(try program.end(SIGTERM).outcome.end == .signal(SIGTERM))
  }

  private struct Queues: Decodable {
    struct Queue: Decodable {
      struct Earlier: Decodable {
        var count: Int
        var left: Int
      }
      struct Thread: Decodable { var blockedIn: String? }
      var type: String
      var count: Int
      var earlier: Earlier
      var thread: Thread?
    }
    var queues: [Queue]
  }

  @Test("A watch names the actor whose queue only grows", arguments: ["blocked", "busy"])
  func queues(way: String) throws {
    let program = try InspectionTests.Waiting(
      TestProgram(named: "actor-queues", sources: ["actor-queues.swift"], flags: ["-parse-as-library"]), [way])
    defer { _ = try? program.end(SIGKILL) }
    let traces = program.directory.path + "/traces"
    // In a second, fifty tasks come to the queue of the blocked actor.
    let live = try Self.watch(
      String(program.processID), ["--every", "0.5s", "--count", "6", "-o", traces, "--fail-on", "new-leaks"])
    let later = Command([BuildProducts.leaktrace, "watch", "--from", traces, "--fail-on", "new-leaks"])
    for output in [live.output, try Command(later.arguments + ["--format", "json"]).run().output] {
      let queues = try JSONDecoder().decode(Queues.self, from: Data(output.utf8)).queues
      guard way == "blocked" else {
        #expect(queues.isEmpty, "\(queues)")
        continue
      }
      let queue = try #require(queues.first)
      #expect(queues.count == 1 && queue.type == "Printer" && queue.thread?.blockedIn == "semaphore", "\(queues)")
      #expect(queue.count >= queue.earlier.count + 8 && queue.earlier.left == 0, "\(queue)")
    }
    let told = live.errorOutput.split(separator: "\n").filter { $0.contains("growing queue: ") }
    let text = try later.run().output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if way == "blocked" {
      #expect(told.count == 1 && told[0].contains("wait for a turn on Printer"), "\(live.errorOutput)")
      #expect(text.contains("GROWING QUEUE") && text.contains("none of the earlier ones has had its turn"), "\(text)")
      #expect(text.contains("Printer.printPage()"), "\(text)")
    } else {
      #expect(told.isEmpty && !text.contains("QUEUE"), "\(told) \(text)")
    }
  }

  @Test("A watch ends with its process, and keeps at most the allowed traces") func endOfProcess() throws {
    let program = try InspectionTests.Waiting("watched.swift", ["idle"])
    let traces = program.directory.path + "/traces"
    let watching = try Command([
      BuildProducts.leaktrace, "watch", String(program.processID), "--every", "0.1s", "--format", "json",
      "--keep", "3", "-o", traces,
    ]).start()
    try AwaitedState.wait(until: "three traces are kept") { Self.traces(in: traces).count == 3 }
    // The fourth image replaces an older one. Its file exists before it is complete. The file of the fifth image shows
    // that the fourth is complete.
    try AwaitedState.wait(until: "a fifth image is begun") {
      Self.traces(in: traces).contains { $0 >= "image-000005" }
    }
    _ = try program.end(SIGKILL)
    let outcome = try watching.wait()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let report = try Report(outcome.output)
    #expect(report.remarks.contains("the process has ended"), "\(report.remarks)")
    #expect(report.imagesTaken >= 4)
    let kept = Self.traces(in: traces)
    #expect(kept.count == 3 && kept.first == "image-000001.lktrace", "\(kept)")
  }

  @Test(
    "A watch's page shows growth and the newest image, with or without kept traces",
    arguments: TestTier.arguments([false], of: [true, false]))
  func page(keepsTraces: Bool) throws {
    let program = try InspectionTests.Waiting("watched.swift", ["registry"])
    let traces = program.directory.path + "/traces"
    let outcome = try Command(
      [
        BuildProducts.leaktrace, "watch", String(program.processID), "--every", "0.2s", "--count", "12", "--format",
        "html", "--fail-on", "new-leaks",
      ] + (keepsTraces ? ["-o", traces] : [])
    ).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let data = try #require(outcome.output.firstRange(of: "id=\"data\">"))
    let end = try #require(outcome.output[data.upperBound...].firstRange(of: "</script>"))
    let json = Data(outcome.output[data.upperBound..<end.lowerBound].utf8)
    let page = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    let series = try #require(page["series"] as? [String: Any])
    #expect((series["images"] as? [[String: Any]])?.count == 12)
    #expect((page["processes"] as? [[String: Any]])?.count == 1)
    _ = try program.end(SIGKILL)
  }

  private static func traces(in directory: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).filter { $0.hasSuffix(".lktrace") }
      .sorted()
  }

  @Test("Ctrl-C ends a watch with its report, and the process continues") func interrupt() throws {
    let program = try InspectionTests.Waiting("watched.swift", ["idle"])
    let traces = program.directory.path + "/traces"
    let watching = try Command([
      BuildProducts.leaktrace, "watch", String(program.processID), "--every", "1h", "--format", "json", "-o", traces,
    ]).start()
    try AwaitedState.wait(until: "an image is taken") { !Self.traces(in: traces).isEmpty }
    watching.sendToGroup(SIGINT)
    let outcome = try watching.wait()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    #expect(try Report(outcome.output).imagesTaken == 1)
    #expect(program.states == ["TracerPid:\t0"] && program.children.isEmpty)
    #expect(try program.end(SIGTERM).outcome.end == .signal(SIGTERM))
  }

  /// Starts to watch a program, and returns once the watch has taken its first image.
  private static func watching(_ program: InspectionTests.Waiting) throws -> RunningCommand {
    let traces = program.directory.path + "/traces"
    let watching = try Command([
      BuildProducts.leaktrace, "watch", String(program.processID), "--every", "0.2s", "--format", "json", "-o", traces,
    ]).start()
    // The second image is begun after the first is complete.
    try AwaitedState.wait(until: "two images are begun") { Self.traces(in: traces).count > 1 }
    return watching
  }

  private static func isStopped(_ process: Int32) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    return status.contains("State:\tT")
  }

  @Test("A watch ends when its process becomes another program") func otherProgram() throws {
    let program = try InspectionTests.Waiting("becomes-another.swift")
    let watching = try Self.watching(program)
    kill(program.processID, SIGUSR1)
    let outcome = try watching.wait()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let report = try Report(outcome.output)
    #expect(report.remarks.contains { $0.hasPrefix("the process has become another program") }, "\(report.remarks)")
    #expect(report.imagesTaken > 0)
    #expect(program.states == ["TracerPid:\t0"] && program.children.isEmpty)
    #expect(try program.end(SIGTERM).outcome.end == .signal(SIGTERM))
  }

  @Test(
    "A watch ends when its process ID is reused", .enabled(if: geteuid() == 0, "Only root names numbers."))
  func otherProcess() throws {
    let program = try InspectionTests.Waiting("becomes-another.swift")
    let number = program.processID
    let watching = try Self.watching(program)
    // Stop the watch between two images, so that it sees one process first and then the other. No copy may live: a
    // copy's process group has the process's ID, which then cannot be reused.
    try AwaitedState.wait(until: "the watch stands still between two images") {
      watching.send(SIGSTOP)
      try AwaitedState.wait(until: "the watch is stopped") { Self.isStopped(watching.processID) }
      if program.children.isEmpty { return true }
      watching.send(SIGCONT)
      return false
    }
    _ = try program.end(SIGKILL)
    let other = try InspectionTests.Waiting("takes-number.c", [String(number)])
    #expect(other.processID == number)
    watching.send(SIGCONT)
    let outcome = try watching.wait()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let report = try Report(outcome.output)
    #expect(
      report.remarks.contains { $0.hasPrefix("the process has ended, and its number is another one's now") },
      "\(report.remarks)")
    #expect(report.imagesTaken > 0)
    #expect(try other.end(SIGKILL).outcome.end == .exit(0))
  }

  @Test("Two inspections of one process are compared by type and holder") func comparison() throws {
    let program = try InspectionTests.Waiting("watched.swift", ["registry"])
    let paths = ["first", "second"].map { program.directory.path + "/" + $0 }
    var live = 0
    for path in paths {
      let inspected = try Command([BuildProducts.leaktrace, "inspect", String(program.processID), "-o", path]).run()
      #expect(inspected.end == .exit(0), "\(inspected.errorOutput)")
      live += 1
      // Meanwhile the program makes hundreds of sessions.
      if live == 1 { sleep(3) }
    }
    let text = try Command([BuildProducts.leaktrace, "diff"] + paths).run()
    #expect(text.end == .exit(0), "\(text.errorOutput)")
    #expect(text.output.contains("one process, inspected twice within "), "\(text.output)")
    #expect(text.output.contains("Types and holders") && text.output.contains("held by Server.sessions"))
    // The digest of an inspection gives the same comparison.
    let digest = program.directory.path + "/digest"
    #expect(try Command([BuildProducts.leaktrace, "digest", paths[0], "-o", digest]).run().end == .exit(0))
    let fromDigest = try Command([BuildProducts.leaktrace, "diff", digest, paths[1]]).run()
    #expect(
      fromDigest.output.split(separator: "\n").dropFirst(2) == text.output.split(separator: "\n").dropFirst(2))
    // In the reverse order the number of objects falls.
    let reverse = try Command([BuildProducts.leaktrace, "diff", paths[1], paths[0], "--fail-on", "growth"]).run()
    #expect(reverse.end == .exit(0), "\(reverse.output)")
    #expect(
      try Command([BuildProducts.leaktrace, "diff"] + paths + ["--fail-on", "growth"]).run().end == .exit(1))
    _ = try program.end(SIGKILL)
  }

  @Test(
    "A process that cannot be watched gives one line of explanation",
    arguments: [["2147483647"], ["no-container"], ["--from", "/nowhere"]])
  func unwatchable(_ arguments: [String]) throws {
    let outcome = try Command([BuildProducts.leaktrace, "watch"] + arguments).run()
    #expect(outcome.end == .exit(3) && outcome.output.isEmpty)
    #expect(outcome.errorOutput.split(separator: "\n").count <= 2, "\(outcome.errorOutput)")
  }
}
