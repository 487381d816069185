// Names in the trace: reports stay the same, whatever happens to the program's file.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct StoredNameTests {
  /// The leaky feed client in a temporary directory, where a test may move, replace and delete the program.
  private struct Feed {
    let directory: TemporaryDirectory
    let program: String
    let trace: String

    init(names: Bool = true, preloaded: Bool = false) throws {
      directory = try TemporaryDirectory()
      program = directory.path + "/feed-client"
      trace = directory.path + "/feed.trace"
      try FileManager.default.copyItem(atPath: Self.variant("leaky").path(), toPath: program)
      var command = Command([program, "10"])
      if preloaded {
        command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
        command.environment["LEAKTRACE_OUTPUT"] = trace
      } else {
        command.arguments =
          [BuildProducts.leaktrace, "record", "--quiet"] + (names ? [] : ["--no-names"]) + ["-o", trace, "--"]
          + command.arguments
      }
      let outcome = try command.run()
      try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    }

    static func variant(_ name: String) -> TestProgram {
      TestProgram(
        named: "feed-client", sources: ["feed-client/shared", "feed-client/\(name)"], flags: ["-swift-version", "5"])
    }

    /// Returns the standard output of all commands whose reports contain names.
    func reports() throws -> [String: String] {
      let digest = directory.path + "/feed.digest"
      let commands = [
        ["analyze", "--limit", "0", "--explain", trace], ["analyze", "--format", "json", "--limit", "0", trace],
        ["analyze", "--format", "sarif", trace], ["why", trace, "ConversationViewModel"],
        ["history", trace, "TimelineViewModel"], ["export", trace, "--format", "collapsed"],
        ["query", trace, "SELECT * FROM findings"], ["digest", trace, "-o", digest],
      ]
      var reports: [String: String] = [:]
      for command in commands {
        let outcome = try Command([BuildProducts.leaktrace] + command).run()
        reports[command[0] + (command.contains("json") ? " json" : "")] = "\(outcome.end)\n\(outcome.output)"
      }
      reports["digest file"] = try String(contentsOfFile: digest, encoding: .utf8)
      return reports
    }
  }

  @Test("Reports stay equal byte for byte after the program is moved, replaced or deleted")
  func equalReports() throws {
    let feed = try Feed()
    let before = try feed.reports()
    #expect(before["analyze"]?.contains("TimelineViewModel.swift:17") ?? false)
    try FileManager.default.moveItem(atPath: feed.program, toPath: feed.program + ".moved")
    #expect(try feed.reports() == before, "moved")
    try FileManager.default.copyItem(atPath: Feed.variant("clean").path(), toPath: feed.program)
    #expect(try feed.reports() == before, "replaced")
    try FileManager.default.removeItem(atPath: feed.program)
    #expect(try feed.reports() == before, "deleted")
  }

  @Test("'leaktrace names' stores a bare preload's names, equal to the file's")
  func preloaded() throws {
    let feed = try Feed(preloaded: true)
    let before = try feed.reports()
    let outcome = try Command([BuildProducts.leaktrace, "names", feed.trace]).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    try FileManager.default.removeItem(atPath: feed.program)
    let after = try feed.reports()
    // These reports contain the size of the trace, which has changed.
    for name in before.keys where name != "analyze json" && !name.hasPrefix("digest") {
      #expect(before[name] == after[name], "\(name)")
    }
  }

  @Test(
    "Without stored names, the report of a replaced program lacks lines and field advice, with the reason")
  func withoutNames() throws {
    let feed = try Feed(names: false)
    #expect(try feed.reports()["analyze"]?.contains("TimelineViewModel.swift:17") ?? false)
    try FileManager.default.removeItem(atPath: feed.program)
    try FileManager.default.copyItem(atPath: Feed.variant("clean").path(), toPath: feed.program)
    for reason in ["is not the file that ran", "was not found"] {
      let report = try Command([BuildProducts.leaktrace, "analyze", feed.trace]).run().output
      #expect(!report.contains("TimelineViewModel.swift:17") && report.contains(reason), "\(report)")
      // The report has the cycle, but cannot say which reference to change.
      let cycle = report.components(separatedBy: "RETAIN CYCLE").dropFirst().first?.components(
        separatedBy: "Fingerprint:")
      #expect(cycle?.first?.contains("Fix:") == false, "\(report)")
      try? FileManager.default.removeItem(atPath: feed.program)
    }
  }

  @Test("A comparison with a replaced program's trace is refused unless the trace has names")
  func comparison() throws {
    for hasNames in [true, false] {
      let old = try Feed(names: hasNames)
      let new = try Feed()
      try FileManager.default.removeItem(atPath: old.program)
      try FileManager.default.copyItem(atPath: Feed.variant("clean").path(), toPath: old.program)
      let outcome = try Command([BuildProducts.leaktrace, "diff", "--fail-on", "new-leaks", old.trace, new.trace]).run()
      #expect(outcome.end == .exit(hasNames ? 0 : 3), "\(outcome.output)\(outcome.errorOutput)")
      #expect(outcome.errorOutput.contains("is another build than the one that was recorded") == !hasNames)
    }
  }

  @Test("Names that cannot be stored leave the trace unchanged, and the exit status shows it")
  func refused() throws {
    let feed = try Feed(names: false)
    let before = try Data(contentsOf: URL(fileURLWithPath: feed.trace))
    let missing = try Command([BuildProducts.leaktrace, "names", feed.directory.path + "/none.trace"]).run()
    #expect(missing.end == .exit(3))
    // A limit on the size of files acts like a full disk.
    let blocks = before.count / 1024 + 64
    let full = try Command([
      "/bin/bash", "-c", "trap '' XFSZ; ulimit -f \(blocks); exec \"$0\" names \"$1\"", BuildProducts.leaktrace,
      feed.trace,
    ]).run()
    #expect(full.end == .exit(5), "\(full.errorOutput)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: feed.trace)) == before)
  }
}
