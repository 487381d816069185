// `leaktrace diff` and `digest` as commands: exit statuses, formats, and input that is not a recorded run.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct DiffCommandTests {
  /// Traces of the feed client with and without its leaks.
  private struct Feed {
    let directory: TemporaryDirectory
    var clean: String { directory.path + "/clean.trace" }
    var leaky: String { directory.path + "/leaky.trace" }

    init() throws {
      directory = try TemporaryDirectory()
      for variant in ["clean", "leaky"] {
        let program = TestProgram(
          named: "feed-client", sources: ["feed-client/shared", "feed-client/\(variant)"],
          flags: ["-swift-version", "5"])
        let recording = try Command([
          BuildProducts.leaktrace, "record", "--quiet", "-o", "\(directory.path)/\(variant).trace", "--",
          try program.path(), "10",
        ]).run()
        try #require(recording.end == .exit(0), "\(recording.errorOutput)")
      }
    }

    func run(_ arguments: [String]) throws -> Command.Outcome {
      var command = Command([BuildProducts.leaktrace] + arguments)
      command.directory = directory.path
      return try command.run()
    }

    func text(_ name: String) throws -> String {
      try String(contentsOfFile: "\(directory.path)/\(name)", encoding: .utf8)
    }
  }

  @Test func newFindingsFailAndFixedOnesDoNot() throws {
    let feed = try Feed()
    let worse = try feed.run(["diff", feed.clean, feed.leaky])
    #expect(worse.end == .exit(1))
    #expect(worse.output.contains("Leaks: 4 new, 0 unchanged"))
    #expect(worse.errorOutput.contains("gate failed: new-leaks: 1 new finding"))
    #expect(worse.errorOutput.contains("gate failed: new-suspects: 3 new strong suspicions"))
    let better = try feed.run(["diff", feed.leaky, feed.clean])
    #expect(better.end == .exit(0) && better.errorOutput == "")
    #expect(better.output.contains("Leaks: 4 gone, 0 unchanged"))
    #expect(try feed.run(["diff", "--fail-on", "none", feed.clean, feed.leaky]).end == .exit(0))
    #expect(try feed.run(["diff", "--fail-on", "growth:1KiB", feed.clean, feed.leaky]).end == .exit(1))
    #expect(try feed.run(["diff", "--fail-on", "growth:1GiB", feed.clean, feed.leaky]).end == .exit(0))
  }

  @Test func pipeIsRefusedWithoutWaiting() throws {
    let directory = try TemporaryDirectory()
    let pipe = directory.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    for arguments in [
      ["diff", pipe, pipe], ["digest", pipe, "-o", directory.path + "/d"], ["analyze", pipe],
      ["analyze", directory.path],
    ] {
      var command = Command([BuildProducts.leaktrace] + arguments)
      command.timeLimit = 30
      let outcome = try command.run()
      #expect(outcome.end == .exit(3) && !outcome.timedOut, "\(arguments): \(outcome.errorOutput)")
      if arguments.last != directory.path { #expect(outcome.errorOutput.contains("\(pipe) is no regular file")) }
    }
  }

  @Test func baselineFindingsAreNotNew() throws {
    let feed = try Feed()
    #expect(try feed.run(["analyze", "--baseline", "known.txt", "--update-baseline", feed.leaky]).end == .exit(0))
    let outcome = try feed.run(["diff", "--baseline", "known.txt", feed.clean, feed.leaky])
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
  }

  @Test func annotationsNameExistingLinesAndDocumentsAreValid() throws {
    let feed = try Feed()
    let outcome = try feed.run([
      "diff", "--format", "github", "--source-root", BuildProducts.packageRoot, "--write", "sarif=a.sarif", "--write",
      "junit=a.xml", "--write", "json=a.json",
      "--write", "markdown=a.md", "--write", "text=a.txt", feed.clean, feed.leaky,
    ])
    #expect(outcome.end == .exit(1))
    let errors = outcome.output.split(separator: "\n").filter { $0.hasPrefix("::error file=") }
    #expect(errors.count == 4)
    for error in errors {
      let fields = error.dropFirst("::error ".count).split(separator: ":", maxSplits: 1)[0].split(separator: ",")
      let file = try #require(fields.first { $0.hasPrefix("file=") }?.dropFirst(5))
      let line = try #require(fields.first { $0.hasPrefix("line=") }.flatMap { Int($0.dropFirst(5)) })
      let lines = try String(contentsOfFile: "\(BuildProducts.packageRoot)/\(file)", encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false)
      #expect(line >= 1 && line <= lines.count && !lines[line - 1].allSatisfy(\.isWhitespace), "\(error)")
    }
    let validation = try Command([
      BuildProducts.packageRoot + "/scripts/validate-formats", "\(feed.directory.path)/a.sarif",
      "\(feed.directory.path)/a.xml",
    ]).run()
    #expect(validation.end == .exit(0), "\(validation.output)\(validation.errorOutput)")
    let json = try #require(try JSONSerialization.jsonObject(with: Data(feed.text("a.json").utf8)) as? [String: Any])
    #expect(json["schema"] as? String == "leaktrace.diff")
    #expect(try feed.text("a.md").contains("4 new leaks") && feed.text("a.txt").contains("4 new"))
  }

  @Test func digestReplacesItsTraceAndProgram() throws {
    let feed = try Feed()
    for name in ["clean", "leaky"] {
      #expect(try feed.run(["digest", "\(name).trace", "-o", "\(name).digest"]).end == .exit(0))
    }
    let traces = try feed.run(["diff", "--format", "json", "--full-stacks", feed.clean, feed.leaky]).output
    try FileManager.default.removeItem(atPath: feed.clean)
    let digests = try feed.run(["diff", "--format", "json", "--full-stacks", "clean.digest", feed.leaky]).output
    #expect(digests.replacing("clean.digest", with: feed.clean) == traces)
  }

  @Test func processesOfARunAreSummed() throws {
    let feed = try Feed()
    let both = feed.directory.path + "/both"
    try FileManager.default.createDirectory(atPath: both, withIntermediateDirectories: true)
    for name in ["1", "2"] { try FileManager.default.copyItem(atPath: feed.leaky, toPath: "\(both)/\(name).trace") }
    let outcome = try feed.run(["diff", feed.leaky, both])
    #expect(outcome.end == .exit(1))
    #expect(outcome.output.contains("Leaks: 4 worse, 0 unchanged"))
    #expect(try feed.run(["diff", "--per", "events", feed.leaky, both]).end == .exit(0))
  }

  @Test func invalidInputIsAnErrorWithAdvice() throws {
    let feed = try Feed()
    #expect(try feed.run(["digest", feed.leaky, "-o", "whole.digest"]).end == .exit(0))
    let whole = try Data(contentsOf: URL(fileURLWithPath: feed.directory.path + "/whole.digest"))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: feed.directory.path + "/half.digest"))
    try Data().write(to: URL(fileURLWithPath: feed.directory.path + "/empty"))
    func complaint(_ arguments: [String], status: Int32 = 3) throws -> String {
      let outcome = try feed.run(["diff"] + arguments)
      #expect(outcome.end == .exit(status), "\(arguments): \(outcome.end)")
      #expect(outcome.output == "")
      return outcome.errorOutput
    }
    #expect(try complaint(["half.digest", feed.leaky]).contains("'leaktrace digest'"))
    #expect(
      try complaint(["empty", feed.leaky]).contains("'leaktrace record'")
        || complaint(["empty", feed.leaky]).contains("Record again"))
    #expect(try complaint(["nowhere", feed.leaky]).contains("leaktrace record"))
    #expect(try complaint(["--per", "scope:request", feed.clean, feed.leaky]).contains("LeakTrace.scope(\"request\")"))
    #expect(try complaint([feed.leaky], status: 64).contains("--old"))
    #expect(try complaint(["--old", feed.leaky], status: 64).contains("--new"))
    #expect(
      try complaint(["--fail-on", "new-leak", feed.clean, feed.leaky], status: 64).contains("did you mean 'new-leaks'?")
    )
    #expect(
      try complaint(["--baseline", "b.txt", "--update-baseline", feed.clean, feed.leaky], status: 64).contains(
        "leaktrace analyze NEW"))
  }

  @Test func truncatedTraceIsComparedUpToTheCutAndReported() throws {
    let feed = try Feed()
    let whole = try Data(contentsOf: URL(fileURLWithPath: feed.leaky))
    try whole.prefix(whole.count * 3 / 4).write(to: URL(fileURLWithPath: feed.directory.path + "/cut.trace"))
    let outcome = try feed.run(["diff", feed.leaky, "cut.trace"])
    // The heap image is at the end of the trace, so it was cut off. The status for leaks that cannot be judged takes
    // precedence over the one for a damaged trace.
    #expect(outcome.end == .exit(3))
    #expect(outcome.output.contains("Leaks: not compared"))
    #expect(outcome.errorOutput.contains("cannot be judged"))
  }
}
