// Exported files, opened by the programs that the formats are made for.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder), .requires(.program("go")), .requires(.program("dot"))) struct ExportCommandTests {
  /// Returns each sample type with its expected total.
  private func expected(_ recorded: RecordedFeed) -> [(sampleType: String, value: String, total: UInt64)] {
    func total(_ name: String) -> UInt64 { recorded.total[name] ?? .max }
    return [
      ("alloc_objects", "allocated-blocks", total("allocatedBlocks")),
      ("alloc_space", "allocated-bytes", total("allocatedBytes")),
      ("inuse_objects", "live-blocks", total("liveBlocks")), ("inuse_space", "live-bytes", total("liveBytes")),
      ("peak_objects", "peak-blocks", total("peakBlocks")), ("peak_space", "peak-bytes", total("peakBytes")),
      ("temporary_objects", "temporary-blocks", total("temporaryBlocks")),
      ("temporary_space", "temporary-bytes", total("temporaryBytes")),
      ("leaked_objects", "leaked-blocks", recorded.leaked.blocks),
      ("leaked_space", "leaked-bytes", recorded.leaked.bytes), ("retains", "retains", total("retains")),
    ]
  }

  @Test("go tool pprof shows the report's figures and stacks") func pprof() throws {
    let recorded = try RecordedFeed.shared()
    let file = recorded.directory.path + "/feed.pb.gz"
    #expect(try recorded.export("--format", "pprof", "-o", file).end == .exit(0))
    for (sampleType, _, total) in expected(recorded) {
      let top = try Command(
        ["go", "tool", "pprof", "-top", "-nodefraction=0", "-unit=B", "-sample_index=\(sampleType)", file]
      ).run()
      #expect(top.end == .exit(0), "\(top.errorOutput)")
      #expect(top.output.contains("Type: \(sampleType)\n"))
      #expect(top.output.contains("of \(total)B total\n"), "\(sampleType): \(top.output.prefix(400))")
    }
    let stacks = try Command(["go", "tool", "pprof", "-traces", "-lines", "-sample_index=leaked_space", file]).run()
    #expect(stacks.output.contains("Navigator.open(_:_:)") && stacks.output.contains("Navigator.swift:"))
    #expect(stacks.output.contains("TimelineViewModel"))
    let types = try Command(["go", "tool", "pprof", "-tags", "-sample_index=leaked_objects", file]).run()
    #expect(types.output.contains("TimelineViewModel"))
  }

  @Test("Collapsed stacks add up to the report's figures") func collapsed() throws {
    let recorded = try RecordedFeed.shared()
    for (_, value, total) in expected(recorded) {
      let text = try recorded.export("--format", "collapsed", "--value", value)
      #expect(text.end == .exit(0))
      let values = text.output.split(separator: "\n").compactMap {
        $0.split(separator: " ").last.flatMap { UInt64($0) }
      }
      #expect(values.reduce(0, +) == total, "\(value)")
    }
    #expect(
      try recorded.export("--format", "collapsed").output
        == recorded.export("--format", "collapsed", "--value", "live-bytes").output)
  }

  @Test("A speedscope document is valid and has the report's figures") func speedscope() throws {
    let recorded = try RecordedFeed.shared()
    let file = recorded.directory.path + "/feed.speedscope.json"
    #expect(try recorded.export("--format", "speedscope", "-o", file).end == .exit(0))
    let check = try Command([BuildProducts.packageRoot + "/scripts/validate-formats", file]).run()
    #expect(check.end == .exit(0) && check.output.hasSuffix("1 files, 0 problems\n"), "\(check.output)")
    struct Document: Decodable {
      struct Profile: Decodable {
        var name: String
        var weights: [UInt64]
      }
      var profiles: [Profile]
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    let sums = document.profiles.map { $0.weights.reduce(0, +) }
    #expect(sums.sorted() == expected(recorded).map(\.total).sorted())
  }

  @Test(
    "A damaged speedscope document is not valid", arguments: ["\"frame\":0", "\"unit\":\"furlongs\"", "\"weights\":[]"])
  func damaged(fault: String) throws {
    let directory = try TemporaryDirectory()
    let sound =
      #"{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"main"}]},"#
      + #""profiles":[{"type":"sampled","name":"n","unit":"bytes","startValue":0,"endValue":2,"samples":[[0]],"weights":[2]}]}"#
    let broken =
      switch fault {
      case "\"frame\":0": sound.replacing("[[0]]", with: "[[1]]")
      case "\"unit\":\"furlongs\"": sound.replacing("\"bytes\"", with: "\"furlongs\"")
      default: sound.replacing("\"weights\":[2]", with: "\"weights\":[]")
      }
    for (text, isValid) in [(sound, true), (broken, false)] {
      let file = try directory.write(text, to: "\(isValid).speedscope.json")
      let check = try Command([BuildProducts.packageRoot + "/scripts/validate-formats", file]).run()
      #expect((check.end == .exit(0)) == isValid, "\(check.output)\(check.errorOutput)")
    }
  }

  @Test("GraphViz draws all findings, or the requested one") func dot() throws {
    let recorded = try RecordedFeed.shared()
    let file = recorded.directory.path + "/leaks.dot"
    #expect(try recorded.export("--format", "dot", "-o", file).end == .exit(0))
    #expect(try clusters(file) == recorded.fingerprints.count)
    let fingerprint = try #require(recorded.fingerprints.first)
    #expect(
      try recorded.export("--format", "dot", "--finding", String(fingerprint.prefix(8)), "-o", file).end == .exit(0))
    #expect(try clusters(file) == 1)
    let missing = try recorded.export("--format", "dot", "--finding", "zz")
    #expect(missing.end == .exit(2) && missing.output.isEmpty)
    #expect(missing.errorOutput.contains("no finding has a fingerprint that begins with 'zz'"))
  }

  @Test("GraphViz draws each way in which objects are held") func held() throws {
    let recorded = try RecordedFeed.shared()
    let file = recorded.directory.path + "/why.dot"
    struct Answer: Decodable {
      struct Group: Decodable {}
      var ways: [Group]
    }
    let question = [BuildProducts.leaktrace, "why", recorded.trace, "PresenceViewModel", "--format"]
    let json = try Command(question + ["json"]).run().output
    let drawn = try Command(question + ["dot"]).run()
    #expect(drawn.end == .exit(0) && drawn.output.contains("PresenceViewModel"), "\(drawn.errorOutput)")
    try drawn.output.write(toFile: file, atomically: true, encoding: .utf8)
    let ways = try JSONDecoder().decode(Answer.self, from: Data(json.utf8)).ways.count
    #expect(ways > 0)
    #expect(try clusters(file) == ways)
  }

  private func clusters(_ file: String) throws -> Int {
    let drawn = try Command(["dot", "-Tsvg", file]).run()
    #expect(drawn.end == .exit(0) && drawn.errorOutput.isEmpty, "\(drawn.errorOutput)")
    return drawn.output.components(separatedBy: "class=\"cluster\"").count - 1
  }

  @Test("A wrong option gives an error with advice and writes no file") func mistakes() throws {
    let recorded = try RecordedFeed.shared()
    for (arguments, status, words) in [
      (["--format", "pprof", "--value", "retains"], 64, "choose there with -sample_index"),
      (["--format", "collapsed", "--value", "retains", "--value", "live-bytes"], 64, "give --value once"),
      (["--format", "speedscope", "--finding", "ab"], 64, "--finding is for --format dot"),
      (["--format", "dot", "--value", "retains"], 64, "--value is for profiles"),
      (["--format", "dot", "-o", recorded.trace], 64, "would overwrite the trace"),
      (["--format", "dot", "-o", "/dev/full"], 5, "cannot write /dev/full"),
      (["--format", "dot", "--snapshot", "7"], 3, "has no heap image 7"),
      (["--format", "heapsnapshot", "--snapshot", "7"], 3, "has no heap image 7"),
      (["--format", "perfetto", "-o", recorded.directory.path + "/x", "--snapshot", "7"], 3, "has no heap image 7"),
      (["--format", "collapsed", "--value", "leaked-bytes", "--snapshot", "7"], 3, "has no heap image 7"),
    ] as [([String], Int32, String)] {
      let outcome = try Command([BuildProducts.leaktrace, "export", recorded.trace] + arguments).run()
      #expect(outcome.end == .exit(status), "\(arguments) \(outcome.errorOutput)")
      #expect(outcome.errorOutput.contains(words), "\(arguments) \(outcome.errorOutput)")
      #expect(outcome.output.isEmpty)
    }
    let missing = try Command([BuildProducts.leaktrace, "export", "/nonexistent", "--format", "dot"]).run()
    #expect(missing.end == .exit(3) && missing.errorOutput.contains("No such file or directory"))
    let copy = recorded.directory.path + "/second.trace"
    try FileManager.default.copyItem(atPath: recorded.trace, toPath: copy)
    let two = try Command([BuildProducts.leaktrace, "export", recorded.directory.path, "--format", "dot"]).run()
    #expect(two.end == .exit(64) && two.errorOutput.contains("has 2 traces; name one of them"))
  }

  @Test("A trace without a heap image has a profile without leaks") func withoutImage() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/a.trace"
    let recording = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "--no-snapshots", "-o", trace, "--", "ls", "/"]
    ).run()
    #expect(recording.end == .exit(0))
    let text = try Command([BuildProducts.leaktrace, "export", trace, "--format", "speedscope"]).run()
    #expect(text.end == .exit(0) && text.output.contains("allocated, bytes") && !text.output.contains("leaked"))
    let leaked = try Command(
      [BuildProducts.leaktrace, "export", trace, "--format", "collapsed", "--value", "leaked-bytes"]
    ).run()
    #expect(leaked.end == .exit(3) && leaked.errorOutput.contains("has no heap image"))
  }
}
