// How `leaktrace record` refuses commands, as seen from outside.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.command)) struct RecordCommandTests {
  private func record(_ arguments: [String]) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace, "record"] + arguments).run()
  }

  @Test("Exit statuses distinguish missing, non-executable and untraceable programs") func exitStatuses() throws {
    #expect(try record(["--", "no-such-command"]).end == .exit(127))
    #expect(try record(["/no/such/command"]).end == .exit(127))
    #expect(try record(["/etc/passwd"]).end == .exit(126))
    #expect(try record(["/"]).end == .exit(126))
    #expect(try record(["--output", "%x", "true"]).end == .exit(125))
    let untraceable = try record([try TestProgram("endings.c", flags: ["-static"]).path(), "return", "0"])
    #expect(untraceable.end == .exit(125))
    #expect(untraceable.output == "")
    #expect(untraceable.errorOutput.hasPrefix("leaktrace: "))
  }

  @Test("A missing library is an error, and the program does not start") func noLibrary() throws {
    var command = Command([BuildProducts.leaktrace, "record", "/bin/echo", "started"])
    command.environment["LEAKTRACE_LIBRARY"] = "/no/such/library.so"
    let outcome = try command.run()
    #expect(outcome.end == .exit(125))
    #expect(outcome.output == "")
    #expect(outcome.errorOutput.contains("/no/such/library.so"))
  }

  @Test("A library that moves the environment before main keeps the arguments", .requires(.recorder))
  func movedEnvironment() throws {
    let directory = try TemporaryDirectory()
    var command = Command([
      BuildProducts.leaktrace, "record", "-o", directory.path + "/a.trace", "--", "/bin/echo", "started",
    ])
    command.environment["LD_PRELOAD"] = try TestProgram("moves-environment.c", flags: ["-shared", "-fPIC"]).path()
    let outcome = try command.run()
    #expect(outcome.end == .exit(0) && outcome.output == "started\n", "\(outcome)")
  }

  @Test(
    "A missing TMPDIR does not prevent recording elsewhere",
    .requires(.recorder)) func noTemporaryDirectory() throws
  {
    let directory = try TemporaryDirectory()
    var command = Command([BuildProducts.leaktrace, "record", "-o", directory.path + "/a.trace", "--", "/bin/true"])
    command.environment["TMPDIR"] = directory.path + "/missing"
    let outcome = try command.run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    #expect(try directory.fileNames() == ["a.trace"])
  }

  @Test(
    "Control characters in names are escaped, and the process ID is printed",
    .requires(.recorder))
  func controlCharacters() throws {
    let directory = try TemporaryDirectory()
    let strange = directory.path + "/\u{1B}[31mred"
    try FileManager.default.createDirectory(atPath: strange, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: "/bin/true", toPath: strange + "/\u{1B}]0;app")
    let outcome = try record(["-o", strange + "/%n.trace", "--", strange + "/\u{1B}]0;app"])
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    #expect(!outcome.errorOutput.contains("\u{1B}"))
    #expect(
      outcome.errorOutput.contains("\\u{1b}[31mred") && outcome.errorOutput.contains("next: leaktrace analyze $'"))
    let first = try #require(outcome.errorOutput.split(separator: "\n").first)
    #expect(first.hasPrefix("leaktrace: recording process ") && Int(first.split(separator: " ").last ?? "") != nil)
  }

  @Test(
    "One of two simultaneous recordings to one file is refused", .requires(.recorder))
  func sameFile() throws {
    let directory = try TemporaryDirectory()
    let go = directory.path + "/go"
    let arguments = [
      "-o", directory.path + "/a.trace", "--", "/bin/sh", "-c", "while ! [ -e \"$0\" ]; do sleep 0.05; done", go,
    ]
    let commands = try (0..<2).map { _ in try Command([BuildProducts.leaktrace, "record"] + arguments).start() }
    // One of the two recordings ends by itself. Only then is the file created that lets the other program end.
    try AwaitedState.wait(until: "one of the recordings ends") {
      commands.contains { ProcessState(processID: $0.processID).hasEnded }
    }
    try Data().write(to: URL(fileURLWithPath: go))
    let outcomes = try commands.map { try $0.wait() }
    #expect(
      Set(outcomes.map { "\($0.end)" }) == ["\(Command.Outcome.End.exit(125))", "\(Command.Outcome.End.exit(0))"])
    #expect(outcomes.contains { $0.errorOutput.contains("is being written by a running process") })
    #expect(try directory.fileNames().contains("a.trace"))
  }

  @Test("Wrong options are refused, and help is printed") func usage() throws {
    for arguments in [
      [], ["--nonsense", "echo"], ["--depth", "0", "echo"], ["--arc", "some", "echo"],
      ["--quiet", "--progress", "echo"],
    ] {
      let outcome = try record(arguments)
      #expect(outcome.end != .exit(0))
      #expect(outcome.output == "", "nothing was started")
      #expect(outcome.errorOutput.contains("Usage: leaktrace record"))
    }
    let help = try record(["--help"])
    #expect(help.end == .exit(0))
    #expect(help.output.contains("--follow-children"))
  }

  @Test("Only a recorded process can be paused") func pause() throws {
    let outcome = try Command([BuildProducts.leaktrace, "pause", "1"]).run()
    #expect(outcome.end == .exit(1))
    #expect(outcome.errorOutput.contains("process 1 "))
    #expect(try Command([BuildProducts.leaktrace, "resume", "/no/such.trace"]).run().end == .exit(1))
  }
}
