// A program that links LeakTrace but is not recorded: calls for the recorder do nothing.

import CLeakTrace
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

  /// The command is ended when its time is over, whether or not it has answered.
  @Test(arguments: ["exec sleep 1000", "echo an answer; exec sleep 1000", "exec >&-; exec sleep 1000"])
  func commandThatDoesNotEndIsKilled(script: String) throws {
    let path = "/tmp/leaktrace-guest-\(getpid())"
    defer { unlink(path) }
    let words: [String] = ["/bin/sh", "-c", "echo $$ > \(path); \(script)"]
    var arguments = words.map { word -> UnsafeMutablePointer<CChar>? in strdup(word) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var size = 0
    let bytes = cleaktrace_run_as_guest(&arguments, 2000, &size)
    #expect(bytes == nil)
    cleaktrace_free(bytes)
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var text = [UInt8](repeating: 0, count: 32)
    let count = fread(&text, 1, text.count, file)
    let digits = text[..<count].prefix { $0 != UInt8(ascii: "\n") }
    let process = try #require(Int32(String(decoding: digits, as: UTF8.self)))
    #expect(kill(process, 0) == -1 && errno == ESRCH)
  }
}
