// Shells complete command lines of leaktrace.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.command), .serialized) struct CompletionTests {
  /// A command line, and the words that a shell offers for its last word.
  struct Case: Sendable {
    var line: [String]
    /// The offered words: all of them, or only a part if `isSome`.
    var offered: [String]
    var isSome = false
    var missing: [String] = []

    static func all(_ line: [String], _ offered: [String]) -> Case { Case(line: line, offered: offered) }
    static func some(_ line: [String], _ offered: [String], not missing: [String] = []) -> Case {
      Case(line: line, offered: offered, isSome: true, missing: missing)
    }
  }

  /// The cases, which apply to every shell.
  private static let cases: [Case] = [
    .some([""], ["record", "check", "analyze", "why", "ps", "help"], not: ["scope-report"]),
    .all(["ana"], ["analyze"]),
    .all(["help", "sna"], ["snapshot", "snapshots"]),
    // Options of the command.
    .all(["analyze", "--fo"], ["--format"]),
    .all(["record", "--sta"], ["--start-paused"]),
    // Fixed words.
    .all(["analyze", "--format", "j"], ["json", "junit"]),
    .all(["analyze", "--sort", "t"], ["temporary", "total"]),
    .all(["why", "--color", ""], ["always", "auto", "never"]),
    .all(["why", "--format", ""], ["brief-json", "dot", "json", "text"]),
    .all(["query", "--format", ""], ["csv", "json", "table"]),
    .all(["export", "--format", "s"], ["speedscope", "sqlite"]),
    .all(["export", "--value", "le"], ["leaked-blocks", "leaked-bytes"]),
    .all(["record", "--arc", ""], ["counts", "off", "stacks"]),
    .all(["record", "--snapshot-signal", "US"], ["USR1", "USR2"]),
    .all(["analyze", "--fail-on", "new"], ["new-leaks", "new-suspects"]),
    .all(["diff", "--fail-on", "re"], ["regressions", "retains"]),
    .some(["analyze", "--fail-on", ""], ["library-leaks", "none", "retained"], not: ["peak", "retains"]),
    // Files and directories.
    .all(["analyze", "f"], ["feed.trace"]),
    .all(["why", "f"], ["feed.trace"]),
    .all(["inspect", "f"], ["feed.trace"]),
    .all(["pause", "f"], ["feed.trace"]),
    .all(["diff", "app.trace", "f"], ["feed.trace"]),
    .all(["analyze", "--baseline", "f"], ["feed.trace"]),
    .all(["report", "feed.trace", "--output", "f"], ["feed.trace"]),
    .some(["analyze", ""], ["app.trace", "feed.trace"]),
    // Programs.
    .some(["record", "--", "leaktr"], ["leaktrace"]),
    .some(["record", "leaktr"], ["leaktrace"]),
    .some(["check", "--keep", "traces", "leaktr"], ["leaktrace"]),
    .some(["record", "--", "./ser"], ["./server"]),
    .all(["record", "--", "cat", "f"], ["feed.trace"]),
    .all(["record", "cat", "f"], ["feed.trace"]),
    // Options after the program's name belong to that program.
    .some(["record", "--", "./server", "--start-pau"], [], not: ["--start-paused"]),
  ]

  private func expect(_ shell: CompletingShell) throws {
    let directory = try TemporaryDirectory()
    for name in ["app.trace", "feed.trace", "traces/run.trace"] { _ = try directory.write("", to: name) }
    chmod(try directory.write("#!/bin/sh\n", to: "server"), 0o755)
    for expected in Self.cases {
      var offered = try shell.offers(expected.line, in: directory)
      // zsh offers only the last component of a path.
      if shell == .zsh, expected.line.last!.hasPrefix("./") { offered = offered.map { "./" + $0 } }
      if expected.isSome {
        #expect(Set(offered).isSuperset(of: expected.offered), "\(shell): \(expected.line): \(offered)")
        #expect(Set(offered).isDisjoint(with: expected.missing), "\(shell): \(expected.line): \(offered)")
      } else {
        #expect(offered == expected.offered, "\(shell): \(expected.line)")
      }
    }
    let directories = try shell.offers(["watch", "--from", "t"], in: directory)
    #expect(directories.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } == ["traces"], "\(shell)")
    // After a comma, further conditions are offered. zsh offers them without the text before the comma.
    let further = try shell.offers(["analyze", "--fail-on", "new-leaks,w"], in: directory)
    #expect(further == [shell == .zsh ? "worse" : "new-leaks,worse"], "\(shell)")
    let report = try shell.offers(["analyze", "--write", "ht"], in: directory)
    #expect(report == [shell == .zsh ? "html" : "html="], "\(shell)")
  }

  @Test(.requires(.program("bash"))) func bashOffersCommandsOptionsWordsFilesAndPrograms() throws {
    try expect(.bash)
    // bash knows which options take a value, so it finds the program even without "--".
    let directory = try TemporaryDirectory()
    _ = try directory.write("", to: "feed.trace")
    #expect(try CompletingShell.bash.offers(["record", "--quiet", "cat", "f"], in: directory) == ["feed.trace"])
    #expect(try CompletingShell.bash.offers(["record", "./server", "--start-pau"], in: directory) == [])
  }
  @Test(.requires(.program("zsh"))) func zshOffersCommandsOptionsWordsFilesAndPrograms() throws { try expect(.zsh) }
  @Test(.requires(.program("fish"))) func fishOffersCommandsOptionsWordsFilesAndPrograms() throws { try expect(.fish) }

  @Test(.requires(.recorder), .requires(.program("zsh")), .requires(.program("fish")))
  func processIDsAreCompletedFromRunningRecordings() throws {
    let waiting = try SnapshotRequestTests.Waiting("pause")
    defer { kill(waiting.processID, SIGKILL) }
    let other = getpid()
    for shell in CompletingShell.allCases {
      for command in ["snapshot", "detach", "pause", "resume"] {
        let offered = try shell.offers([command, ""], in: waiting.directory)
        #expect(offered.contains(String(waiting.processID)), "\(shell): \(command): \(offered)")
        #expect(!offered.contains(String(other)), "\(shell): \(command): \(offered)")
      }
      // `attach` accepts any process. zsh offers only processes of its own terminal.
      if shell != .zsh {
        #expect(try shell.offers(["attach", ""], in: waiting.directory).contains(String(other)), "\(shell)")
      }
    }
  }

  @Test(.requires(.program("bash"))) func fileNamesAreNotExecuted() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.write("", to: "f$(touch ran)`touch ran`.trace")
    for line in [["analyze", "f"], ["inspect", "f"], ["record", "--", "cat", "f"], ["pause", "f"]] {
      #expect(try CompletingShell.bash.offers(line, in: directory) == ["f$(touch ran)`touch ran`.trace"])
    }
    #expect(try directory.fileNames() == ["f$(touch ran)`touch ran`.trace"])
  }

  @Test func unknownShellIsRefused() throws {
    let outcome = try Command([BuildProducts.leaktrace, "--generate-completion-script", "csh"]).run()
    #expect(outcome.end == .exit(64))
    #expect(outcome.errorOutput.contains("Can't generate completion scripts for 'csh'"))
    for shell in CompletingShell.allCases {
      let two = try Command([BuildProducts.leaktrace, "--generate-completion-script", shell.rawValue]).run()
      let one = try Command([BuildProducts.leaktrace, "--generate-completion-script=\(shell.rawValue)"]).run()
      var command = Command([BuildProducts.leaktrace, "--generate-completion-script"])
      command.environment["SHELL"] = "/bin/\(shell.rawValue)"
      #expect(two.end == .exit(0) && two.output.contains("__leaktrace_program"))
      #expect(try two == one && command.run() == one)
    }
  }
}
