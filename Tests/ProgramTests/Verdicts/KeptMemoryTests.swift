// Reports distinguish memory that the allocator keeps from memory that leaks.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct KeptMemoryTests {
  private struct Document: Decodable {
    struct Memory: Decodable {
      var resident: UInt64
      var liveBlocks: UInt64
      var stacks: UInt64
      var otherPrivate: UInt64
      var mapped: UInt64
    }
    struct Level: Decodable {
      struct Holder: Decodable {
        var name: String
        var type: String
        var count: Int
        var retainedBytes: UInt64
      }
      var bytes: UInt64
      var share: Double
      var holder: Holder?
    }
    struct Report: Decodable {
      var conclusion: String
      var summary: String
      var level: Level?
      var residentMemory: Memory?
      var findings: [[String: Ignored]]
    }
    struct Ignored: Decodable { init(from decoder: any Decoder) throws {} }
    var reports: [Report]
  }

  @Test("Freed memory kept by the allocator is reported, with the kernel's figures") func kept() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/kept.trace"
    let recording = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try TestProgram("kept-memory.c").path()]
    ).run()
    #expect(recording.end == .exit(0))
    let reported = try #require(
      recording.output.split(separator: "private ").last.flatMap { UInt64($0.prefix { $0.isNumber }) })
    let json = try Command([BuildProducts.leaktrace, "analyze", "--format", "json", trace]).run().output
    let report = try #require(JSONDecoder().decode(Document.self, from: Data(json.utf8)).reports.first)
    #expect(report.findings.isEmpty && report.conclusion == "kept")
    #expect(report.summary.contains("glibc keeps ") && report.summary.contains("malloc_trim(0)"), "\(report.summary)")
    let memory = try #require(report.residentMemory)
    #expect(memory.liveBlocks + memory.stacks + memory.otherPrivate + memory.mapped == memory.resident)
    #expect(memory.liveBlocks >= 512 * 1_000 && memory.liveBlocks < 2 << 20)
    // The kernel's figure includes the recorder's buffers.
    let own = memory.liveBlocks + memory.stacks + memory.otherPrivate
    #expect(own <= reported << 10 && own >= (reported << 10) * 9 / 10, "\(own) \(reported << 10)")
    let text = try Command([BuildProducts.leaktrace, "analyze", trace]).run().output
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(text.contains("were freed, and glibc keeps them") && text.contains("malloc_trim(0)"), "\(text)")
  }

  /// Each way of the program, and the conclusion of the report. The expectations were written before the first run.
  @Test(
    "A cache that levels off is named, and a growing one is not",
    arguments: [("levels", "levelled"), ("limited", "levelled"), ("grows", "suspected")],
    TestTier.arguments(["-O"], of: ["-O", "-Onone"]))
  func levelled(expected: (way: String, conclusion: String), level: String) throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/level.trace"
    let program = TestProgram(named: "level-cache", sources: ["level-cache.swift"], flags: [level])
    let recording = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try program.path(), expected.way, "20000", "0"]
    ).run()
    #expect(recording.end == .exit(0))
    let json = try Command([BuildProducts.leaktrace, "analyze", "--format", "json", trace]).run().output
    let report = try #require(JSONDecoder().decode(Document.self, from: Data(json.utf8)).reports.first)
    #expect(report.conclusion == expected.conclusion, "\(report.summary)")
    guard expected.conclusion == "levelled" else { return }
    let found = try #require(report.level)
    #expect(found.share > 0.05 && found.share < 0.2 && found.bytes > 4 << 20)
    let holder = try #require(found.holder)
    #expect(holder.name == "Cache.entries" && holder.count == 2000 && holder.retainedBytes > 4_000_000)
    #expect(report.summary.contains("memory levelled off at ") && report.summary.contains("Cache.entries holds "))
  }

  @Test("A watch and a light recording name the level of a cache") func levelsInImages() throws {
    // The cache fills within the first images.
    let requests = ["levels", "60000", "200"]
    let variables = [
      "LEAKTRACE_MODE=light", "LEAKTRACE_SNAPSHOT_SECONDS=1", "LEAKTRACE_OUTPUT=%DIRECTORY%/%p.trace",
      "LD_PRELOAD=\(BuildProducts.preloadLibrary)",
    ]
    let program = try InspectionTests.Waiting("level-cache.swift", requests, under: ["env"] + variables)
    let watch = try Command(
      [BuildProducts.leaktrace, "watch", "\(program.processID)", "--every", "1s", "--count", "10"]
    ).run()
    let text = watch.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(text.contains("Growth: nothing suspected; memory ") && text.contains("Cache.entries holds "), "\(text)")
    let trace = try #require(program.trace())
    _ = try program.end(SIGTERM)
    let outcome = try Command([BuildProducts.leaktrace, "analyze", trace, "--format", "json"]).run()
    let report = try #require(JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8)).reports.first)
    #expect(report.conclusion == "levelled", "\(report.summary)")
    #expect(report.level?.holder?.name == "Cache.entries")
  }
}
