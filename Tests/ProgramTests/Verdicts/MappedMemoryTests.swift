// Memory that a program maps itself counts as a holder of the objects that it refers to, even if the kernel has merged
// the mapping with others.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct MappedMemoryTests {
  private struct Document: Decodable {
    struct Finding: Decodable {
      var verdict: String
      var title: String
      var instances: Int
    }
    struct Report: Decodable { var findings: [Finding] }
    var reports: [Report]
  }

  private static let recorder = [BuildProducts.leaktrace, "record", "--quiet", "-o", "%DIRECTORY%/%p.trace"]

  @Test(
    "Mapped memory is distinguished from stacks, libraries and allocator blocks",
    arguments: TestTier.arguments(["light"], of: ["full", "light", "inspected"]))
  func findings(way: String) throws {
    let recorder = way == "inspected" ? [] : Self.recorder + (way == "light" ? ["--light", "--"] : ["--"])
    for (mode, expected) in [("clean", []), ("leak", ["lost Session × 15"])] {
      let program = try InspectionTests.Waiting("mapped-memory.swift", [mode], under: recorder)
      var question = ["inspect", String(program.processID)]
      if way != "inspected" {
        try LightRecordingTests.takeImage(program)
        question = ["analyze", try #require(program.trace())]
      }
      let outcome = try Command([BuildProducts.leaktrace] + question + ["--format", "json"]).run()
      #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
      let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
      let findings = try #require(document.reports.first).findings
      #expect(findings.map { "\($0.verdict) \($0.title) × \($0.instances)" } == expected)
      _ = try program.end(SIGKILL)
    }
  }
}
