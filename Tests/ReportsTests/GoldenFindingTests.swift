// Findings of every kind as people see them, at four widths, in the files of Golden.
//
// LEAKTRACE_UPDATE_GOLDEN=1 writes the files.

import Foundation
import Testing

@testable import TraceReading
@testable import TraceReports

@Suite struct GoldenFindingTests {
  private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Golden")

  @Test(arguments: [60, 80, 120, 200]) func findingsAreLaidOutAsInTheGoldenFile(width: Int) throws {
    let text = FindingKinds.all.map { FindingText.text($0.finding, style: TextStyle(width: width)) }.joined()
    for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
    let file = Self.directory.appendingPathComponent("findings-\(width).txt")
    if ProcessInfo.processInfo.environment["LEAKTRACE_UPDATE_GOLDEN"] != nil {
      try FileManager.default.createDirectory(at: Self.directory, withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let golden = try String(contentsOf: file, encoding: .utf8)
    #expect(text == golden, "run this test with LEAKTRACE_UPDATE_GOLDEN=1, and read what changed")
  }

  @Test func noNameIsBrokenInAWord() {
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
