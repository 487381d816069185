// docs/patterns.md shows code of the corpus and leaktrace's reports on it. Both must be up to date.
//
// LEAKTRACE_UPDATE_DOCS=1 writes the reports into the document.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct PatternDocumentTests {
  /// A fenced block. Its info string describes it: "swift FILE" or "text EXECUTABLE PROGRAM".
  private struct Block {
    var words: [String]
    var lines: Range<Int>
  }

  private static let path = BuildProducts.packageRoot + "/docs/patterns.md"
  private static let width = 100

  private static func blocks(_ lines: [String]) -> [Block] {
    var blocks: [Block] = []
    var index = 0
    while index < lines.count {
      defer { index += 1 }
      guard lines[index].hasPrefix("```"), lines[index].count > 3 else { continue }
      let end = lines[(index + 1)...].firstIndex(of: "```") ?? lines.count
      blocks.append(
        Block(words: lines[index].dropFirst(3).split(separator: " ").map(String.init), lines: index + 1..<end))
      index = end
    }
    return blocks
  }

  private static func document() throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
  }

  @Test func patternCodeMatchesTheCorpus() throws {
    let lines = try Self.document()
    let code = Self.blocks(lines).filter { $0.words.first == "swift" }
    #expect(code.count > 20)
    for block in code {
      let file = try #require(block.words.dropFirst().first)
      let source = try String(contentsOfFile: "\(CorpusCase.directory)/\(file)", encoding: .utf8).components(
        separatedBy: "\n")
      var rest = source[...]
      for line in lines[block.lines] {
        let found = rest.firstIndex(of: line)
        #expect(found != nil, "\(file) has no line '\(line)' there")
        if let found { rest = rest[(found + 1)...] }
      }
      #expect(!block.lines.isEmpty)
    }
  }

  @Test(.secondTier) func patternReportsMatchTheCorpus() throws {
    var lines = try Self.document()
    let reports = Self.blocks(lines).filter { $0.words.first == "text" }
    #expect(reports.count > 12)
    let isUpdating = ProcessInfo.processInfo.environment["LEAKTRACE_UPDATE_DOCS"] != nil
    for block in reports.reversed() {
      let name = block.words.dropFirst().joined(separator: " ")
      let finding = try Self.finding(executable: block.words[1], program: block.words[2])
      if isUpdating {
        lines.replaceSubrange(block.lines, with: finding)
      } else {
        #expect(
          Self.comparable(finding) == Self.comparable(Array(lines[block.lines])),
          "\(name): run this test with LEAKTRACE_UPDATE_DOCS=1, and read what changed")
      }
    }
    if isUpdating { try lines.joined(separator: "\n").write(toFile: Self.path, atomically: true, encoding: .utf8) }
  }

  /// Removes what differs from run to run: figures, line breaks, and the reference path if a task or another holder may
  /// have several. The amount of memory of a library's objects varies, so it is chance whether all instances keep the
  /// same amount.
  private static func comparable(_ block: [String]) -> String {
    let hasSeveralWays =
      block.first.map { line in ["OUTLIVED", "ACCUMULATING", "SUSPENDED"].contains { line.hasPrefix($0) } } ?? false
    // The reference path begins with the root, in the line before the first reference.
    let lines =
      hasSeveralWays
      ? block.prefix { !$0.contains("└") }.dropLast() + block.drop { !$0.hasPrefix("  Fix:") } : block[...]
    let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
    let plain = words.replacing("The shown one also keeps:", with: "Each also keeps:").replacing(
      /[0-9][0-9.,]*( (B|KiB|MiB|µs|ms|s|min)\b)?/, with: "#")
    // If the oldest instance is about as old as the youngest, there is one age.
    return plain.replacing("Age: # to #.", with: "Age: #.")
  }

  /// Returns the lines of the report on the program's first finding.
  private static func finding(executable: String, program: String) throws -> [String] {
    let path = try #require(CorpusProgram(rawValue: executable)).path(.dynamicOptimised)
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/pattern.trace"
    var command = Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", path, program, "leak"])
    let recording = try command.run()
    #expect(recording.end == .exit(0), "\(program): \(recording.errorOutput)")
    command.arguments = [BuildProducts.leaktrace, "analyze", "--width", "\(width)", "--limit", "1", trace]
    let report = try command.run().output.components(separatedBy: "\n")
    let titles = [
      "RETAIN CYCLE", "LOST", "SUSPENDED", "DEINITIALISED", "DANGLING", "USED AFTER", "OUTLIVED", "ACCUMULATING",
    ]
    let first = try #require(
      report.firstIndex { line in titles.contains { line.hasPrefix($0) } }, "\(program): nothing was found")
    return Array(report[first..<(report[first...].firstIndex(of: "") ?? report.endIndex)])
  }
}
