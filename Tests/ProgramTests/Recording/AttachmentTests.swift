// Recordings that begin and end while the process runs: the process loads the library by dlopen, and calls it to begin
// and to end.

import Foundation
import TestRequirements
import Testing
import TraceReading

@testable import TraceRecording

@Suite(.requires(.recorder)) struct AttachmentTests {
  /// The settings for recordings of a program that attaches the recorder to itself, and the paths of the traces.
  private struct Recordings {
    let directory: TemporaryDirectory
    let settings: String

    init(takingImages: Bool) throws {
      directory = try TemporaryDirectory()
      settings = "LEAKTRACE_OUTPUT=\(directory.path)/%d.trace\nLEAKTRACE_SNAPSHOTS=\(takingImages ? "on" : "off")"
    }

    func path(_ number: Int) -> String { "\(directory.path)/\(number).trace" }
  }

  private static func plugin() throws -> String {
    try TestProgram("counted-plugin.c", flags: ["-shared", "-fPIC"]).path()
  }

  @Test(
    "Each recording has every call of busy threads, including calls in late libraries",
    arguments: [true, false], [1, 16])
  func counts(takingImages: Bool, threads: Int) throws {
    let times = 5, recordings = try Recordings(takingImages: takingImages)
    let outcome = try Command([
      try TestProgram("joins-itself.c").path(), BuildProducts.preloadLibrary, recordings.settings, String(threads),
      String(times), try Self.plugin(),
    ]).run()
    #expect(outcome.end == .exit(0) && outcome.errorOutput.isEmpty, "\(outcome)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.last == "done" && lines.count == times + 1)
    for (index, line) in lines.dropLast().enumerated() {
      let path = recordings.path(index + 1)
      let trace = try #require(RecordedTrace(path: path))
      #expect(trace.state == .closed(index + 1 < times ? .detached : .exit))
      let contents = try TraceContents(path)
      #expect(String(line) == "counted \(contents.count("aligned_alloc"))")
      #expect(contents.count("malloc") > 0, "calls of strdup are the C library's own")
      let reader = try TraceReader(path: path)
      #expect(reader.definitions.process.isAttached)
      let analysis = AllocationAnalysis(reader)
      #expect(analysis[.orphanFree] == 0 && analysis[.inheritedFree] > 0)
    }
  }

  @Test("Exactly the Swift objects made during a recording are recorded") func objects() throws {
    let count = 1000, recordings = try Recordings(takingImages: false)
    let outcome = try Command([
      try TestProgram("joins-itself.swift").path(), BuildProducts.preloadLibrary, recordings.settings, String(count),
    ]).run()
    #expect(outcome.end == .exit(0) && outcome.output == "done\n", "\(outcome)")
    for number in 1...3 {
      let reader = try TraceReader(path: recordings.path(number))
      #expect(reader.definitions.process.hasSwiftHooks && reader.definitions.process.isAttached)
      let analysis = AllocationAnalysis(reader)
      let tickets = analysis.sites.filter { analysis.typeName(of: $0).hasSuffix(".Ticket") }
      #expect(tickets.reduce(0) { $0 + $1.total.allocatedBlocks } == UInt64(count) + 1)
      #expect(tickets.reduce(0) { $0 + $1.total.liveBlocks } == 1)
    }
  }

  @Test("A recording may start after another stopped by itself") func afterStop() throws {
    let times = 10, recordings = try Recordings(takingImages: false)
    let outcome = try Command([
      try TestProgram("joins-after-stop.c").path(), BuildProducts.preloadLibrary, recordings.settings, String(times),
    ]).run()
    #expect(outcome.end == .exit(0) && outcome.output == "done\n", "\(outcome)")
    for number in 1..<times {
      let trace = try #require(RecordedTrace(path: recordings.path(number)))
      #expect(trace.state == .stopped(EFBIG) && trace.eventCount > 1000, "\(number): \(trace.state)")
    }
  }

  @Test("A preloaded program is not joined, and a failed recording gives the reason")
  func refusals() throws {
    let recordings = try Recordings(takingImages: false)
    let program = try TestProgram("joins-itself.c").path()
    let run = try TracedRun([program, BuildProducts.preloadLibrary, recordings.settings, "1", "1"])
    #expect(run.traced.output == "refused 1\n" && run.traced.end == .exit(2), "\(run.traced)")
    let outcome = try Command([
      program, BuildProducts.preloadLibrary, "LEAKTRACE_OUTPUT=/nonexistent/%d.trace", "1", "1",
    ]).run()
    #expect(outcome.output == "refused 4\n" && outcome.end == .exit(2))
    #expect(outcome.errorOutput.contains("cannot create /nonexistent/1.trace: No such file or directory"))
  }
}
