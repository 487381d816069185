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
    struct Moment: Decodable { var liveBytes: UInt64 }
    struct Report: Decodable {
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
    #expect(report.findings.isEmpty)
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
}
