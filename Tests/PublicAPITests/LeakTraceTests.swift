// A program that links LeakTrace but is not recorded: calls for the recorder do nothing.

import Glibc
import LeakTrace
import Testing

@Suite(.serialized) struct LeakTraceTests {
  @Test func unrecordedProgramHasNoHeapProfile() {
    #expect(LeakTrace.heapProfile() == nil)
  }

  /// These commands replace leaktrace. A command gets the number of this process.
  @Test(arguments: [("/bin/echo", true), ("/bin/false", false), ("", false)])
  func unrecordedProgramAsksTheCommand(command: String, isAnswered: Bool) {
    setenv("LEAKTRACE_COMMAND", command.isEmpty ? "/nonexistent" : command, 1)
    defer { unsetenv("LEAKTRACE_COMMAND") }
    let answer = LeakTrace.taskList()
    #expect(
      answer.map { String(decoding: $0, as: UTF8.self) } == (isAnswered ? "tasks \(getpid()) --format json\n" : nil))
  }
}
