// Light recordings with several images: when images are taken automatically, and what grows from one image to the next.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder), .serialized) struct LightSeriesTests {
  private static func waiting(
    _ program: String = "watched.swift", options: [String] = [], arguments: [String], within group: [String] = []
  ) throws -> InspectionTests.Waiting {
    try InspectionTests.Waiting(
      program, arguments,
      under: group + [BuildProducts.leaktrace, "record", "--quiet", "--light"] + options + [
        "-o", "%DIRECTORY%/%p.trace", "--",
      ])
  }

  @Test("Images are taken at intervals, for a large process every ten minutes") func intervals() throws {
    let program = try Self.waiting(
      options: ["--snapshot-every", "10s", "--snapshot-above", "1MiB", "--sample", "4KiB"], arguments: ["registry"])
    let reader = try AwaitedState.value("three images at intervals are written") {
      let reader = program.trace().flatMap { try? TraceReader(path: $0) }
      let images = reader?.snapshots.count { $0.isWhole && $0.reason == .interval } ?? 0
      return images < 3 ? nil : reader
    }
    #expect(reader.snapshots.count { $0.reason == .size } == 1)
    let times = reader.snapshots.filter { $0.reason == .interval }.compactMap { reader.clock.seconds(at: $0.time) }
    // Each image is due one interval after the previous image was due. The first is due one interval after the trace
    // was opened.
    for (index, time) in times.enumerated() {
      #expect(time > 10 * Double(index + 1) - Self.clockDifference, "\(times)")
    }
    _ = try program.end(SIGKILL)
  }

  /// The tolerance in seconds for comparing times of two clocks, which are read one after the other.
  private static let clockDifference = 0.05

  @Test("Old images are dropped for new ones, but not while they are read") func kept() throws {
    let variables = [
      "LEAKTRACE_MODE=light", "LEAKTRACE_SNAPSHOT_SECONDS=1", "LEAKTRACE_KEEP_IMAGES=3",
      "LEAKTRACE_OUTPUT=%DIRECTORY%/%p.trace", "LD_PRELOAD=\(BuildProducts.preloadLibrary)",
    ]
    let program = try InspectionTests.Waiting("watched.swift", ["registry"], under: ["env"] + variables)
    func reader(withImage number: UInt32, ofAtMost limit: Int = .max) throws -> TraceReader {
      try AwaitedState.value("image \(number) is whole, and there are few") {
        // This sleep leaves gaps between readers. The recorder waits as long as one reader follows another, but not for
        // ever.
        usleep(200_000)
        let reader = program.trace().flatMap { try? TraceReader(path: $0) }
        return reader.flatMap { reader in
          let isThere = reader.snapshots.contains { $0.isWhole && $0.number >= number }
          return isThere && reader.snapshots.count <= limit ? reader : nil
        }
      }
    }
    let later = try reader(withImage: 6, ofAtMost: 4)
    #expect(later.diagnostics.isEmpty && later.snapshots.first?.number == 1)
    #expect(!later.snapshots.contains { !$0.isWhole })
    // The images that `later` found are still there after three more were written.
    let number = try #require(later.snapshots.last?.number)
    let last = try reader(withImage: number + 3)
    let times = Set(last.snapshots.map(\.time))
    #expect(times.isSuperset(of: later.snapshots.map(\.time)))
    let buffer = PayloadBuffer()
    for chunk in later.chunks { #expect(later.loader.load(chunk, into: buffer) == nil) }
    withExtendedLifetime((later, last)) {}
    let trace = try #require(program.trace())
    _ = try program.end(SIGTERM)
    let outcome = try Self.analyze(trace)
    #expect(outcome.end == .exit(0) && outcome.output.contains("heap images over"), "\(outcome)")
    #expect(try TraceReader(path: trace).diagnostics.isEmpty)
  }

  @Test("An image is taken when the process exceeds a size") func size() throws {
    try imageOfLarge(48 << 20, "48MiB", within: [])
  }

  @Test(
    "An image is taken when the process exceeds a share of its control group's limit", .secondTier,
    .enabled(if: MemoryControlGroup.isAvailable, "No control group with a limit of memory can be made here."))
  func share() throws {
    let group = try MemoryControlGroup(limit: 400 << 20)
    try imageOfLarge(60 << 20, "15%", within: group.command)
  }

  private func imageOfLarge(_ limit: UInt64, _ option: String, within group: [String]) throws {
    let program = try Self.waiting(
      "grows.c", options: ["--snapshot-above", option, "--sample", "64KiB"], arguments: ["96"], within: group)
    let reader = try AwaitedState.value("an image is written") {
      let reader = program.trace().flatMap { try? TraceReader(path: $0) }
      return reader.flatMap { $0.snapshots.contains { $0.isWhole } ? $0 : nil }
    }
    let image = try #require(reader.snapshots.first)
    #expect(reader.snapshots.count == 1 && image.reason == .size)
    let residence = try #require(reader.definitions.residences.first { $0.time == image.time })
    #expect(residence.anonymous + residence.other > limit)
    _ = try program.end(SIGKILL)
  }

  @Test("Pauses of a single-threaded program are reported") func pause() throws {
    let program = try Self.waiting("grows.c", arguments: ["1"])
    try LightRecordingTests.takeImage(program)
    let trace = try #require(program.trace())
    let image = try #require(try TraceReader(path: trace).snapshots.first?.end)
    #expect(image.pauseNanoseconds > 0 && image.pauseNanoseconds <= image.totalNanoseconds)
    _ = try program.end(SIGKILL)
  }

  @Test("The cost of automatic images is printed before the program starts") func costs() throws {
    let directory = try TemporaryDirectory()
    func message(_ options: [String]) throws -> String {
      try Command(
        [BuildProducts.leaktrace, "record", "--light"] + options + ["-o", directory.path + "/%p", "--", "/bin/true"]
      ).run().errorOutput
    }
    let regular = try message(["--snapshot-every", "10m"])
    #expect(regular.contains("a program of 1.00 GiB is stopped for about"), "\(regular)")
    let large = try message(["--snapshot-above", "2GiB"])
    #expect(large.contains("a program of 2.00 GiB is stopped for about"), "\(large)")
    #expect(try !message([]).contains("is stopped for"))
    // A percentage refers to the limit of the control group. Without such a limit, the command prints a message about
    // that.
    let share = try message(["--snapshot-above", "80%"])
    #expect(share.contains("is stopped for") || share.contains("limit"), "\(share)")
    #expect(try !message(["--snapshot-every", "10m", "--quiet"]).contains("is stopped for"))
  }

  private struct Analysis: Decodable {
    struct Report: Decodable { var growth: WatchTests.Report? }
    var reports: [Report]
  }

  private static func analyze(_ trace: String, _ options: [String] = []) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace, "analyze", trace] + options).run()
  }

  /// Leaks twelve more objects.
  private static func leakMore(_ program: InspectionTests.Waiting) throws {
    let done = "/tmp/leaks-when-told.\(program.processID)"
    kill(program.processID, SIGUSR1)
    try AwaitedState.wait(until: "it has leaked") { FileManager.default.fileExists(atPath: done) }
    try FileManager.default.removeItem(atPath: done)
  }

  @Test("The first image with a proven leak names it, and counts are shown per image") func proven() throws {
    let program = try Self.waiting("leaks-when-told.swift", arguments: [])
    for number in 1...3 {
      if number > 1 { try Self.leakMore(program) }
      try LightRecordingTests.takeImage(program)
    }
    _ = try program.end(SIGKILL)
    let trace = try #require(program.trace())
    let json = try Self.analyze(trace, ["--format", "json"])
    let report = try JSONDecoder().decode(Analysis.self, from: Data(json.output.utf8)).reports.first
    let growth = try #require(report?.growth)
    #expect(growth.imagesTaken == 3 && growth.suspects.isEmpty)
    let proven = growth.proven.filter { !$0.isLibrary }.map { "\($0.verdict) \($0.title) \($0.instances)" }.sorted()
    #expect(proven == ["retainCycle Pane ↺ [0, 12, 24]", "retainCycle Screen ↺ [40, 40, 40]"])
    #expect(try LightRecordingTests.Report(trace, snapshot: 1).findings == ["retainCycle Screen ↺ × 40"])
    #expect(try LightRecordingTests.Report(trace, snapshot: 2).findings.contains("retainCycle Pane ↺ × 12"))
    let text = try Self.analyze(trace).output
    #expect(text.contains("Growth: not judged with 3 images; it takes 6"), "\(text)")
    #expect(text.contains("Proven leaks that grew: 1") && text.contains("0 → 24"), "\(text)")
    // With `--snapshot`, the images up to the given one are compared. The first image has nothing to compare with.
    #expect(try Self.analyze(trace, ["--snapshot", "2"]).output.contains("0 → 12"))
    #expect(try !Self.analyze(trace, ["--snapshot", "1"]).output.contains("Growth:"))
    let page = try Self.analyze(trace, ["--format", "html"]).output
    #expect(page.contains("\"imagesTaken\":3"))
  }

  /// Two ways that leak, one of them with a proven leak, and two that do not.
  private static let ways = WatchTests.allWays.filter {
    TestTier.arguments(["registry", "small-cache"], of: ["registry", "cycles", "backlog", "small-cache"]).contains(
      $0.testDescription)
  }

  /// Judges the growth of a program that released its objects and ended.
  private func expectGrowth(_ trace: String, images: Int, remark: String) throws {
    let json = try Self.analyze(trace, ["--format", "json"])
    let report = try JSONDecoder().decode(Analysis.self, from: Data(json.output.utf8)).reports.first
    let growth = try #require(report?.growth)
    #expect(growth.suspects.map { "\($0.name) in \($0.holder)" } == ["Session in Server.sessions"])
    #expect(growth.suspects.first?.counts.count == images)
    let text = try Self.analyze(trace).output
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains(remark), "\(text)")
    #expect(try TraceReader(path: trace).snapshots.last?.reason == .exit)
  }

  @Test("The image at the end does not hide growth between intervals", .secondTier)
  func orderlyEnd() throws {
    let variables = [
      "LEAKTRACE_MODE=light", "LEAKTRACE_SNAPSHOT_SECONDS=1", "LEAKTRACE_KEEP_IMAGES=40",
      "LEAKTRACE_OUTPUT=%DIRECTORY%/%p.trace", "LD_PRELOAD=\(BuildProducts.preloadLibrary)",
    ]
    let program = try InspectionTests.Waiting("watched.swift", ["registry"], under: ["env"] + variables)
    try AwaitedState.wait(until: "eight images are whole") {
      let reader = program.trace().flatMap { try? TraceReader(path: $0) }
      return (reader?.snapshots.count(where: \.isWhole) ?? 0) >= 8
    }
    #expect(try program.end(SIGHUP).outcome.end == .exit(0))
    let trace = try #require(program.trace())
    let images = try TraceReader(path: trace).snapshots.count { $0.isWhole && $0.reason == .interval }
    try expectGrowth(trace, images: images, remark: "judged by the images before the program's end")
  }

  @Test("The image at the end does not hide growth in requested images", .secondTier)
  func requestedBeforeTheEnd() throws {
    let program = try Self.waiting(arguments: ["registry"])
    for number in 1...8 {
      if number > 1 { sleep(1) }
      try LightRecordingTests.takeImage(program)
    }
    #expect(try program.end(SIGHUP).outcome.end == .exit(0))
    let trace = try #require(program.trace())
    try expectGrowth(trace, images: 8, remark: "the program did little else than end after it")
  }

  @Test("A light recording and a watch name the same growth", arguments: ways)
  func growth(_ way: WatchTests.Way) throws {
    let program = try Self.waiting(arguments: [way.testDescription])
    for _ in 1...12 {
      try LightRecordingTests.takeImage(program)
      sleep(1)
    }
    _ = try program.end(SIGKILL)
    let trace = try #require(program.trace())
    let analyzed = try Self.analyze(trace, ["--format", "json"])
    let report = try JSONDecoder().decode(Analysis.self, from: Data(analyzed.output.utf8)).reports.first
    let growth = try #require(report?.growth)
    #expect(growth.imagesTaken == 12)
    #expect(growth.suspects.map { "\($0.name) in \($0.holder)" } == way.suspects, "\(growth.suspects)")
    let traces = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: trace, toPath: traces.path + "/one.trace")
    let watched = try Command([BuildProducts.leaktrace, "watch", "--from", traces.path, "--format", "json"]).run()
    #expect(try WatchTests.Report(watched.output).suspects.map(\.counts) == growth.suspects.map(\.counts))
    let gate = try Self.analyze(trace, ["--fail-on", "suspects"])
    #expect(gate.end == .exit(way.suspects.isEmpty ? 0 : 1), "\(gate.errorOutput)")
    for suspect in way.suspects { #expect(gate.output.contains(suspect), "\(gate.output)") }
  }
}
