// docs/tutorial.md shows commands with their output, and one mended line. These tests run the commands, and compare the
// output.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct TutorialTests {
  private static let path = BuildProducts.packageRoot + "/docs/tutorial.md"
  private static let program = BuildProducts.packageRoot + "/Tests/Programs/tutorial-server"
  private static let files = ["Server.swift", "main.swift"]

  @Test func theMendedLineIsThatOfTheProgram() throws {
    let changes = try Self.steps().compactMap { step -> TutorialChange? in
      if case .change(let change) = step { change } else { nil }
    }
    try #require(changes.count == 1)
    let source = try String(contentsOfFile: "\(Self.program)/Server.swift", encoding: .utf8)
    #expect(source.components(separatedBy: changes[0].old).count == 2, "not once in Server.swift:\n\(changes[0].old)")
  }

  @Test(.secondTier) func theCommandsPrintWhatTheTutorialShows() throws {
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
          TutorialOutput.matches(output, outcome.output),
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

  @Test(
    arguments: [
      (["a", "b"], "a\nb\n", true), (["a"], "a\nb\n", false), (["b"], "a\nb\n", false), (["a", "…"], "a\nb\n", true),
      (["…", "b"], "a\nb\n", true), (["…", "b", "c"], "b\na\nb\nc\n", true), (["a", "…", "c"], "a\nc\n", true),
      (["a", "…", "c", "…"], "a\nb\n", false), (["a", "…", "b"], "a\nx b\n", false), ([], "", true), ([], "a\n", false),
      (["took 1.5 s in all"], "took 300\n  ms in all\n", true), (["1,000 objects"], "999 objects\n", false),
      (["process 12, 3 MiB"], "process 4711,   800 KiB\n", true), (["live blocks 2 → 1"], "live blocks 3 → 1\n", true),
    ] as [([String], String, Bool)])
  func outputIsComparedByLines(shown: [String], printed: String, matches: Bool) {
    #expect(TutorialOutput.matches(shown, printed) == matches)
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

/// Compares shown output with printed output.
enum TutorialOutput {
  /// Whether the printed lines equal the shown lines. A shown line `…` matches any number of lines.
  ///
  /// Figures that vary between runs count as equal. A line may be broken at other places.
  static func matches(_ shown: [String], _ printed: String) -> Bool {
    let parts = shown.split(separator: "…", omittingEmptySubsequences: false).map { words($0.joined(separator: "\n")) }
    let first = parts.first!, last = parts.last!
    var rest = words(printed)[...]
    guard parts.count > 1 else { return isWhole(rest, first) }
    guard rest.count >= first.count + last.count, isWhole(rest.prefix(first.count), first),
      isWhole(rest.suffix(last.count), last)
    else { return false }
    rest = rest.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() {
      guard let start = rest.indices.first(where: { isWhole(rest[$0...].prefix(part.count), part) }) else {
        return false
      }
      rest = rest[(start + part.count)...]
    }
    return true
  }

  private struct Word {
    var text: Substring
    var beginsLine: Bool
    var endsLine: Bool
  }

  /// Whether the printed words equal the shown words, and form whole lines.
  private static func isWhole(_ printed: ArraySlice<Word>, _ shown: [Word]) -> Bool {
    guard printed.elementsEqual(shown, by: { $0.text == $1.text }) else { return false }
    return shown.isEmpty || printed.first!.beginsLine && printed.last!.endsLine
  }

  private static func words(_ text: String) -> [Word] {
    normalised(text).split(separator: "\n").flatMap { line -> [Word] in
      let words = line.split(separator: " ")
      return words.enumerated().map { index, word in
        Word(text: word, beginsLine: index == 0, endsLine: index == words.count - 1)
      }
    }
  }

  /// Replaces values that vary: quantities with a unit, process IDs, numbers of events and live blocks, and the course
  /// of a population.
  private static func normalised(_ text: String) -> String {
    text.replacing(/[0-9][0-9.,]*\s+(B|KB|MB|GB|KiB|MiB|GiB|µs|ms|s|min|%)(?![A-Za-z])/, with: "#")
      .replacing(/process [0-9]+/, with: "process #")
      .replacing(/[0-9][0-9,]* events/, with: "# events")
      .replacing(/[0-9][0-9,]* live blocks/, with: "# live blocks")
      .replacing(/live blocks\s+[0-9][0-9,]* → [0-9][0-9,]*/, with: "live blocks # → #")
      .replacing(/quarter\s+of\s+the\s+run:(\s+[0-9][0-9,]*)+/, with: "quarter of the run: #")
  }
}
