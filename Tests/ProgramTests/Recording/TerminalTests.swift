// On a terminal the recorded program gets each signal of the keyboard once. Its job is stopped and continued as a
// whole.

import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct TerminalTests {
  @Test(
    "Interrupt, quit and suspend work as without the recorder",
    arguments: [
      ("interrupt", "exited with 41\n"), ("quit", "exited with 41\n"),
      ("suspend", "stopped by signal 20\nstopped by signal 20\nstopped by signal 20\nexited with 41\n"),
    ])
  func keys(way: String, expected: String) throws {
    let terminal = try TestProgram("terminal.c").path(), program = try TestProgram("at-terminal.c").path()
    let directory = try TemporaryDirectory()
    let untraced = try Command([terminal, way, program]).run()
    let traced = try Command([terminal, way] + TracedRun.recordArguments(directory) + [program]).run()
    #expect(untraced.output == expected)
    #expect(traced == untraced)
    #expect(try TracedRun.traces(in: directory).count == 1)
  }
}
