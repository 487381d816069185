// A recording for the tests of exports.

import Foundation
import Testing

/// A trace of the leaky feed client, and the totals of its report.
struct RecordedFeed {
  let directory: TemporaryDirectory
  let trace: String
  /// The totals, by their names in the JSON report.
  let total: [String: UInt64]
  /// Blocks and bytes that the proven findings retain.
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

  private static let first = Result { try RecordedFeed() }

  /// Returns the recording that all tests of the process share. Each caller gets a copy of the trace in a new
  /// directory.
  static func shared() throws -> RecordedFeed { try RecordedFeed(copyOf: first.get()) }

  private init(copyOf other: RecordedFeed) throws {
    directory = try TemporaryDirectory()
    trace = directory.path + "/feed.trace"
    try FileManager.default.copyItem(atPath: other.trace, toPath: trace)
    (total, leaked, fingerprints) = (other.total, other.leaked, other.fingerprints)
    (findings, types, siteCount) = (other.findings, other.types, other.siteCount)
  }

  /// The number of recordings that a test may make until one has no event between the heap image and the end.
  private static let attempts = 50

  /// Returns a recording whose report on the end equals its report on the heap image. The image is taken when the
  /// program ends, and the program's other threads run on for a moment. On a busy machine one of them may free a block
  /// after the image.
  static func endingWithItsImage() throws -> RecordedFeed {
    for _ in 1..<attempts {
      let recorded = try RecordedFeed()
      if try recorded.endsWithItsImage() { return recorded }
    }
    return try RecordedFeed()
  }

  private func endsWithItsImage() throws -> Bool {
    struct Row: Decodable {
      var type: String
      var blocks: UInt64
      var bytes: UInt64
    }
    let question = """
      SELECT t.name AS type, count(*) AS blocks, sum(b.size) AS bytes
      FROM blocks b JOIN sites s ON s.id = b.site_id JOIN types t ON t.id = s.type_id GROUP BY t.name
      """
    let output = try Command([BuildProducts.leaktrace, "query", trace, question, "--format", "json"]).run().output
    let atImage = try JSONDecoder().decode([Row].self, from: Data(output.utf8))
    let atEnd = types.filter { $0.total["liveBlocks"] ?? 0 > 0 }
    return atImage.count == atEnd.count
      && atEnd.allSatisfy { type in
        atImage.contains {
          $0.type == type.name && $0.blocks == type.total["liveBlocks"] && $0.bytes == type.total["liveBytes"]
        }
      }
  }

  func export(_ arguments: String...) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace, "export", trace] + arguments).run()
  }
}
