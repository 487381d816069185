// Colours of reports: they are used on a terminal only, and do not change the columns.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder), .requires(.program("script")), .serialized) struct ColorTests {
  private static let proven = "\u{1B}[1;31m", suspected = "\u{1B}[1;35m", fix = "\u{1B}[1;32m", end = "\u{1B}[0m"

  /// Returns the output of a command on a terminal with so many columns. The terminal changes the line endings.
  private func shown(
    _ arguments: [String], columns: Int = 100, _ variables: [String: String] = [:]
  ) throws -> String {
    let words = ([BuildProducts.leaktrace] + arguments).map { "'\($0)'" }.joined(separator: " ")
    var command = Command([
      "script", "-q", "-e", "-c", "stty cols \(columns) rows 40; \(words) 2>/dev/null", "/dev/null",
    ])
    command.environment["TERM"] = "xterm"
    command.environment["NO_COLOR"] = nil
    command.environment.merge(variables) { $1 }
    return try command.run().output.replacing("\r\n", with: "\n")
  }

  private func piped(_ arguments: [String]) throws -> String {
    try Command([BuildProducts.leaktrace] + arguments).run().output
  }

  private func plain(_ text: String) throws -> String { text.replacing(try Regex("\u{1B}\\[[0-9;]*m"), with: "") }

  @Test(arguments: [60, 80, 120]) func terminalGetsColorsAndTheSameColumns(columns: Int) throws {
    let feed = try RecordedFeed.shared()
    let subject = try #require(feed.findings.first { $0.verdict == "retainCycle" }).title
      .split(separator: " ")[0]
    for arguments in [
      ["analyze", feed.trace], ["why", feed.trace, String(subject)], ["diff", feed.trace, feed.trace],
      ["watch", "--from", feed.directory.path, "--fail-on", "none"], ["history", feed.trace, String(subject)],
    ] {
      let text = try shown(arguments, columns: columns)
      #expect(text.contains("\u{1B}["), "\(arguments): \(text)")
      #expect(try plain(text) == piped(arguments + ["--width", "\(columns)"]), "\(arguments)")
      #expect(try !piped(arguments + ["--width", "\(columns)"]).contains("\u{1B}"))
    }
  }

  @Test func provenLeaksSuspicionsAndFixesHaveDifferentColors() throws {
    let feed = try RecordedFeed.shared()
    let text = try shown(["analyze", feed.trace, "--limit", "1"])
    #expect(text.contains("\(Self.proven)RETAIN CYCLE\(Self.end)\u{1B}[1m  TimelineViewModel ↺\(Self.end)"), "\(text)")
    #expect(text.contains("  \(Self.fix)Fix:\(Self.end) "))
    #expect(text.contains("\u{1B}[1mLeaks:\(Self.end) \(Self.proven)"))
    // The certainty is coloured in the first line, and at the beginning of each finding.
    let proofs = feed.findings.filter { $0.certainty == "proven" }.count
    let suspicions = feed.findings.filter { $0.certainty == "suspected" }.count
    #expect(proofs > 0 && suspicions > 0)
    #expect(text.contains("\(Self.proven)proven\(Self.end),"))
    #expect(text.contains("\(Self.suspected)suspected\(Self.end),"))
    #expect(text.components(separatedBy: "\n\(Self.proven)").count == proofs + 1)
    #expect(text.components(separatedBy: "\n\(Self.suspected)").count == suspicions + 1)
    // No other colour is used.
    let sequences = Set(text.matches(of: try Regex("\u{1B}\\[[0-9;]*m")).map { String(text[$0.range]) })
    #expect(sequences.isSubset(of: [Self.proven, Self.suspected, Self.fix, Self.end, "\u{1B}[1m", "\u{1B}[2m"]))
  }

  @Test func everyCommandThatShowsFindingsUsesColors() throws {
    let feed = try RecordedFeed.shared()
    let clean = feed.directory.path + "/clean/feed.trace"
    try FileManager.default.createDirectory(
      atPath: feed.directory.path + "/clean", withIntermediateDirectories: false)
    let fixed = try TestProgram(
      named: "feed-client", sources: ["feed-client/shared", "feed-client/clean"], flags: ["-swift-version", "5"]
    ).path()
    let leaky = try TestProgram(
      named: "feed-client", sources: ["feed-client/shared", "feed-client/leaky"], flags: ["-swift-version", "5"]
    ).path()
    #expect(
      try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", clean, "--", fixed, "10"]).run().end == .exit(0))
    let diff = try shown(["diff", clean, feed.trace])
    #expect(diff.contains("\(Self.proven)NEW\(Self.end) \(Self.proven)LEAK:\(Self.end) "), "\(diff)")
    #expect(diff.contains("\(Self.proven)RETAIN CYCLE\(Self.end)") && diff.contains("\(Self.fix)Fix:\(Self.end) "))
    let watch = try shown(["watch", "--from", feed.directory.path, "--fail-on", "none"])
    #expect(watch.contains("\(Self.proven)RETAIN CYCLE\(Self.end)"), "\(watch)")
    let check = try shown(["check", "--fail-on", "none", "--", leaky, "10"])
    #expect(check.contains("\(Self.proven)RETAIN CYCLE\(Self.end)"), "\(check)")
    // Only the leak itself refers to the object.
    let why = try shown(["why", feed.trace, "TimelineViewModel"])
    #expect(why.contains("\(Self.proven)nothing: it is leaked, or only a leak holds it\(Self.end)"), "\(why)")
    let waiting = try InspectionTests.Waiting("inspected.swift")
    defer { kill(waiting.processID, SIGKILL) }
    let inspected = try shown(["inspect", String(waiting.processID)])
    #expect(inspected.contains(Self.proven), "\(inspected)")
  }

  @Test func noColorAndDumbTerminalsDisableColors() throws {
    let feed = try RecordedFeed.shared()
    let plain = try piped(["analyze", feed.trace, "--width", "100"])
    #expect(!plain.contains("\u{1B}"))
    for variables in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      #expect(try shown(["analyze", feed.trace], variables) == plain, "\(variables)")
      let forced = try shown(["analyze", feed.trace, "--color", "always"], variables)
      #expect(try forced.contains(Self.proven) && self.plain(forced) == plain, "\(variables)")
    }
    // An empty NO_COLOR has no effect.
    #expect(try shown(["analyze", feed.trace], ["NO_COLOR": ""]).contains(Self.proven))
    #expect(try shown(["analyze", feed.trace, "--color", "never"]) == plain)
    #expect(try shown(["analyze", feed.trace, "--color=auto"]).contains(Self.proven))
  }

  @Test func pipesGetColorsOnRequestAndFilesNever() throws {
    let feed = try RecordedFeed.shared()
    let file = feed.directory.path + "/report.txt"
    let text = try piped(["analyze", feed.trace, "--color", "always", "--write", "text=" + file])
    #expect(text.contains(Self.proven))
    #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("\u{1B}"))
    for format in ["json", "markdown", "github", "sarif", "junit"] {
      #expect(try !piped(["analyze", feed.trace, "--color", "always", "--format", format]).contains("\u{1B}"))
    }
    let refused = try Command([BuildProducts.leaktrace, "analyze", feed.trace, "--color", "alwyas"]).run()
    #expect(refused.end == .exit(64) && refused.errorOutput.contains("Did you mean 'always'?"))
  }
}
