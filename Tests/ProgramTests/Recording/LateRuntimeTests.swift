// Swift runtimes that are loaded into a running process are hooked before any code can use them.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct LateRuntimeTests {
  /// The size in bytes of a sheet of late-plugin.swift.
  private static let sheet = 856

  /// Runs the host, and compares the number of sheets that it prints with the recorded number.
  private static func expectAllSheets(
    _ arguments: [String], early: Int = 0, sourceLocation: SourceLocation = #_sourceLocation,
    also check: (TraceReader) -> Void = { _ in }
  ) throws {
    let run = try TracedRun([try LateLibrary.host()] + arguments)
    defer { withExtendedLifetime(run) {} }
    run.expectSameBehaviour(sourceLocation: sourceLocation)
    let made = try #require(
      run.traced.output.split(separator: " ").first.flatMap { Int($0) }, sourceLocation: sourceLocation)
    let trace = try run.onlyTrace(sourceLocation: sourceLocation)
    let contents = try TraceContents(trace.path)
    #expect(made >= 100, sourceLocation: sourceLocation)
    #expect(contents.allocations(ofSize: sheet) == made + early, sourceLocation: sourceLocation)
    #expect(contents.orphans == 0, sourceLocation: sourceLocation)
    #expect(contents.count("swift_retain") > 0 && contents.count("swift_release") > 0, sourceLocation: sourceLocation)
    let reader = try TraceReader(path: trace.path)
    #expect(reader.definitions.process.hasSwiftHooks, sourceLocation: sourceLocation)
    check(reader)
  }

  @Test(
    "Every object of a library loaded by dlopen is recorded, from its first initializer on",
    arguments: LateLibrary.Linkage.allCases)
  func fromTheFirst(linkage: LateLibrary.Linkage) throws { try Self.expectAllSheets([try LateLibrary.path(linkage)]) }

  @Test("Several runtimes in one process are each recorded completely") func several() throws {
    let libraries = [
      try LateLibrary.path(.static), try LateLibrary.path(.dynamic, module: "second"),
      try LateLibrary.path(.static, module: "third"),
    ]
    try Self.expectAllSheets(libraries)
    // With several threads, the host's count lacks the seven sheets of each library's first initialiser.
    try Self.expectAllSheets(["-t", "4", "-r", "5"] + libraries, early: 3 * 7)
  }

  @Test("A runtime that is loaded again is recorded each time with its types") func again()
    throws
  {
    try Self.expectAllSheets(["-c", "-r", "30", try LateLibrary.path(.static)]) { reader in
      let analysis = AllocationAnalysis(reader)
      let sheets = analysis.sites.filter { analysis.typeName(of: $0) == "plugin.Sheet" }
      #expect(sheets.reduce(0) { $0 + $1.total.allocatedBlocks } == 30 * 107)
    }
  }

  @Test(
    "A runtime in its own namespace is recorded with its allocations and frees",
    arguments: LateLibrary.Linkage.allCases)
  func namespaces(linkage: LateLibrary.Linkage) throws {
    let library = try LateLibrary.path(linkage)
    try Self.expectAllSheets(["@" + library, library, "@" + library])
  }

  @Test("A late runtime creates its tasks in cleared memory", arguments: ["", "@"], LateLibrary.Linkage.allCases)
  func clearedTasks(namespace: String, linkage: LateLibrary.Linkage) throws {
    let flags =
      ["-parse-as-library", "-emit-library", "-module-name", "tasks"] + (linkage == .static ? ["-static-stdlib"] : [])
    let run = try TracedRun([
      try LateLibrary.host(), "-b", namespace + (try TestProgram("late-tasks.swift", flags: flags).path()),
    ])
    #expect(run.untraced.output != "0 sheets\n", "the C library hands out nothing that was marked")
    #expect(run.traced.output == "0 sheets\n")
    #expect(run.traced.end == run.untraced.end)
  }

  @Test(
    "Objects of a late runtime have fields, and their cycles are found", arguments: ["", "@"],
    LateLibrary.Linkage.allCases)
  func verdicts(namespace: String, linkage: LateLibrary.Linkage) throws {
    let library = try LateLibrary.path(linkage), host = try LateLibrary.host()
    let clean = try ScopeRun.run([host, namespace + library])
    #expect(clean.findings?.isEmpty == true, "\(clean.findings ?? [])")
    let findings = try #require(try ScopeRun.run([host, "-l", namespace + library]).findings)
    let finding = try #require(findings.first)
    #expect(
      findings.count == 1 && finding.verdict == "retainCycle" && finding.instances == 5 && !finding.library,
      "\(findings)")
    #expect(Set(finding.path.map(\.member)) == ["Shelf", "array", "Book"], "\(finding.path)")
    #expect(Set(finding.path.compactMap { $0.edge?.name }) == ["books", "[]", "keeper"], "\(finding.path)")
  }

  @Test("Retain variants call their caller's runtime, recorded or not")
  func relatives() throws {
    // A host that is not recorded gets no settings, but the functions are interposed all the same.
    var command = Command([try LateLibrary.host(), try LateLibrary.path(.dynamic), try LateLibrary.path(.static)])
    let untraced = try command.run()
    command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
    command.environment["LEAKTRACE_OUTPUT"] = "/nonexistent/directory/trace"
    let outcome = try command.run()
    #expect(outcome.end == .exit(0) && outcome.output == untraced.output, "\(outcome)")
  }

  @Test("A stripped library with a built-in runtime gives a warning, and its malloc calls are recorded")
  func stripped() throws {
    let library = try LateLibrary.program(.static).strippedPath()
    let run = try TracedRun([try LateLibrary.host(), library])
    #expect(run.traced == run.untraced && run.traced.end == .exit(0))
    #expect(run.recorderLines.count == 1 && run.recorderLines[0].hasSuffix(library), "\(run.recorderLines)")
    let trace = try run.onlyTrace()
    #expect(try TraceReader(path: trace.path).definitions.warnings.contains { $0.hasSuffix(library) })
    let contents = try TraceContents(trace.path)
    #expect(
      contents.count("swift_allocObject") == 0 && contents.allocations(ofSize: Self.sheet) == 107
        && contents.orphans == 0)
  }

  @Test("If the loader cannot be patched, a runtime is found at its first allocation")
  func withoutRendezvous() throws {
    // Valgrind simulates the processor, and keeps running the loader's code as it was before the recorder patched it.
    // The copies are stripped, because Valgrind fails on debug information that is newer than itself.
    let directory = try TemporaryDirectory()
    func stripped(_ path: String) throws -> String {
      // The copy keeps the file's name, because the recorder recognises its own library by name when a program replaces
      // itself.
      let copy = directory.path + "/" + path.split(separator: "/").last!
      let outcome = try Command(["objcopy", "--strip-debug", path, copy]).run()
      try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
      return copy
    }
    var command = Command([
      "valgrind", "--tool=none", "--quiet", try stripped(try LateLibrary.host()),
      try stripped(try LateLibrary.path(.dynamic)),
    ])
    command.environment["LD_PRELOAD"] = try stripped(BuildProducts.preloadLibrary)
    command.environment["LEAKTRACE_OUTPUT"] = directory.path + "/simulated.trace"
    // Valgrind's launcher replaces itself by a static program. That program gets the recorder's variables only if
    // children are followed.
    command.environment["LEAKTRACE_FOLLOW"] = "1"
    let outcome = try command.run()
    #expect(outcome.end == .exit(0) && outcome.output == "107 sheets\n", "\(outcome)")
    let paths = try directory.fileNames().filter { !$0.hasSuffix(".live") && $0.contains(".trace") }.map {
      directory.path + "/" + $0
    }
    let contents = try paths.map { try TraceContents($0) }
    let most = try #require(contents.max { $0.eventCount < $1.eventCount })
    #expect(most.allocations(ofSize: Self.sheet) == 107)
  }
}
