// The program inherits the same state under `record` as without it.

import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct InheritanceTests {
  /// Runs the program that prints its inherited state, and compares the output with and without `record`. A shell that
  /// leads the process group runs `preparation`, and then the program.
  private func expectSameInheritance(
    _ arguments: [String] = [], preparation: String = "", environment: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let program = try TestProgram("inheritance.c").path()
    let directory = try TemporaryDirectory()
    func run(_ prefix: [String]) throws -> Command.Outcome {
      var command = Command(["/bin/sh", "-c", preparation + "\"$@\"; exit $?", "sh"] + prefix + [program] + arguments)
      command.environment.merge(environment) { $1 }
      return try command.run()
    }
    let untraced = try run([])
    var traced = try run(TracedRun.recordArguments(directory))
    #expect(TracedRun.separateRecorderLines(&traced) == [], sourceLocation: sourceLocation)
    #expect(withoutUnderscore(traced.output) == withoutUnderscore(untraced.output), sourceLocation: sourceLocation)
    #expect(traced.end == untraced.end, sourceLocation: sourceLocation)
    #expect(try TracedRun.traces(in: directory).count == 1, sourceLocation: sourceLocation)
  }

  @Test("Arguments, environment, signals, descriptors and limits equal those of an untraced run") func plain() throws {
    try expectSameInheritance(["an argument", "", "--", "-o", "--help"])
  }

  @Test("An existing LD_PRELOAD is kept") func preload() throws {
    try expectSameInheritance(environment: ["LD_PRELOAD": "libm.so.6"])
  }

  @Test(
    "Ignored signals and limits are kept",
    arguments: [
      "trap '' INT TERM USR1 PIPE; ", "trap '' CHLD; ", "ulimit -n 200; ulimit -c 0; ulimit -s 4000; ", "umask 077; ",
      "cd /usr; ",
    ])
  func surroundings(preparation: String) throws { try expectSameInheritance(preparation: preparation) }

  @Test(
    "The auxiliary vector follows the environment",
    arguments: [
      [], ["--arc", "off"], ["--depth", "100"], ["--light"], ["--follow-children"], ["--no-snapshots", "--arc", "off"],
    ])
  func auxiliaryVector(options: [String]) throws {
    let run = try TracedRun([try TestProgram("auxiliary-vector.c").path()], options: options)
    run.expectSameBehaviour()
    #expect(run.traced.output == "whole\n")
    #expect(run.traces.count == 1)
  }

  @Test("A bare preload leaves the auxiliary vector whole or empty", arguments: [0, 1, 2, 3])
  func auxiliaryVectorOfPreload(others: Int) throws {
    let directory = try TemporaryDirectory()
    var command = Command([try TestProgram("auxiliary-vector.c").path()])
    command.environment["LD_PRELOAD"] = BuildProducts.preloadLibrary
    command.environment["LEAKTRACE_OUTPUT"] = directory.path + "/a.trace"
    for number in 0..<others { command.environment["LEAKTRACE_OTHER_\(number)"] = "1" }
    let outcome = try command.run()
    #expect(outcome.end == .exit(0) && outcome.output == (others.isMultiple(of: 2) ? "whole\n" : "empty\n"))
  }

  @Test("Go programs that call C run as untraced", .secondTier, .requires(.program("go"))) func go() throws {
    let directory = try TemporaryDirectory()
    let source = try directory.write(
      """
      package main

      // #include <stdlib.h>
      import "C"
      import "fmt"

      func main() {
      \tfor i := 0; i < 1000; i++ {
      \t\tC.free(C.malloc(100))
      \t}
      \tfmt.Println("done")
      }
      """, to: "calls.go")
    var building = Command(["go", "build", "-o", directory.path + "/calls", source])
    building.environment.merge(["GOCACHE": directory.path + "/cache", "CGO_ENABLED": "1"]) { $1 }
    building.directory = directory.path
    let built = try building.run()
    try #require(built.end == .exit(0), "\(built.errorOutput)")
    let run = try TracedRun([directory.path + "/calls"])
    run.expectSameBehaviour()
    #expect(try TraceContents(try run.onlyTrace().path).allocations(ofSize: 100) >= 1000)
  }

  @Test("Children that are not followed see no variable of the recorder") func children() throws {
    let run = try TracedRun(["/bin/sh", "-c", "env | sort"])
    run.expectSameBehaviour(normalising: withoutUnderscore)
    #expect(!run.traced.output.contains("LEAKTRACE"))
    #expect(!run.traced.output.contains("LD_PRELOAD"))
  }

  /// Removes the variable `_`. Shells set it to the program that they run, which is `record` in one of the runs.
  private func withoutUnderscore(_ text: String) -> String {
    text.split(separator: "\n").filter { !$0.hasPrefix("_=") && !$0.hasPrefix("variable _=") }.joined(separator: "\n")
  }
}
