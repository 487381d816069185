// Recordings whose trace has a size limit: the events recorded before the limit, and the later images.

import CTraceFormat
import Foundation
import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder), .serialized) struct TraceLimitTests {
  struct Way: CustomTestStringConvertible {
    var name: String
    var threads: Int
    var testDescription: String { "\(name), \(threads) threads" }

    /// The requests of each thread: so many that all threads still work after the limit.
    var requests: Int { 400_000 / threads }
    /// The number of cycles that the process leaks.
    var leaked: Int { name.hasPrefix("leaks") ? threads * (requests / 500) : 0 }
  }

  private struct Recorded {
    var outcome: Command.Outcome
    var traces: [RecordedTrace]
    /// The directory of the traces. They are removed with this object.
    var directory: TemporaryDirectory
  }

  private static func record(_ way: Way, _ options: [String] = []) throws -> Recorded {
    let directory = try TemporaryDirectory()
    let outcome = try Command(
      [BuildProducts.leaktrace, "record", "--limit", "1MiB", "--sample", "64KiB", "-o", directory.path + "/%p.trace"]
        + options + ["--", try TestProgram("passes-limit.swift").path(), way.name, "\(way.threads)", "\(way.requests)"]
    ).run()
    #expect(outcome.end == .exit(0) && outcome.output == "done\n", "\(outcome.end) \(outcome.errorOutput)")
    return Recorded(outcome: outcome, traces: try TracedRun.traces(in: directory), directory: directory)
  }

  /// The parts of `analyze`'s report on one part of a trace that the tests read.
  private struct Part {
    var findings: [String] = []
    var isLight: Bool
    var lastImageBefore: Int?
    var text: String

    init(_ trace: String, snapshot: Int? = nil) throws {
      let choice = snapshot.map { ["--snapshot", "\($0)"] } ?? []
      let outcome = try Command([BuildProducts.leaktrace, "analyze", trace, "--format", "json"] + choice).run()
      try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
      let report = try #require((document["reports"] as? [[String: Any]])?.first)
      for finding in try #require(report["findings"] as? [[String: Any]])
      where finding["library"] as? Bool != true && finding["strength"] as? String != "weak" {
        findings.append("\(finding["verdict"] ?? "") \(finding["title"] ?? "") × \(finding["instances"] ?? "")")
      }
      let process = try #require((report["traces"] as? [[String: Any]])?.first)
      isLight = process["isLight"] as? Bool ?? false
      lastImageBefore = (process["limit"] as? [String: Any])?["lastImageBefore"] as? Int
      // The text of the report without line breaks.
      let words = try Command([BuildProducts.leaktrace, "analyze", trace] + choice).run().output
      text = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
  }

  /// Returns the numbers of events that threads wrote before and after the limit.
  private static func events(_ path: String) throws -> (before: Int, after: Int) {
    let reader = try TraceReader(path: path)
    let limit = try #require(reader.definitions.limit)
    var (before, after) = (0, 0)
    try reader.forEachEvent { event in
      if event.thread == LT_THREAD_OF_LISTS { return }
      if event.time > limit.time { after += 1 } else { before += 1 }
    }
    return (before, after)
  }

  private static func check(_ trace: RecordedTrace, _ way: Way) throws {
    #expect(trace.state == .closed(.exit))
    let last = try Part(trace.path)
    let expected = way.leaked > 0 ? ["retainCycle Screen ↺ × \(way.leaked)"] : []
    #expect(last.isLight && last.findings == expected, "\(last.findings)")
    #expect(last.text.contains("the trace reached its limit of 1.00 MiB"), "\(last.text)")
    let number = try #require(last.lastImageBefore)
    let first = try Part(trace.path, snapshot: number)
    #expect(!first.isLight && first.text.contains("this part was recorded up to then"), "\(first.text)")
    // At that time, the program still holds the panes, and has leaked only some of the screens. A thread's last screen
    // may still be referenced from its stack, and is then only suspected.
    let proven = first.findings.filter { $0.hasPrefix("retainCycle Screen ↺") }
    #expect(proven.count == (way.leaked > 0 ? 1 : 0), "\(first.findings)")
    #expect(first.findings.allSatisfy { $0.contains(" Screen ") && way.leaked > 0 }, "\(first.findings)")
    // Events after the limit are of calls that were in progress, and of calls before the switching thread runs. Most of
    // the program's work comes later.
    let events = try Self.events(trace.path)
    #expect(events.after < events.before / 2, "\(events)")
  }

  @Test(
    "A trace at its limit keeps its events, and later images are correct",
    arguments: TestTier.arguments(
      [Way(name: "clean", threads: 1), Way(name: "leaks", threads: 16)],
      of: [
        Way(name: "leaks", threads: 1), Way(name: "clean", threads: 1), Way(name: "leaks", threads: 16),
        Way(name: "clean", threads: 16),
      ]))
  func limit(_ way: Way) throws {
    let run = try Self.record(way)
    defer { withExtendedLifetime(run.directory) {} }
    let (outcome, traces) = (run.outcome, run.traces)
    #expect(outcome.errorOutput.components(separatedBy: "has reached its limit").count == 2, "\(outcome.errorOutput)")
    let trace = try #require(traces.first)
    #expect(traces.count == 1)
    try Self.check(trace, way)
    #expect(!outcome.errorOutput.contains("warning"), "\(outcome.errorOutput)")
    let history = try Command([BuildProducts.leaktrace, "history", trace.path, "Pane"]).run()
    #expect(history.end == .exit(0), "\(history.errorOutput)")
  }

  @Test(
    "Children forked during the limit have correct traces",
    arguments: TestTier.arguments(["leaks-forks"], of: ["leaks-forks", "clean-forks"]))
  func forks(name: String) throws {
    let way = Way(name: name, threads: 4)
    let run = try Self.record(way, ["--follow-children"])
    defer { withExtendedLifetime(run.directory) {} }
    let traces = run.traces
    // A child that only exits leaves no trace.
    #expect(traces.count == 2 && traces.allSatisfy { $0.state == .closed(.exit) })
    let parent = try #require(traces.first)
    try Self.check(parent, way)
    for child in traces.dropFirst() {
      let part = try Part(child.path)
      // In a child, the objects that the parent's other threads held are lost, because the child does not have those
      // threads.
      let others = part.findings.filter { !$0.hasPrefix("lost Session ") }
      #expect(others.allSatisfy { $0.hasPrefix("retainCycle Screen ↺") && way.leaked > 0 }, "\(part.findings)")
    }
  }

  @Test("A trace below its limit equals one without a limit") func unreached() throws {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let outcome = try Command(
      [BuildProducts.leaktrace, "record", "--limit", "1GiB", "-o", directory.path + "/%p.trace", "--"]
        + [try TestProgram("passes-limit.swift").path(), "leaks", "2", "1000"]
    ).run()
    #expect(outcome.end == .exit(0) && !outcome.errorOutput.contains("limit"))
    let part = try Part(try #require(try TracedRun.traces(in: directory).first).path)
    #expect(!part.isLight && part.lastImageBefore == nil && part.findings == ["retainCycle Screen ↺ × 4"])
  }
}
