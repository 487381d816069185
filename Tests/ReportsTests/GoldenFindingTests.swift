// Findings of every kind in the files of Golden: the text at four widths, and the digest.
//
// LEAKTRACE_UPDATE_GOLDEN=1 writes the files.

import Foundation
import Testing

@testable import LeakDetection
import TextWriting
@testable import TraceReading
@testable import TraceReports
@testable import RunDiff

@Suite struct GoldenFindingTests {
  private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Golden")

  @Test(arguments: [60, 80, 120, 200]) func findingsMatchTheGoldenText(width: Int) throws {
    let text = FindingKinds.all.map { FindingText.text($0.finding, style: TextStyle(width: width)) }.joined()
    for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
    try compare(text, "findings-\(width).txt")
  }

  private func compare(_ text: String, _ name: String) throws {
    let file = Self.directory.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["LEAKTRACE_UPDATE_GOLDEN"] != nil {
      try FileManager.default.createDirectory(at: Self.directory, withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let golden = try String(contentsOf: file, encoding: .utf8)
    #expect(text == golden, "run this test with LEAKTRACE_UPDATE_GOLDEN=1, and read what changed")
  }

  /// Digests of earlier versions are compared with later ones, so these keys must not change.
  @Test func digestsOfFindingsMatchTheGoldenFile() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let documents = try FindingKinds.all.map { try encoder.encode($0.finding) }
    try compare(documents.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined(), "findings-digest.json")
    for (document, kind) in zip(documents, FindingKinds.all) {
      #expect(try JSONDecoder().decode(Finding.self, from: document) == kind.finding, "\(kind.name)")
    }
  }

  @Test func findingWithoutItsVerdictsFactsIsMalformed() throws {
    let document = String(decoding: try JSONEncoder().encode(FindingKinds.retainCycle), as: UTF8.self)
    for verdict in [Verdict.outlived, .accumulating, .growing] {
      let other = document.replacing("\"verdict\":\"retainCycle\"", with: "\"verdict\":\"\(verdict.rawValue)\"")
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(Finding.self, from: Data(other.utf8)) }
    }
  }

  @Test func namesAreNotBrokenWithinAWord() {
    for (name, finding) in FindingKinds.all {
      let whole = Set(words(FindingText.text(finding, style: TextStyle(width: 1000))))
      for width in [60, 80, 120] {
        let broken = words(FindingText.text(finding, style: TextStyle(width: width))).filter { !whole.contains($0) }
        #expect(broken.isEmpty, "\(name) at \(width) columns: \(broken)")
      }
    }
  }

  private func words(_ text: String) -> [Substring] { text.split { !$0.isLetter && !$0.isNumber } }
}
