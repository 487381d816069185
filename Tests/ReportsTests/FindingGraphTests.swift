import Foundation
import LeakDetection
import TestRequirements
import Testing

@testable import TraceReports

/// Graphs of findings, as GraphViz draws them.
@Suite(.requires(.program("dot"))) struct FindingGraphTests {
  /// Returns the drawing in GraphViz's plain text format.
  private func drawing(_ text: String) throws -> (status: Int32, lines: [Substring]) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["dot", "-Tplain"]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try input.fileHandleForWriting.close()
    let drawn = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, drawn.split(separator: "\n"))
  }

  @Test func cycleIsDrawnAsARing() throws {
    let finding = ExampleFindings.cycle()
    let drawing = try drawing(FindingGraph.dot([finding]))
    #expect(drawing.status == 0)
    #expect(drawing.lines.count { $0.hasPrefix("node ") } == finding.path.count)
    #expect(drawing.lines.count { $0.hasPrefix("edge ") } == finding.path.count)
    for step in finding.path { #expect(drawing.lines.contains { $0.hasPrefix("node ") && $0.contains(step.type) }) }
  }

  @Test func hostileNamesAreDrawn() throws {
    for seed in 0..<4 as Range<UInt64> {
      let findings = ExampleFindings.hostile(20, seed: seed).map(\.finding)
      let drawing = try drawing(FindingGraph.dot(findings))
      #expect(drawing.status == 0)
      let rows = findings.map { FindingPicture($0).rows.count }
      #expect(
        drawing.lines.count { $0.hasPrefix("node ") } == rows.reduce(0, +)
          + findings.count { $0.evidence.retention != nil })
    }
  }

  @Test func noFindingsGiveAnEmptyGraph() throws {
    let drawing = try drawing(FindingGraph.dot([]))
    #expect(drawing.status == 0 && !drawing.lines.contains { $0.hasPrefix("node ") })
  }
}
