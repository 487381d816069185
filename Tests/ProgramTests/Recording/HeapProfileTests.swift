// Heap profiles of light recordings, read by go tool pprof.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct HeapProfileTests {
  /// Returns the total that `go tool pprof` shows, in bytes or objects, and the whole output.
  private static func top(_ file: String, _ sampleType: String) throws -> (total: Double, text: String) {
    let outcome = try Command(
      ["go", "tool", "pprof", "-top", "-nodefraction=0", "-unit=B", "-sample_index=\(sampleType)", file]
    ).run()
    try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    let total = try #require(outcome.output.firstMatch(of: /of ([0-9.]+)B? total/))
    return (try #require(Double(total.1)), outcome.output)
  }

  @Test("The library's profile has the program's live and freed memory") func library() throws {
    let directory = try TemporaryDirectory()
    let program = try LeakTraceLibrary.program("heap-profiles.swift").path()
    let file = directory.path + "/heap.pb.gz"
    let recorded = try Command(
      [
        BuildProducts.leaktrace, "record", "--quiet", "--light", "--sample-first", "0", "--sample", "16KiB", "-o",
        directory.path + "/t.trace",
        "--", program, file,
      ]
    ).run()
    #expect(recorded.output == "a profile 2000\n" && recorded.end == .exit(0), "\(recorded.errorOutput)")
    // The program keeps 2,000 blocks of 10,000 bytes, and frees 1,000 more. Some 46 % of each group are sampled. So ten
    // standard deviations are a quarter of the total.
    let kept = try Self.top(file, "inuse_space")
    #expect((15e6...25e6).contains(kept.total), "\(kept.text)")
    #expect(kept.text.contains("keepForever") && kept.text.contains("File: heap-profiles"), "\(kept.text)")
    let allocated = try Self.top(file, "alloc_space")
    #expect((22.5e6...37.5e6).contains(allocated.total) && allocated.text.contains("throwAway"), "\(allocated.text)")
    #expect((1500...2500).contains(try Self.top(file, "inuse_objects").total))
    let raw = try Command(["go", "tool", "pprof", "-raw", file]).run().output
    #expect(raw.contains("PeriodType: space bytes\nPeriod: 16384\n"))
    #expect(
      raw.contains("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes[dflt]"), "\(raw)")
    // The profile has the program's mapping, with a build ID.
    #expect(
      raw.contains(try Regex("1: 0x[0-9a-f]+/0x[0-9a-f]+/0x[0-9a-f]+ \(program) [0-9a-f]{40} \\[FN\\]")), "\(raw)")
  }

  @Test("Only light recordings have a profile") func none() throws {
    let program = try LeakTraceLibrary.program("heap-profiles.swift").path()
    #expect(try Command([program, "/nonexistent/file"]).run().output == "no profile 2000\n")
    let directory = try TemporaryDirectory()
    let full = try Command(TracedRun.recordArguments(directory) + [program, "/nonexistent/file"]).run()
    #expect(full.output == "no profile 2000\n")
  }

  @Test("The profile at the end is written beside the trace in the output folder") func files() throws {
    let directory = try TemporaryDirectory()
    let program = try LeakTraceLibrary.program("heap-profiles.swift").path()
    let recorded = try Command(
      [
        BuildProducts.leaktrace, "record", "--quiet", "--light", "--sample-first", "0", "--sample", "16KiB",
        "--profile-every", "1h", "-o",
        directory.path, "--", program, directory.path + "/library.pb.gz",
      ]
    ).run()
    #expect(recorded.end == .exit(0) && recorded.errorOutput == "", "\(recorded.errorOutput)")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    let profile = try #require(names.first { $0.hasSuffix(".heap-00.pb.gz") }, "\(names)")
    #expect(profile.hasPrefix("leaktrace.heap-profiles.") && !names.contains { $0.hasSuffix(".new") })
    #expect(names.contains(String(profile.dropLast(".heap-00.pb.gz".count)) + ".trace"), "\(names)")
    let top = try Self.top(directory.path + "/" + profile, "alloc_space")
    #expect(top.text.contains("keepForever"), "\(top.text)")
  }

  @Test("An unwritable profile is reported once, and the program continues") func unwritable() throws {
    let directory = try TemporaryDirectory()
    let program = try LeakTraceLibrary.program("heap-profiles.swift").path()
    // A folder already has the name of the profile's file.
    try FileManager.default.createDirectory(
      atPath: directory.path + "/t.heap-00.pb.gz/full", withIntermediateDirectories: true)
    let recorded = try Command(
      [
        BuildProducts.leaktrace, "record", "--quiet", "--light", "--profile-every", "1h", "-o",
        directory.path + "/t.trace", "--", program, directory.path + "/library.pb.gz",
      ]
    ).run()
    #expect(recorded.output == "a profile 2000\n" && recorded.end == .exit(0))
    #expect(recorded.errorOutput.contains("a heap profile could not be written beside"), "\(recorded.errorOutput)")
  }
}
