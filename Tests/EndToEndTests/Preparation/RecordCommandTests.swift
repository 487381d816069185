// How `leaktrace record` refuses, seen from outside.

import Foundation
import Testing

@Suite(.enabled(if: access(BuildProducts.leaktrace, X_OK) == 0)) struct RecordCommandTests {
  private func record(_ arguments: [String]) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace, "record"] + arguments).run()
  }

  @Test("Exit statuses tell a missing, an unexecutable and an untraceable program apart") func exitStatuses() throws {
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

  @Test("A library that is not there is an error, not an untraced run") func noLibrary() throws {
    var command = Command([BuildProducts.leaktrace, "record", "/bin/echo", "started"])
    command.environment["LEAKTRACE_LIBRARY"] = "/no/such/library.so"
    let outcome = try command.run()
    #expect(outcome.end == .exit(125))
    #expect(outcome.output == "")
    #expect(outcome.errorOutput.contains("/no/such/library.so"))
  }

  @Test("Wrong options are refused, and help is given") func usage() throws {
    for arguments in [[], ["--nonsense", "echo"], ["--depth", "0", "echo"], ["--arc", "some", "echo"], ["--quiet", "--progress", "echo"]] {
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
