// The C++ operators new and delete of allocators that define their own: their blocks are recorded like all others.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct OperatorTests {
  @Test(
    "Memory from operator new is in use until it is deleted",
    arguments: TestTier.arguments(["libjemalloc.so.2"], of: ["", "libjemalloc.so.2", "libtcmalloc_minimal.so.4"]),
    TestTier.arguments(["light"], of: ["full", "light"]))
  func operators(allocator: String, mode: String) throws {
    let program = try TestProgram("keeps-by-operator-new.swift", flags: ["-lstdc++"]).path()
    let run = try TracedRun([program], options: mode == "light" ? ["--light"] : []) {
      if !allocator.isEmpty { $0.environment["LD_PRELOAD"] = allocator }
    }
    run.expectSameBehaviour()
    let trace = try run.onlyTrace()
    let report = try LightRecordingTests.Report(trace.path)
    // Objects that are kept for the whole run may be suspected of growing.
    #expect(report.findings.filter { !$0.hasPrefix("accumulating") } == ["lost Lost × 40"])
    // Each of 3,000 kept objects has a session and a node. The texts of the names are constants of the program, without
    // blocks.
    #expect(report.liveBlocks > 6_000 && report.liveBlocks < 6_500, "\(report.liveBlocks)")
    guard mode == "full" else { return }
    let contents = try TraceContents(trace.path)
    #expect(contents.orphans == 0 && contents.count("free") >= 3_000)
  }
}
