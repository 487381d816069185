// Light recordings of the corpus have the findings of full recordings that an image alone can prove.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct LightCorpusTests {
  private struct Document: Decodable {
    struct Report: Decodable { var findings: [Finding] }
    struct Finding: Decodable {
      var verdict: String
      var instances: Int
    }
    var reports: [Report]
  }

  /// Returns the findings as sorted strings of the form `VERDICT × instances`.
  private static func findings(_ name: String, _ options: [String]) throws -> [String] {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/corpus.trace"
    let program = try CorpusProgram.corpus.path(.dynamicOptimised)
    let recording = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", trace] + options + ["--", program, name, "leak"]
    ).run()
    try #require(recording.end == .exit(0), "\(recording.errorOutput)")
    let analysis = try Command([BuildProducts.leaktrace, "analyze", "--format", "json", trace]).run()
    try #require(analysis.end == .exit(0), "\(analysis.errorOutput)")
    let document = try JSONDecoder().decode(Document.self, from: Data(analysis.output.utf8))
    return try #require(document.reports.first).findings
      .filter { ["retainCycle", "suspended", "deinitialised", "lost", "dangling"].contains($0.verdict) }
      .map { "\($0.verdict) × \($0.instances)" }.sorted()
  }

  // At the end, the threads of the pool wait, and their free lists keep the memory of finished jobs.
  @Test(
    "A light recording finds every instance that a full recording finds",
    arguments: TestTier.arguments(
      ["own-stream-task", "meter-readings", "reused-seat"],
      of: [
        "lost-checked-continuation", "lost-unsafe-continuation", "own-stream-task", "visitor-badges", "meter-readings",
        "settings-screen", "report-streams", "styled-notes", "reused-seat",
      ]))
  func instances(name: String) throws {
    let full = try Self.findings(name, [])
    #expect(try !full.isEmpty && Self.findings(name, ["--light"]) == full)
  }
}
