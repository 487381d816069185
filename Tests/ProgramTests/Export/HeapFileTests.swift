// Heap images in files, read by the tools for those formats.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct HeapFileTests {
  /// The output of `scripts/heap-figures` for a file.
  private struct Figures: Decodable {
    struct Sum: Decodable, Equatable {
      var blocks: UInt64
      var bytes: UInt64
    }
    /// Sums by the name of a type or of an allocating function.
    var types: [String: Sum]
    /// Unreachable blocks that no other unreachable block keeps, with the bytes that each one retains.
    var instances: [String: Sum]
    /// Bytes that are not reachable from any root.
    var lost: UInt64
    var problems: [String]?
    var withoutDistance: UInt64?
    var roots: [String: Int]?
    var fields: [String]?
    var packets: Int?
  }

  private func figures(_ format: String, of recorded: RecordedFeed) throws -> Figures {
    let file = "\(recorded.directory.path)/feed.\(format)"
    #expect(try recorded.export("--format", format, "-o", file).end == .exit(0))
    let outcome = try Command([BuildProducts.packageRoot + "/scripts/heap-figures", file]).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    return try JSONDecoder().decode(Figures.self, from: Data(outcome.output.utf8))
  }

  /// Expects the report's blocks and bytes by type. Expects the retained sizes to equal the sizes in the proven
  /// findings: here one finding, whose cycles share nothing.
  private func expectReport(_ figures: Figures, _ recorded: RecordedFeed) throws {
    let live = recorded.types.filter { $0.total["liveBlocks"] ?? 0 > 0 }
    #expect(live.count > 10 && figures.types.count == live.count)
    for type in live {
      #expect(figures.types[type.name]?.blocks == type.total["liveBlocks"], "\(type.name)")
      #expect(figures.types[type.name]?.bytes == type.total["liveBytes"], "\(type.name)")
    }
    #expect(figures.lost == recorded.leaked.bytes)
    let proof = try #require(recorded.findings.first { $0.certainty == "proven" })
    #expect(
      figures.instances == ["main.TimelineViewModel": .init(blocks: proof.instances, bytes: proof.retainedBytes)])
  }

  @Test("Chrome's DevTools shows the report's figures in a heap snapshot", .requires(.program("chromium")))
  func devTools() throws {
    let recorded = try RecordedFeed.endingWithItsImage()
    let figures = try figures("heapsnapshot", of: recorded)
    try expectReport(figures, recorded)
    #expect(figures.problems == [])
    #expect(figures.withoutDistance == recorded.leaked.blocks)
  }

  @Test("Perfetto's messages have the report's figures") func perfetto() throws {
    let recorded = try RecordedFeed.endingWithItsImage()
    let figures = try figures("perfetto", of: recorded)
    try expectReport(figures, recorded)
    #expect(figures.packets == 1)
    #expect(figures.roots?["ROOT_JNI_GLOBAL"] ?? 0 > 0 && figures.roots?["ROOT_NATIVE_STACK"] ?? 0 > 0)
    // Some of these are fields of the program, and some are field names of two words.
    for name in ["onPage", "posts", "scanned word", "side table"] { #expect(figures.fields?.contains(name) == true) }
  }

  @Test("The structure of a heap snapshot is valid") func structure() throws {
    let recorded = try RecordedFeed.shared()
    let file = recorded.directory.path + "/feed.heapsnapshot"
    #expect(try recorded.export("--format", "heapsnapshot", "-o", file).end == .exit(0))
    let check = try Command([BuildProducts.packageRoot + "/scripts/validate-formats", file]).run()
    #expect(check.end == .exit(0) && check.output.hasSuffix("1 files, 0 problems\n"), "\(check.output)")
  }

  @Test(
    "A damaged heap snapshot is not valid", .secondTier,
    arguments: [
      (#""node_count":"#, #""node_count":1"#), (#""edge_count":"#, #""edge_count":1"#),
      (#""nodes":["#, #""nodes":[99,"#),
      (#""edges":[1,"#, #""edges":[77,"#), (#""edges":[1,"#, #""edges":[6,"#), (#""samples":[],"#, ""),
    ])
  func damagedSnapshot(sound: String, broken: String) throws {
    let recorded = try RecordedFeed.shared()
    let text = try recorded.export("--format", "heapsnapshot").output
    try #require(text.contains(sound))
    let file = try recorded.directory.write(
      text.replacing("\n", with: "").replacing(sound, with: broken), to: "broken.heapsnapshot")
    let check = try Command([BuildProducts.packageRoot + "/scripts/validate-formats", file]).run()
    #expect(check.end == .exit(1), "\(check.output)\(check.errorOutput)")
  }
}
