// Comparisons of light recordings of several variants of a program.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct LightDiffTests {
  private struct Comparison: Decodable {
    struct Figure: Decodable {
      struct Spread: Decodable { var median: Double }
      var figure: String
      var direction: String
      var old: Spread
      var new: Spread
      var oldStandardError: Double?
      var newStandardError: Double?
    }
    struct Frame: Decodable { var function: String }
    struct Change: Decodable {
      var kind: String
      var name: String
      var frames: [Frame]
      var figures: [Figure]

      func changed(_ figure: String) -> Bool { figures.contains { $0.figure == figure && $0.direction != "same" } }
    }
    struct Section: Decodable {
      var changes: [Change]
      var unchanged: Int
    }
    var listsHolders: Bool
    var areInspections: Bool
    var totals: [Figure]
    var types: Section
    var sites: Section
    var estimatedSites: Section?

    var summary: [String] {
      totals.filter { $0.direction != "same" }.map { "\($0.direction) \($0.figure)" }
        + (types.changes + sites.changes + (estimatedSites?.changes ?? [])).map { change in
          "\(change.kind) \(change.name) \(change.frames.first?.function ?? "")"
        }
    }
  }

  /// Recordings of the program, in a temporary directory.
  private struct Recordings {
    let directory = try! TemporaryDirectory()
    /// The sampling period. It is so short that each allocation site of the program gets some hundred samples.
    private static let period = "16KiB"

    func record(_ variant: String, as name: String) throws -> String {
      let trace = "\(directory.path)/\(name).trace"
      let recording = try Command([
        BuildProducts.leaktrace, "record", "--quiet", "--light", "--sample-first", "0", "--sample", Self.period, "-o",
        trace, "--",
        try TestProgram("light-variants.swift").path(), variant,
      ]).run()
      try #require(recording.end == .exit(0), "\(recording.errorOutput)")
      return trace
    }

    func compare(_ arguments: [String]) throws -> Comparison {
      let outcome = try Command([BuildProducts.leaktrace, "diff", "--format", "json"] + arguments).run()
      #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
      return try JSONDecoder().decode(Comparison.self, from: Data(outcome.output.utf8))
    }
  }

  @Test("Retained memory is reported by type, holder and allocating function") func holds() throws {
    let recordings = Recordings()
    let (old, new) = (try recordings.record("plain", as: "old"), try recordings.record("holds", as: "new"))
    let report = try recordings.compare([old, new])
    #expect(report.listsHolders && !report.areInspections)
    #expect(report.totals.map { "\($0.direction) \($0.figure)" } == ["worse liveBytes", "worse liveBlocks"])
    let sessions = report.sites.changes.filter { $0.name.hasSuffix(".Session") }
    #expect(sessions.map { "\($0.kind) \($0.frames.first?.function ?? "")" } == ["new held by Registry.archive"])
    let buffers = report.types.changes.filter { $0.name.contains("UInt8") }
    #expect(buffers.map(\.kind) == ["worse"])
    let estimates = try #require(report.estimatedSites)
    #expect(!estimates.changes.isEmpty)
    for change in estimates.changes {
      #expect(change.changed("liveBytes") && change.frames.contains { $0.function.contains("archiveSessions") })
    }
    // A digest of the old trace gives the same report.
    let digest = "\(recordings.directory.path)/old.digest"
    #expect(try Command([BuildProducts.leaktrace, "digest", old, "-o", digest]).run().end == .exit(0))
    #expect(try recordings.compare([digest, new]).summary == report.summary)
  }

  @Test("Samples report allocations at one place with their errors") func allocates() throws {
    let recordings = Recordings()
    let (old, new) = (try recordings.record("plain", as: "old"), try recordings.record("allocates", as: "new"))
    let report = try recordings.compare([old, new])
    #expect(
      report.sites.changes.isEmpty && report.types.changes.isEmpty
        && report.totals.allSatisfy { $0.direction == "same" })
    let change = try #require(report.estimatedSites?.changes.first)
    #expect(report.estimatedSites?.changes.count == 1 && change.kind == "worse")
    #expect(change.frames.contains { $0.function.contains("render") })
    let figure = try #require(change.figures.first { $0.figure == "allocatedBytes" })
    #expect(figure.direction == "worse" && figure.new.median > 2 * figure.old.median)
    #expect((figure.oldStandardError ?? 0) > 0 && (figure.newStandardError ?? 0) > (figure.oldStandardError ?? 0))
    let text = try Command([BuildProducts.leaktrace, "diff", "--fail-on", "regressions", old, new]).run()
    // No condition of `--fail-on` uses estimates.
    #expect(text.end == .exit(0) && text.output.contains("Estimated sites: 1 worse"), "\(text.output)")
    let back = try recordings.compare([new, old])
    #expect(back.estimatedSites?.changes.map(\.kind) == ["better"])
  }

  @Test("Eleven runs of one build show no change", .secondTier) func equalRuns() throws {
    let recordings = Recordings()
    let traces = try (0...10).map { try recordings.record("plain", as: "\($0)") }
    for (old, new) in zip(traces, traces.dropFirst()) {
      let report = try recordings.compare([old, new])
      #expect(report.summary == [], "\(old) \(new)")
      #expect((report.estimatedSites?.unchanged ?? 0) > 0)
    }
    let several = try recordings.compare(
      traces[..<4].flatMap { ["--old", $0] } + traces[4..<8].flatMap { ["--new", $0] })
    #expect(several.summary == [])
  }

  @Test("A light recording and an inspection are compared by holder") func besideInspections() throws {
    let program = try InspectionTests.Waiting(
      "inspected.swift",
      under: [BuildProducts.leaktrace, "record", "--quiet", "--light", "-o", "%DIRECTORY%/%p.trace", "--"])
    try LightRecordingTests.takeImage(program)
    let inspection = program.directory.path + "/inspection"
    let inspected = try Command([
      BuildProducts.leaktrace, "inspect", String(program.processID), "--format", "json", "-o", inspection,
    ]).run()
    #expect(inspected.end == .exit(0), "\(inspected.errorOutput)")
    let outcome = try Command([
      BuildProducts.leaktrace, "diff", "--format", "json", try #require(program.trace()), inspection,
    ]).run()
    let report = try JSONDecoder().decode(Comparison.self, from: Data(outcome.output.utf8))
    #expect(report.listsHolders && report.estimatedSites == nil)
    #expect(report.summary == [] && report.sites.unchanged > 10, "\(report.summary)")
    _ = try program.end(SIGKILL)
  }
}
