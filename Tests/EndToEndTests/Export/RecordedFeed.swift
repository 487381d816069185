// A recording that the tests of exports are about.

import Foundation
import Testing

/// A trace of the leaky feed client, and the totals of the report on it.
struct RecordedFeed {
  let directory: TemporaryDirectory
  let trace: String
  /// By name in the JSON report.
  let total: [String: UInt64]
  /// Blocks and bytes that the proofs retain.
  let leaked: (blocks: UInt64, bytes: UInt64)
  let fingerprints: [String]
  let findings: [Finding]
  let types: [NamedTotal]
  let siteCount: Int

  struct Finding: Decodable {
    var verdict: String
    var certainty: String
    var fingerprint: String
    var title: String
    var instances: UInt64
    var retainedBytes: UInt64
    var retainedObjects: UInt64
  }

  struct NamedTotal: Decodable {
    var name: String
    var total: [String: UInt64]
  }

  private struct Document: Decodable {
    struct Site: Decodable { var type: String }
    struct Report: Decodable {
      var total: [String: UInt64]
      var findings: [Finding]
      var types: [NamedTotal]
      var sites: [Site]
    }
    var reports: [Report]
  }

  init() throws {
    directory = try TemporaryDirectory()
    trace = directory.path + "/feed.trace"
    let program = TestProgram(
      named: "feed-client", sources: ["feed-client/shared", "feed-client/leaky"], flags: ["-swift-version", "5"])
    let recording = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try program.path(), "10"]
    ).run()
    #expect(recording.end == .exit(0))
    let output = try Command([BuildProducts.leaktrace, "analyze", "--format", "json", "--limit", "0", trace]).run()
      .output
    let report = try #require(JSONDecoder().decode(Document.self, from: Data(output.utf8)).reports.first)
    total = report.total
    let proofs = report.findings.filter { $0.certainty == "proven" }
    leaked = (proofs.reduce(0) { $0 + $1.retainedObjects }, proofs.reduce(0) { $0 + $1.retainedBytes })
    findings = report.findings
    types = report.types
    siteCount = report.sites.count
    fingerprints = findings.map(\.fingerprint)
  }

  func export(_ arguments: String...) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace, "export", trace] + arguments).run()
  }
}
