// The program inherits from `record` what it would have inherited without it.

import Testing

@Suite(.enabled(if: BuildProducts.preloadLibraryExists)) struct InheritanceTests {
  @Test("Environment, signals, descriptors and limits are those of an untraced run") func plain() throws {
    let run = try TracedRun([try TestProgram("inheritance.c").path(), "an argument", "", "--", "-o"])
    run.expectSameBehaviour()
    _ = try run.onlyTrace()
  }

  @Test("An LD_PRELOAD and LEAKTRACE variables that were there before are kept or gone") func preload() throws {
    let run = try TracedRun([try TestProgram("inheritance.c").path()]) { command in
      command.environment["LD_PRELOAD"] = "libm.so.6"
    }
    run.expectSameBehaviour()
  }

  @Test("Children that are not followed see no variable of the recorder") func children() throws {
    let run = try TracedRun(["/bin/sh", "-c", "env | sort"])
    run.expectSameBehaviour(normalising: withoutUnderscore)
    #expect(!run.traced.output.contains("LEAKTRACE"))
    #expect(!run.traced.output.contains("LD_PRELOAD"))
  }

  @Test("Ignored signals stay ignored, and limits stay", arguments: [
    "trap '' INT TERM USR1 CHLD PIPE; ulimit -n 200; ulimit -c 0; nice -n 3", "umask 077;",
  ])
  func surroundings(preparation: String) throws {
    let program = try TestProgram("inheritance.c").path()
    let directory = try TemporaryDirectory()
    func run(_ prefix: [String]) throws -> Command.Outcome {
      try Command(["/bin/sh", "-c", preparation + " \"$@\"", "sh"] + prefix + [program]).run()
    }
    let untraced = try run([])
    var traced = try run(TracedRun.recordArguments(directory))
    #expect(TracedRun.separateRecorderLines(&traced) == [])
    #expect(withoutUnderscore(traced.output) == withoutUnderscore(untraced.output))
    #expect(traced.end == untraced.end)
    #expect(try TracedRun.traces(in: directory).count == 1)
  }

  /// Shells set `_` to the program they run, which is `record` in one of the runs.
  private func withoutUnderscore(_ text: String) -> String {
    text.split(separator: "\n").filter { !$0.hasPrefix("_=") && !$0.hasPrefix("variable _=") }.joined(separator: "\n")
  }
}
