// docs/tutorial.md shows commands with their output, and one mended line. These tests run the commands, and compare the
// output.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct TutorialTests {
  private static let path = BuildProducts.packageRoot + "/docs/tutorial.md"
  private static let program = BuildProducts.packageRoot + "/Tests/Programs/tutorial-server"
  private static let files = ["Server.swift", "main.swift"]

  @Test func changedLineMatchesTheProgram() throws {
    let changes = try Self.steps().compactMap { step -> TutorialChange? in
      if case .change(let change) = step { change } else { nil }
    }
    try #require(changes.count == 1)
    let source = try String(contentsOfFile: "\(Self.program)/Server.swift", encoding: .utf8)
    #expect(source.components(separatedBy: changes[0].old).count == 2, "not once in Server.swift:\n\(changes[0].old)")
  }

  @Test(.secondTier) func commandsPrintTheTutorialsOutput() throws {
    let directory = try TemporaryDirectory()
    for file in Self.files {
      try FileManager.default.copyItem(atPath: "\(Self.program)/\(file)", toPath: "\(directory.path)/\(file)")
    }
    let steps = try Self.steps()
    let gate = try #require(
      steps.compactMap { step -> String? in
        if case .command(let line, _) = step, line.hasPrefix("leaktrace check") { line } else { nil }
      }.first)
    for step in steps {
      switch step {
      case .command(let line, let output):
        let outcome = try Self.run(line, in: directory)
        #expect(outcome.end == .exit(0), "\(line)\n\(outcome.output)")
        #expect(
          ShownOutput.matches(output, outcome.output),
          "\(line) prints other lines than the tutorial shows:\n\(outcome.output)")
      case .change(let change):
        // Before the change, the program fails the gate.
        let outcome = try Self.run(gate, in: directory)
        #expect(outcome.end == .exit(1), "\(outcome.output)")
        let failure = "FAILED  new-suspects: 1 new strong suspicion"
        #expect(outcome.output.contains("  \(failure)\n"), "\(outcome.output)")
        #expect(try Self.document().contains("`\(failure)`"))
        let file = "\(directory.path)/Server.swift"
        let source = try String(contentsOfFile: file, encoding: .utf8)
        try source.replacing(change.old, with: change.new).write(toFile: file, atomically: true, encoding: .utf8)
      }
    }
  }

  private static func document() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  private static func steps() throws -> [TutorialStep] {
    let steps = TutorialStep.all(of: try document())
    try #require(steps.count >= 8)
    return steps
  }

  /// Runs one line of the tutorial. Standard output and standard error go to one file, as to a terminal.
  private static func run(_ line: String, in directory: TemporaryDirectory) throws -> Command.Outcome {
    let programs = ["leaktrace": BuildProducts.leaktrace, "swiftc": BuildProducts.toolchain + "/swiftc"]
    let words = line.split(separator: " ").map { programs[String($0)] ?? String($0) }
    var command = Command(["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"] + words)
    command.directory = directory.path
    command.environment["TMPDIR"] = directory.path
    command.environment["COLUMNS"] = "80"
    return try command.run()
  }
}

/// Lines to replace in a source.
struct TutorialChange {
  var old: String
  var new: String
}

/// One step of the tutorial.
enum TutorialStep {
  /// A command after `$ `, and the output in the lines below it.
  case command(String, output: [String])
  case change(TutorialChange)

  /// Returns the steps in a document's fenced blocks: `diff` blocks are changes, and the others are commands with
  /// output.
  static func all(of document: String) -> [TutorialStep] {
    // Every second part is inside a fence.
    let parts = document.components(separatedBy: "```")
    return stride(from: 1, to: parts.count, by: 2).flatMap { index in
      let lines = parts[index].split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
      return lines.first == "diff" ? [.change(change(lines.dropFirst()))] : commands(lines.dropFirst())
    }
  }

  private static func change(_ lines: ArraySlice<String>) -> TutorialChange {
    func text(without sign: Character) -> String {
      lines.filter { $0.first != sign }.map { $0.dropFirst() + "\n" }.joined()
    }
    return TutorialChange(old: text(without: "+"), new: text(without: "-"))
  }

  private static func commands(_ lines: ArraySlice<String>) -> [TutorialStep] {
    let starts = lines.indices.filter { lines[$0].hasPrefix("$ ") }
    return zip(starts, starts.dropFirst() + [lines.endIndex]).map { start, end in
      .command(String(lines[start].dropFirst(2)), output: Array(lines[(start + 1)..<end]))
    }
  }
}
