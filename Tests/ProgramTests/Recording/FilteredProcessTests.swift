// Attaching to processes that limit their system calls by filters. It works if the filters allow it; otherwise the
// process is left alone.

import Foundation
import TestRequirements
import Testing
import TraceReading

@testable import TraceRecording

@Suite(.requires(.recorder), .enabled(if: geteuid() == 0, "Only root may look at filters."))
struct FilteredProcessTests {
  private func leaktrace(_ arguments: String...) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace] + arguments).run()
  }

  /// Expects that the process runs, has no tracer and no child, and ends on SIGTERM.
  private func expectUndisturbed(_ program: InspectionTests.Waiting) throws {
    #expect(program.states == ["TracerPid:\t0"] && program.children.isEmpty)
    #expect(try program.end(SIGTERM).outcome.end == .signal(SIGTERM))
  }

  @Test(
    "Filters that allow a recording's calls, or fail its optional ones, permit attaching",
    arguments: ["container", "fails"])
  func joined(_ kind: String) throws {
    let program = try InspectionTests.Waiting("filtered.c", [kind])
    let process = String(program.processID), trace = program.directory.path + "/t"
    let attached = try leaktrace("attach", process, "-o", trace)
    #expect(attached.end == .exit(0), "\(attached)")
    if kind == "container" {
      let imaged = try leaktrace("snapshot", process)
      #expect(imaged.end == .exit(0), "\(imaged)")
    }
    let detached = try leaktrace("detach", process)
    #expect(detached.end == .exit(0) && detached.errorOutput.isEmpty, "\(detached)")
    #expect(RecordedTrace(path: trace)?.state == .closed(.detached))
    #expect(try TraceContents(trace).count("malloc") > 0)
    try expectUndisturbed(program)
  }

  @Test(
    "Other filters are refused by the name of the call, without an attempt",
    arguments: [
      ("kills", "does not allow 'flock'"), ("no-files", "does not allow 'openat'"),
      ("thread", "does not allow 'clone'"),
      ("strict", "that leaktrace cannot judge"), ("place", "that leaktrace cannot judge"),
    ])
  func refused(_ kind: String, _ words: String) throws {
    let program = try InspectionTests.Waiting("filtered.c", [kind])
    let refused = try leaktrace("attach", String(program.processID), "-o", program.directory.path + "/t")
    #expect(refused.end == .exit(1) && refused.output.isEmpty)
    #expect(
      refused.errorOutput.contains(words) && refused.errorOutput.filter { $0 == "\n" }.count == 1,
      "\(refused.errorOutput)")
    let maps = try String(contentsOfFile: "/proc/\(program.processID)/maps", encoding: .utf8)
    #expect(!maps.contains("libleaktrace"))
    // An inspection suspends the filter for the calls that it makes in the process, whichever thread makes them.
    let inspected = try leaktrace("inspect", String(program.processID))
    #expect(
      inspected.end == .exit(3) && inspected.errorOutput.contains("no Swift object is in the memory"), "\(inspected)")
    try expectUndisturbed(program)
  }
}
