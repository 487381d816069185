// Programs are traced however they were linked. Those that cannot be traced are refused with the reason.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct LinkageTests {
  @Test("The library loads with glibc 2.31, whatever glibc the build machine has")
  func oldestCLibrary() throws {
    let listing = try Command([BuildProducts.toolchain + "/llvm-nm", "-D", BuildProducts.preloadLibrary]).run()
    try #require(listing.end == .exit(0), "\(listing.errorOutput)")
    let versions = listing.output.split(whereSeparator: \.isWhitespace).compactMap { word in
      word.firstRange(of: "@GLIBC_").map { word[$0.upperBound...].split(separator: ".").compactMap { Int($0) } }
    }
    #expect(versions.contains([2, 2, 5]), "\(listing.output)")
    let later = versions.filter { $0.lexicographicallyPrecedes([2, 32]) == false }
    #expect(later.isEmpty, "\(listing.output)")
  }

  @Test(
    "Swift programs are traced with objects, retains and releases",
    arguments: TestTier.arguments(
      [[], ["-static-stdlib"]],
      of: [
        [], ["-Onone"], ["-static-stdlib"], ["-static-stdlib", "-Onone"], ["-Osize", "-Xcc", "-fomit-frame-pointer"],
      ]), ["plain.swift", "tasks.swift"])
  func swift(flags: [String], source: String) throws {
    let contents = try SurvivalTests.expectSurvival([try TestProgram(source, flags: flags).path()])
    #expect(contents.count("swift_allocObject") > 400)
    #expect(contents.count("swift_retain") > 500)
    #expect(contents.count("swift_release") > 500)
    #expect(contents.count("free") > 500)
  }

  @Test(
    "Tasks get cleared memory, and the program's own allocations are unchanged",
    arguments: [["-Onone"], ["-Onone", "-static-stdlib"]])
  func clearedTasks(flags: [String]) throws {
    let run = try TracedRun([try TestProgram("unwritten-words.swift", flags: flags).path()])
    #expect(
      !run.untraced.output.hasPrefix("marked tasks 0,")
        && run.untraced.output.hasSuffix(", own memory marked, sum 190\n"))
    #expect(run.traced.output == "marked tasks 0, own memory marked, sum 190\n")
    #expect(run.traced.end == run.untraced.end)
    #expect(try TraceContents(try run.onlyTrace().path).orphans == 0)
  }

  @Test("Retains and releases can be counted without stacks, or left out", arguments: ["counts", "off"])
  func modes(mode: String) throws {
    let contents = try SurvivalTests.expectSurvival([try TestProgram("plain.swift").path()], options: ["--arc", mode])
    #expect(contents.count("swift_allocObject") > 400)
    #expect((contents.count("swift_retain") > 500) == (mode == "counts"))
    #expect((contents.count("swift_release") > 500) == (mode == "counts"))
  }

  @Test("A stripped program with a built-in runtime is traced only for malloc, with a warning") func stripped() throws {
    let program = try TestProgram("plain.swift", flags: ["-static-stdlib"]).strippedPath()
    let run = try TracedRun([program])
    #expect(run.traced == run.untraced)
    #expect(run.recorderLines.contains { $0.contains("traced for malloc alone") }, "\(run.recorderLines)")
    let contents = try TraceContents(try run.onlyTrace().path)
    #expect(contents.count("swift_allocObject") == 0)
    #expect(contents.count("swift_retain") == 0)
    #expect(contents.count("malloc") > 500)
    #expect(contents.orphans == 0)
  }

  @Test("A stripped dynamic Swift program is traced in full") func strippedDynamic() throws {
    let contents = try SurvivalTests.expectSurvival([try TestProgram("plain.swift").strippedPath()])
    #expect(contents.count("swift_allocObject") > 400)
  }

  @Test("Plain C and C++ programs are traced for malloc") func plain() throws {
    let contents = try SurvivalTests.expectSurvival([try TestProgram("plain.cpp").path()])
    #expect(contents.count("malloc") > 100)
    #expect(contents.count("aligned_alloc") + contents.count("posix_memalign") >= 1)
    #expect(contents.count("swift_allocObject") == 0)
  }

  @Test(
    "Programs linked with jemalloc are traced", .requires(.jemalloc),
    arguments: [
      TestProgram(
        "allocation-calls.c", flags: ["-fno-builtin", "-DWITHOUT_PVALLOC", "-Wl,--no-as-needed", "-ljemalloc"])
    ])
  func jemallocC(program: TestProgram) throws {
    let contents = try SurvivalTests.expectSurvival([try program.path(), "4", "100"])
    #expect(contents.count("malloc") >= 1200)
    #expect(contents.count("free") >= 3200)
  }

  @Test("Swift programs linked with jemalloc are traced", .requires(.jemalloc)) func jemallocSwift() throws {
    let program = TestProgram("plain.swift", flags: ["-Xlinker", "--no-as-needed", "-ljemalloc"])
    let contents = try SurvivalTests.expectSurvival([try program.path()])
    #expect(contents.count("swift_allocObject") > 400)
  }

  @Test("A statically linked program is refused before it starts") func staticallyLinked() throws {
    let program = try TestProgram("endings.c", flags: ["-static"]).path()
    try expectRefusal(program, reason: "linked statically")
  }

  @Test(
    "record refuses a set-user-ID program, and a bare preload leaves it alone", .enabled(if: getuid() == 0))
  func setUserID() throws {
    let directory = try TemporaryDirectory()
    let program = directory.path + "/privileged"
    try FileManager.default.copyItem(atPath: try TestProgram("endings.c").path(), toPath: program)
    #expect(chown(program, 65534, 65534) == 0)
    #expect(chmod(program, 0o4755) == 0)
    try expectRefusal(program, reason: "set-user-ID")

    var command = Command([program, "return", "10"])
    let untraced = try command.run()
    command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
    command.environment["LEAKTRACE_OUTPUT"] = directory.path + "/never.trace"
    let preloaded = try command.run()
    #expect(preloaded.end == untraced.end)
    #expect(preloaded.output == untraced.output)
    #expect(try directory.fileNames() == ["privileged"])
  }

  private func expectRefusal(_ program: String, reason: String) throws {
    let directory = try TemporaryDirectory()
    let outcome = try Command(TracedRun.recordArguments(directory) + [program, "return", "0"]).run()
    #expect(outcome.end == .exit(125))
    #expect(outcome.output == "", "it was not started")
    #expect(outcome.errorOutput.contains(reason))
    #expect(try directory.fileNames() == [])
  }

  @Test("A program with its own allocator is left alone, with the reason") func ownAllocator() throws {
    let run = try TracedRun([try TestProgram("own-malloc.c", flags: ["-rdynamic"]).path()])
    defer { withExtendedLifetime(run) {} }
    #expect(run.untraced.output == "1\n")
    #expect(run.traced == run.untraced)
    #expect(run.recorderLines.contains { $0.contains("defines malloc itself") }, "\(run.recorderLines)")
    #expect(run.traces.isEmpty)
  }
}
