// The number of recorded events equals the number of calls, which the calling program counts itself.

import TestRequirements
import Testing
@testable import TraceReading

@Suite(.requires(.recorder)) struct CountTests {
  /// Returns the calls that a run records in addition to a run with a count of 0. These are the program's own calls:
  /// the C library and the runtime make the same calls in both runs.
  private func difference(_ program: String, threads: Int, count: Int, options: [String] = []) throws -> (
    TraceContents, (String) -> Int
  ) {
    func contents(_ count: Int) throws -> TraceContents {
      let run = try TracedRun([program, String(threads), String(count)], options: options)
      run.expectSameBehaviour()
      let trace = try run.onlyTrace()
      #expect(trace.state == .closed(.exit))
      return try TraceContents(trace.path)
    }
    let none = try contents(0), all = try contents(count)
    return (all, { all.count($0) - none.count($0) })
  }

  @Test("Every allocation call is recorded once", arguments: [1, 64]) func allocations(threads: Int) throws {
    let count = threads == 1 ? 1000 : 100, expected = threads * count
    let (contents, difference) = try difference(
      try TestProgram("allocation-calls.c", flags: ["-fno-builtin"]).path(), threads: threads, count: count)
    for call in [
      "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc",
    ] {
      #expect(difference(call) == expected, "\(call)")
    }
    #expect(difference("malloc") == 3 * expected)
    #expect(difference("free") == 9 * expected)
    #expect(difference("realloc_free") == 2 * expected)
    // malloc and calloc allocate 24 bytes each, realloc allocates 4000, and reallocarray 700.
    #expect(contents.allocations(ofSize: 24) >= 2 * expected)
    #expect(contents.allocations(ofSize: 4000) >= expected && contents.allocations(ofSize: 700) >= expected)
    #expect(contents.orphans == 0)
  }

  @Test("Every thread is recorded with its system thread ID") func threads() throws {
    let run = try TracedRun([try TestProgram("allocation-calls.c", flags: ["-fno-builtin"]).path(), "4", "10"])
    let reader = try TraceReader(path: try run.onlyTrace().path)
    let numbers = reader.definitions.threads.map(\.osThread)
    #expect(numbers.count > 1 && Set(numbers).count == numbers.count)
    #expect(numbers.contains(UInt64(reader.header.processID)))
  }

  @Test("Every object, retain and release is recorded once", arguments: [1, 64]) func references(threads: Int) throws {
    let count = threads == 1 ? 1000 : 100, expected = threads * count
    let (contents, difference) = try difference(
      try TestProgram("reference-calls.swift").path(), threads: threads, count: count)
    #expect(difference("swift_allocObject") == expected)
    #expect(difference("swift_retain") == 3 * expected)
    #expect(difference("swift_release") == 4 * expected)
    #expect(difference("free") == expected)
    #expect(contents.orphans == 0)
  }

  @Test(
    "Every other retain and release function is recorded once, with or without stacks", arguments: [1, 64],
    ["stacks", "counts"])
  func relatives(threads: Int, references: String) throws {
    let count = threads == 1 ? 1000 : 100, expected = threads * count
    let (contents, difference) = try difference(
      try TestProgram("reference-relatives.swift").path(), threads: threads, count: count,
      options: ["--arc", references])
    for operation in [
      "swift_retain_n", "swift_release_n", "swift_tryRetain", "swift_weakLoadStrong", "swift_weakTakeStrong",
      "swift_unownedRetainStrong",
      "swift_unownedRetainStrongAndRelease", "swift_unownedRelease", "swift_nonatomic_retain",
      "swift_nonatomic_release",
      "swift_nonatomic_retain_n", "swift_nonatomic_release_n",
    ] {
      #expect(difference(operation) == expected, "\(operation)")
    }
    #expect(difference("swift_release") == 6 * expected)
    #expect(difference("swift_unownedRetain") == 2 * expected)
    #expect(contents.orphans == 0)
  }

  @Test(
    "Every address in the benchmark workloads is allocated before it is freed once",
    arguments: [("churn", ["12", "3"]), ("json", ["200", "3"])])
  func workloadsHaveNoOrphans(name: String, arguments: [String]) throws {
    let program = TestProgram(named: name, sources: ["../../Benchmarks/workloads/\(name).swift"])
    let run = try TracedRun([try program.path()] + arguments)
    defer { withExtendedLifetime(run) {} }
    run.expectSameBehaviour()
    let trace = try run.onlyTrace()
    let contents = try TraceContents(trace.path)
    #expect(contents.eventCount == trace.eventCount && contents.eventCount > 50_000)
    #expect(contents.orphans == 0)
    // The replay counts mismatches itself, and finds none.
    let analysis = AllocationAnalysis(try TraceReader(path: trace.path))
    for mismatch in [
      Mismatch.orphanFree, .orphanReallocFailure, .inheritedFree, .allocationOverLive, .nullAddress, .unknownOperation,
    ] {
      #expect(analysis.mismatchCounts[mismatch.rawValue] == 0, "\(mismatch)")
    }
  }
}
