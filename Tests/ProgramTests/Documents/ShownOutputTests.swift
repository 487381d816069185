// The pages for users show output that leaktrace prints. These tests run the commands, and compare the output.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct ShownOutputTests {
  private static let scripted = ShownBlock.all.filter { !$0.script.isEmpty }

  /// Defines `start COMMAND…`: runs a program that prints `ready PID` and waits. Sets `pid` to that number, and ends the
  /// program with the script.
  private static let functions = """
    start() {
      "$@" >started 2>&1 &
      trap "kill $! 2>/dev/null; wait" EXIT
      until grep -q "^ready " started; do kill -0 $! || exit 1; sleep 0.1; done
      pid=$(sed -n "s/^ready //p" started)
    }
    """

  @Test func everyPageHasMarks() {
    #expect(Self.scripted.count >= 12)
    // Other sources are suites with tests of their own.
    #expect(ShownBlock.all.filter(\.script.isEmpty).allSatisfy { $0.source == "TutorialTests" })
  }

  @Test(.secondTier, arguments: scripted) func commandPrintsTheOutputShown(_ block: ShownBlock) throws {
    let directory = try TemporaryDirectory()
    let program = try Self.program(block.source)
    let name = program.split(separator: "/").last!
    try FileManager.default.copyItem(atPath: program, toPath: "\(directory.path)/\(name)")
    let lines = block.script.flatMap { line in
      line.hasPrefix("$ ") ? ["echo \"\\$ \(line.dropFirst(2))\"", String(line.dropFirst(2))] : [line]
    }
    // Standard output and standard error go to one file, as to a terminal.
    let script = ([Self.functions, "exec 2>&1"] + lines).joined(separator: "\n")
    var command = Command(["/bin/sh", "-c", script])
    command.directory = directory.path
    command.environment["PATH"] = "\(BuildProducts.directory):\(command.environment["PATH"] ?? "/usr/bin:/bin")"
    command.environment["TMPDIR"] = directory.path
    command.environment["COLUMNS"] = "80"
    // The pages name a folder of a server.
    let printed = try command.run().output.replacing(directory.path, with: "/srv")
    #expect(
      ShownOutput.isExcerpt(block.output, of: printed, figuresVary: block.figuresVary),
      "\(block.testDescription) shows other lines than \(block.source) has:\n\(printed)")
  }

  /// Returns the path of the executable that a page names.
  private static func program(_ source: String) throws -> String {
    if let program = CorpusProgram(rawValue: source) { return try program.path(.dynamicOptimised) }
    let parts = source.split(separator: "/").map(String.init)
    guard parts.count == 2 else { return try TestProgram(source).path() }
    return try TestProgram(named: parts[0], sources: ["\(parts[0])/shared", source], flags: ["-swift-version", "5"])
      .path()
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
    #expect(ShownOutput.matches(shown, printed) == matches)
  }

  @Test func excerptHasWholeLinesInOrder() {
    #expect(ShownOutput.isExcerpt(["b", "…", "d", "…"], of: "a\nb\nc\nd\n"))
    #expect(!ShownOutput.isExcerpt(["d", "…", "b"], of: "a\nb\nc\nd\n"))
    #expect(!ShownOutput.isExcerpt(["b"], of: "a b\n"))
    #expect(!ShownOutput.isExcerpt(["3 objects"], of: "4 objects\n"))
    #expect(ShownOutput.isExcerpt(["3 objects (+8)  ▁▂"], of: "4,000 objects (+19)  ▁▁▃\n", figuresVary: true))
    #expect(!ShownOutput.isExcerpt(["main.swift:3"], of: "main.swift:4\n", figuresVary: true))
  }

  @Test func blockHasItsMarkAndItsLines() throws {
    let page = "<!-- shown by: a.swift, figures vary\n$ ./a\n-->\n\n```\n$ ./a\n1\n```\n"
    let block = try #require(ShownBlock.blocks(of: page, page: "p.md").first)
    #expect(block.source == "a.swift" && block.figuresVary && block.testDescription == "p.md:1")
    #expect(block.script == ["$ ./a"] && block.output == ["$ ./a", "1"])
  }
}
