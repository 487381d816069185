// Light recordings take samples. Their images prove the same leaks as images of full recordings, and the program's
// behaviour does not change.

import Foundation
import TestRequirements
import Testing
@testable import TraceReading

@Suite(.requires(.recorder)) struct LightRecordingTests {
  /// The parts of `analyze`'s report on an image that the tests read.
  struct Report {
    /// `VERDICT title × instances`.
    var findings: [String] = []
    /// The samples of all findings, as `function × instances`.
    var samples: [String] = []
    var isLight = false
    var liveBlocks = 0
    /// The estimates of live blocks, for all sites.
    var live: [Estimate] = []

    struct Estimate {
      var blocks: Int
      var samples: Int
      var error: Double
      var isWithStack: Bool
    }

    init(_ trace: String, snapshot: Int? = nil) throws {
      let outcome = try Command(
        [BuildProducts.leaktrace, "analyze", trace, "--format", "json"]
          + (snapshot.map { ["--snapshot", "\($0)"] } ?? [])
      ).run()
      try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
      let report = try #require(
        try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
      let only = try #require((report["reports"] as? [[String: Any]])?.first)
      for finding in try #require(only["findings"] as? [[String: Any]]) {
        findings.append("\(finding["verdict"] ?? "") \(finding["title"] ?? "") × \(finding["instances"] ?? "")")
        for sample in try #require(finding["samples"] as? [[String: Any]]) {
          samples.append("\(sample["function"] ?? "") × \(sample["instances"] ?? "")")
        }
      }
      let process = try #require((only["traces"] as? [[String: Any]])?.first)
      isLight = process["isLight"] as? Bool ?? false
      for site in try #require(only["estimatedSites"] as? [[String: Any]]) {
        let sums = try #require(site["live"] as? [String: Any])
        live.append(
          Estimate(
            blocks: sums["blocks"] as? Int ?? -1, samples: sums["samples"] as? Int ?? -1,
            error: (sums["standardError"] as? NSNumber)?.doubleValue ?? -1,
            isWithStack: (site["frames"] as? [Any])?.isEmpty == false))
      }
      liveBlocks = (process["atExit"] as? [String: Any])?["liveBlocks"] as? Int ?? 0
    }
  }

  private static func waiting(_ options: [String], preloading allocator: String = "") throws -> InspectionTests.Waiting
  {
    try InspectionTests.Waiting(
      "inspected.swift",
      under: [BuildProducts.leaktrace, "record", "--quiet", "--light"] + options + [
        "-o", "%DIRECTORY%/%p.trace", "--",
      ],
      preloading: allocator)
  }

  static func takeImage(_ program: InspectionTests.Waiting) throws {
    let asked = try Command([BuildProducts.leaktrace, "snapshot", String(program.processID)]).run()
    #expect(asked.end == .exit(0), "\(asked.errorOutput)")
  }

  @Test("Each image has all blocks of its time, whatever was sampled") func images() throws {
    let program = try Self.waiting(["--sample", "1GiB", "--sample-first", "0"])
    try Self.takeImage(program)
    try Self.takeImage(program)
    let trace = try #require(program.trace())
    let first = try Report(trace, snapshot: 1)
    let second = try Report(trace, snapshot: 2)
    #expect(first.isLight && second.isLight)
    #expect(first.findings == ["retainCycle Screen ↺ × 40"])
    #expect(second.findings == first.findings && second.samples == [])
    _ = try program.end(SIGKILL)
  }

  @Test(
    "An image and a simultaneous inspection have the same blocks", arguments: ["", "libjemalloc.so.2"])
  func blocks(allocator: String) throws {
    let program = try Self.waiting([], preloading: allocator)
    try Self.takeImage(program)
    let inspection = program.directory.path + "/inspection"
    let inspected = try Command([
      BuildProducts.leaktrace, "inspect", String(program.processID), "--format", "json", "-o", inspection,
    ]).run()
    #expect(inspected.end == .exit(0), "\(inspected.errorOutput)")
    func listed(_ path: String) throws -> Set<String> {
      let reader = try TraceReader(path: path)
      var blocks: Set<String> = []
      try reader.forEachEvent { event in
        if event.operation == .heapListed { blocks = [] }
        let type = reader.definitions.types[event.type]?.displayName ?? ""
        if event.address != 0 { blocks.insert("\(event.address) \(type)") }
      }
      return blocks
    }
    let light = try listed(try #require(program.trace()))
    let other = try listed(inspection)
    #expect(light.count > 200)
    // With jemalloc, an inspection also finds blocks of glibc's allocator, which the program does not use.
    let maxOthers = allocator.isEmpty ? 0 : 16
    #expect(light.subtracting(other).isEmpty, "\(light.subtracting(other).prefix(10))")
    #expect(other.subtracting(light).count <= maxOthers, "\(other.subtracting(light).prefix(10))")
    _ = try program.end(SIGKILL)
  }

  @Test("With unknown allocator metadata, the recorder tracks the live blocks itself")
  func keptBlocks() throws {
    let library = try TestProgram("early-jemalloc.c", flags: ["-shared", "-fPIC"]).path()
    let program = try Self.waiting([], preloading: library)
    try Self.takeImage(program)
    let report = try Report(try #require(program.trace()))
    #expect(report.isLight && report.liveBlocks > 200)
    #expect(report.findings == ["retainCycle Screen ↺ × 40"])
    _ = try program.end(SIGKILL)
  }

  @Test("Every instance has its place if every allocation is sampled") func places() throws {
    let program = try Self.waiting(["--sample", "1B"])
    try Self.takeImage(program)
    let report = try Report(try #require(program.trace()))
    #expect(report.findings == ["retainCycle Screen ↺ × 40"])
    // The sample's place is a line of top-level code in the main file, whose function the compiler generates.
    #expect(report.samples.count == 1 && report.samples[0].hasSuffix("× 40"), "\(report.samples)")
    // All allocations were sampled, so nothing was estimated.
    #expect(report.live.contains { $0.blocks == 40 && $0.samples == 40 && $0.error == 0 && $0.isWithStack })
    _ = try program.end(SIGKILL)
  }

  @Test("The first allocations are all sampled, so a small program has all its places") func firstSamples()
    throws
  {
    let directory = try TemporaryDirectory()
    /// Records the program that allocates in four places. Returns the estimates for its sites.
    func sampled(_ options: [String]) throws -> [Report.Estimate] {
      let trace = directory.path + "/first.trace"
      let recorded = try Command(
        [BuildProducts.leaktrace, "record", "--quiet", "--light", "-o", trace] + options
          + ["--", try TestProgram("first-samples.c").path()]
      ).run()
      #expect(recorded.end == .exit(0), "\(recorded.errorOutput)")
      return try Report(trace).live
    }
    // The program allocates 3,000 blocks in one place, and 5,000 in another. The C library has made a few before.
    let usual = try sampled([])
    #expect(usual.contains { $0.blocks == 3000 && $0.samples == 3000 && $0.error == 0 && $0.isWithStack })
    #expect(usual.contains { $0.blocks == 5000 && $0.samples == 5000 && $0.error == 0 && $0.isWithStack })
    let fewer = try sampled(["--sample-first", "4000", "--sample", "1024GiB"])
    #expect(fewer.contains { $0.blocks == 3000 && $0.samples == 3000 && $0.error == 0 && $0.isWithStack })
    let rest = try #require(fewer.filter { $0.samples < 3000 }.max { $0.samples < $1.samples })
    #expect((900...1000).contains(rest.samples) && rest.blocks == rest.samples && rest.error == 0, "\(fewer)")
    // After the first samples, blocks are sampled at random as usual.
    let drawn = try sampled(["--sample-first", "4000", "--sample", "1KiB"])
    let mixed = try #require(drawn.filter { $0.samples != 3000 }.max { $0.blocks < $1.blocks })
    #expect(mixed.samples > rest.samples && mixed.samples < 2000 && mixed.error > 0, "\(drawn)")
    #expect(abs(Double(mixed.blocks) - 5000) < 5 * mixed.error / 64, "\(drawn)")
  }

  @Test("Lost untyped memory has the place of its samples, or no owner") func losses() throws {
    let directory = try TemporaryDirectory()
    func report(_ options: [String], first: String = "0", _ arguments: [String] = []) throws -> (
      report: Report, text: String
    ) {
      let trace = directory.path + "/losses.trace"
      let recorded = try Command(
        [BuildProducts.leaktrace, "record", "--quiet", "--light", "--sample-first", first, "-o", trace] + options
          + ["--", try TestProgram("loses-strings.swift").path()] + arguments
      ).run()
      #expect(recorded.end == .exit(0), "\(recorded.errorOutput)")
      let text = try Command([BuildProducts.leaktrace, "analyze", trace]).run().output
      return (try Report(trace), text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }
    // Of 50,000 strings of 60 bytes, some 700 are sampled. The probability that none is sampled is 10^-300.
    let sampled = try report(["--sample", "4KiB"])
    #expect(sampled.report.findings.count == 1 && sampled.report.findings[0].hasSuffix("of malloc × 50000"))
    #expect(sampled.report.samples.count == 1 && sampled.report.samples[0].hasPrefix("answer"))
    #expect(sampled.text.contains("Leaks: 1 proven") && sampled.text.contains("allocated in answer(_:)"))
    let unknown = try report(["--sample", "1024GiB"])
    #expect(unknown.report.findings.count == 1 && unknown.report.findings[0].hasSuffix("of malloc × 50000"))
    #expect(unknown.report.samples == [])
    #expect(unknown.text.contains("Leaks: none found") && unknown.text.contains("Of unknown origin: 1 finding"))
    // A string that was lost at the start, when all allocations were sampled, does not show where later strings were
    // allocated.
    let early = try report(["--sample", "1024GiB"], first: "8192", ["early"])
    #expect(early.report.samples.count == 1 && early.report.samples[0] == "configure() × 1", "\(early.text)")
    #expect(Set(early.report.findings.map { $0.split(separator: " ").last }) == ["1", "1500"], "\(early.text)")
    let both = try report(["--sample", "4KiB"], first: "8192", ["early"])
    #expect(both.report.samples.count == 2 && both.report.samples.contains { $0.hasPrefix("answer") }, "\(both.text)")
    #expect(Set(both.report.findings.map { $0.split(separator: " ").last }) == ["1", "1500"], "\(both.text)")
    #expect(both.text.contains("Leaks: 2 proven") && !both.text.contains("unknown origin"))
  }

  @Test("The images of a recording form a series like those of a watch") func series() throws {
    let program = try Self.waiting([])
    for _ in 0..<3 { try Self.takeImage(program) }
    let outcome = try Command([BuildProducts.leaktrace, "watch", "--from", program.directory.path]).run()
    #expect(outcome.output.contains("3 images"), "\(outcome.output)\(outcome.errorOutput)")
    _ = try program.end(SIGKILL)
  }

  @Test("An image is taken automatically when the process is large") func dueImages() throws {
    let program = try Self.waiting(["--snapshot-above", "1MiB", "--sample", "4KiB"])
    let reason = try AwaitedState.value("an image is written") {
      program.trace().flatMap { try? TraceReader(path: $0).snapshots.first?.reason }
    }
    #expect(reason == .size)
    _ = try program.end(SIGKILL)
  }

  @Test(
    "A forked copy of a threaded process reports nothing that other threads held", arguments: ["alone", "threaded"])
  func forkedWorkers(way: String) throws {
    let run = try TracedRun(
      [try TestProgram("forks-workers.swift").path(), way], options: ["--light", "--follow-children"])
    run.expectSameBehaviour()
    let traces = run.traces.sorted { $0.startRealtime < $1.startRealtime }
    try #require(traces.count == 2)
    #expect(try Report(traces[0].path).findings == ["retainCycle Screen ↺ × 10"])
    let worker = try Report(traces[1].path)
    #expect(worker.findings == (way == "alone" ? ["retainCycle Screen ↺ × 15"] : []))
    let text = try Command([BuildProducts.leaktrace, "analyze", traces[1].path]).run().output
    #expect(text.contains("forked this one while it had several threads") == (way == "threaded"), "\(text)")
  }

  @Test("Children run as without the recorder, followed or not", arguments: ChildProcessTests.ways)
  func children(way: String) throws {
    let alone = try ChildProcessTests.run(way, ["--light"])
    #expect(try alone.onlyTrace().state == .closed(.exit))
    let followed = try ChildProcessTests.run(way, ["--light", "--follow-children"])
    #expect(followed.traces.allSatisfy { $0.state != .open })
  }

  @Test(
    "Programs behave as without the recorder",
    arguments: [
      ["thread-ends.c"], ["unaligned-stack.c"], ["signal-handlers.swift"],
    ])
  func behaviour(command: [String]) throws {
    let run = try TracedRun(
      [try TestProgram(command[0]).path()] + command.dropFirst(), options: ["--light", "--sample", "4KiB"])
    run.expectSameBehaviour()
  }

  @Test(
    "Conflicting options are refused",
    arguments: [
      ["--sample", "64KiB"], ["--snapshot-every", "1m"], ["--snapshot-above", "1GiB"], ["--light", "--arc", "off"],
      ["--light", "--snapshot-every", "1s"], ["--profile-every", "60s"], ["--light", "--profile-every", "0.5s"],
      ["--light", "--no-snapshots", "--snapshot-every", "1m"], ["--light", "--limit", "1GiB"], ["--limit", "1KiB"],
      ["--light", "--sample-first", "16385"], ["--sample-first", "100"], ["--light", "--keep-images", "5"],
      ["--light", "--snapshot-every", "1m", "--keep-images", "1"],
    ])
  func refusals(options: [String]) throws {
    let outcome = try Command([BuildProducts.leaktrace, "record"] + options + ["--", "/bin/true"]).run()
    #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
  }
}
