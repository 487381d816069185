// The last line of `record` names the trace of the user's program.

import Foundation
import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder), .serialized) struct ProgramTraceTests {
  /// Returns the traces that the last line of standard error names.
  private func named(_ outcome: Command.Outcome) throws -> [String] {
    let line = try #require(outcome.errorOutput.split(separator: "\n").last)
    let begin = "leaktrace: next: leaktrace analyze "
    try #require(line.hasPrefix(begin), "\(outcome.errorOutput)")
    return line.dropFirst(begin.count).split(separator: " ").map(String.init)
  }

  /// Returns the names of the programs whose end these traces record.
  private func programs(_ traces: [String]) throws -> [String] {
    try traces.map { path in
      #expect(RecordedTrace(path: path)?.state != .closed(.exec))
      return try #require(TracedProgram(tracePath: path)).name
    }
  }

  private func record(_ options: [String], _ command: [String]) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace, "record"] + options + ["--"] + command).run()
  }

  @Test("The trace of a shell that executes the program is not named", arguments: ["%n.%p.trace", "app.trace"])
  func executed(pattern: String) throws {
    let directory = try TemporaryDirectory()
    let outcome = try record(
      ["-o", directory.path + "/" + pattern],
      [
        "/bin/sh", "-c", "for i in 1 2 3 4 5; do x=$x$i; done; exec \"$0\" return 0",
        try TestProgram("endings.c").path(),
      ])
    #expect(outcome.end == .exit(21), "\(outcome.errorOutput)")
    #expect(try programs(named(outcome)) == ["endings"])
    let analysis = try Command([BuildProducts.leaktrace, "analyze"] + named(outcome)).run()
    #expect(analysis.end == .exit(0) && analysis.output.contains("Leaks: none found"), "\(analysis.output)")
    // The report on the shell's trace names the program's trace.
    let shell = try #require(try TracedRun.traces(in: directory).first { $0.state == .closed(.exec) }).path
    let replaced = try Command([BuildProducts.leaktrace, "analyze", "--width", "400", shell]).run()
    #expect(
      replaced.output.contains("which has a trace of its own: \(try named(outcome)[0])"), "\(replaced.output)")
  }

  @Test("Programs started by a script are named, and system programs are not") func script() throws {
    let directory = try TemporaryDirectory()
    let outcome = try record(
      ["--follow-children", "-o", directory.path + "/%n.%p.trace"],
      ["/bin/sh", "-c", "ls /; \"$0\" return 0; ls / ; \"$0\" exit 0", try TestProgram("endings.c").path()])
    #expect(outcome.end == .exit(22), "\(outcome.errorOutput)")
    #expect(try programs(named(outcome)) == ["endings", "endings"])
  }

  @Test("A Swift program is named, and the C program that starts it is not") func swiftProgram() throws {
    let directory = try TemporaryDirectory()
    let starter = directory.path + "/starter"
    try FileManager.default.copyItem(
      at: URL(fileURLWithPath: "/bin/sh").resolvingSymlinksInPath(), to: URL(fileURLWithPath: starter))
    let outcome = try record(
      ["--follow-children", "-o", directory.path + "/%n.%p.trace"],
      [starter, "-c", "\"$0\"; :", try TestProgram("plain.swift").path()])
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    #expect(try programs(named(outcome)) == ["plain"])
  }

  /// Creates a package of one executable and one test target.
  private func package() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    _ = try directory.write(
      """
      // swift-tools-version: 6.0
      import PackageDescription
      let package = Package(
        name: "Tiny", targets: [.executableTarget(name: "tiny"), .testTarget(name: "TinyTests", dependencies: ["tiny"])])

      """, to: "Package.swift")
    _ = try directory.write("print(42)\n", to: "Sources/tiny/main.swift")
    _ = try directory.write("import Testing\n@Test func passes() {}\n", to: "Tests/TinyTests/TinyTests.swift")
    return directory
  }

  @Test("The package manager's traces are not named", .secondTier, arguments: ["run", "test"])
  func packageManager(subcommand: String) throws {
    let directory = try package(), traces = try TemporaryDirectory()
    var command = Command([
      BuildProducts.leaktrace, "record", "--arc", "off", "-o", traces.path + "/%n.%p.trace", "--",
      "\(BuildProducts.toolchain)/swift", subcommand,
    ])
    command.arguments += subcommand == "run" ? ["tiny"] : []
    command.directory = directory.path
    let outcome = try command.run()
    #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    let found = try programs(named(outcome))
    #expect(!found.isEmpty && Set(found) == [subcommand == "run" ? "tiny" : "TinyPackageTests.xctest"], "\(found)")
  }
}
