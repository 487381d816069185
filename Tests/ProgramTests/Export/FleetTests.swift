// Rows of several runs, queried by the databases that they are made for.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct FleetTests {
  /// Records the runs of a fleet of two machines and two builds. The second build leaks.
  private func record(into directory: TemporaryDirectory) throws {
    let runs = [
      ("clean", "1.0", "a", "5"), ("clean", "1.0", "b", "6"), ("leaky", "1.1", "a", "7"), ("leaky", "1.1", "b", "8"),
    ]
    for (variant, build, host, count) in runs {
      let program = TestProgram(
        named: "feed-client", sources: ["feed-client/shared", "feed-client/\(variant)"], flags: ["-swift-version", "5"])
      let trace = directory.path + "/\(variant)-\(host).trace"
      let recording = try Command(
        [BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try program.path(), count]
      ).run()
      #expect(recording.end == .exit(0), "\(recording.errorOutput)")
      let export = try Command([
        BuildProducts.leaktrace, "export", trace, "--format", "ndjson", "--host", host, "--build", build, "-o",
        directory.path + "/\(variant)-\(host).ndjson",
      ]).run()
      #expect(export.end == .exit(0), "\(export.errorOutput)")
    }
  }

  @Test("Databases and Python answer the documented questions equally") func questions() throws {
    let directory = try TemporaryDirectory()
    try record(into: directory)
    // The other databases are large. To query them too where they are installed, set LEAKTRACE_FLEET_ENGINES="duckdb
    // spark clickhouse".
    let engines = ProcessInfo.processInfo.environment["LEAKTRACE_FLEET_ENGINES"] ?? "duckdb"
    for engine in engines.split(separator: " ").map(String.init) {
      let check = try Command([BuildProducts.packageRoot + "/scripts/check-fleet", directory.path, engine]).run()
      #expect(check.end == .exit(0), "\(engine): \(check.errorOutput)")
      let counts = check.output.split(separator: "\n").map { $0.split(separator: " ") }
      #expect(counts.map { $0[0] } == ["new_fingerprints", "growth", "sites"], "\(engine)")
      #expect(counts.allSatisfy { (Int($0[1]) ?? 0) > 0 }, "\(engine): \(check.output)")
    }
  }

  @Test("Rows have the report's figures") func figures() throws {
    let recorded = try RecordedFeed.shared()
    struct Row: Decodable {
      var kind: String
      var live_bytes: UInt64?
      var fingerprint: String?
      var instances: UInt64?
      var retained_bytes: UInt64?
    }
    let text = try recorded.export("--format", "ndjson")
    #expect(text.end == .exit(0))
    let rows = try text.output.split(separator: "\n").map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
    for kind in ["run", "type", "site"] {
      let sum = rows.filter { $0.kind == kind }.reduce(0) { $0 + ($1.live_bytes ?? 0) }
      #expect(sum == recorded.total["liveBytes"], "\(kind)")
    }
    for finding in recorded.findings {
      let own = rows.filter { $0.fingerprint == finding.fingerprint }
      #expect(own.reduce(0) { $0 + ($1.instances ?? 0) } == finding.instances)
      #expect(own.reduce(0) { $0 + ($1.retained_bytes ?? 0) } == finding.retainedBytes)
    }
    #expect(Set(rows.compactMap(\.fingerprint)) == Set(recorded.fingerprints))
    // A digest can replace its trace: its rows are the same.
    let digest = recorded.directory.path + "/feed.digest"
    #expect(try Command([BuildProducts.leaktrace, "digest", recorded.trace, "-o", digest]).run().end == .exit(0))
    let kept = try Command([BuildProducts.leaktrace, "export", digest, "--format", "ndjson"]).run()
    #expect(kept.end == .exit(0) && kept.output == text.output, "\(kept.errorOutput)")
    let wrong = try recorded.export("--format", "dot", "--host", "a")
    #expect(wrong.end == .exit(64) && wrong.errorOutput.contains("are for --format ndjson"))
  }
}
