// Recording can start paused, and another process can pause and resume it.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder)) struct PauseTests {
  @Test(
    "A process records only between resume and pause",
    arguments: ["process", "record", "trace"])
  func pauseAndResume(by means: String) throws {
    let directory = try TemporaryDirectory()
    let program = try TestProgram("stepwise.c").path()
    let steps = directory.path + "/step"
    let running = try Command(
      [
        BuildProducts.leaktrace, "record", "-q", "--start-paused", "-o", directory.path + "/a.trace", "--", program,
        steps,
      ]).start()
    func processID(atStep step: Int) throws -> Int32 {
      try #require(Int32(try AwaitedState.lines(of: "\(steps).\(step)").dropLast()))
    }
    func flip(_ command: String, _ processID: Int32) throws {
      let name =
        means == "process"
        ? String(processID) : means == "record" ? String(running.processID) : directory.path + "/a.trace"
      let outcome = try Command([BuildProducts.leaktrace, command, name]).run()
      #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    }
    // In steps 1 to 3, the program allocates blocks of 1001, 1002 and 1003 bytes.
    let target = try processID(atStep: 1)
    try flip("resume", target)
    kill(target, SIGUSR1)
    _ = try processID(atStep: 2)
    try flip("pause", target)
    kill(target, SIGUSR1)
    _ = try processID(atStep: 3)
    kill(target, SIGUSR1)
    #expect(try running.wait().end == .exit(0))

    let contents = try TraceContents(directory.path + "/a.trace")
    #expect(contents.allocations(ofSize: 1001) == 0)
    #expect(contents.allocations(ofSize: 1002) == 100)
    #expect(contents.allocations(ofSize: 1003) == 0)
  }

  @Test("A pause noticed only by new threads is recorded") func pauseOfNewThreads() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.trace"
    let steps = directory.path + "/step"
    let program = try TestProgram("pause-threads.c").path()
    let running = try Command([BuildProducts.leaktrace, "record", "-q", "-o", path, "--", program, steps]).start()
    func processID(atStep step: Int) throws -> Int32 {
      try #require(Int32(try AwaitedState.lines(of: "\(steps).\(step)").dropLast()))
    }
    let target = try processID(atStep: 1)
    #expect(try Command([BuildProducts.leaktrace, "pause", String(target)]).run().end == .exit(0))
    kill(target, SIGUSR1)
    _ = try processID(atStep: 2)
    #expect(try Command([BuildProducts.leaktrace, "resume", String(target)]).run().end == .exit(0))
    kill(target, SIGUSR1)
    #expect(try running.wait().end == .exit(0))
    let reader = try TraceReader(path: path)
    #expect(reader.definitions.pauses.map(\.begins) == [true, false])
    // The report does not mention the block that the thread freed during the pause.
    let outcome = try Command([BuildProducts.leaktrace, "analyze", "--limit", "1", path]).run()
    #expect(
      outcome.output.contains("Leaks: none found") && outcome.output.contains("recording was paused"),
      "\(outcome.output)")
  }
}
