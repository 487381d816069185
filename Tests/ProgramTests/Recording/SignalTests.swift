// Signals sent to `record` reach the program once, and `record` ends as the program does.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct SignalTests {
  /// Starts the recording of the program that counts its signals, and returns when the program is ready.
  private func start(_ directory: TemporaryDirectory) throws -> RunningCommand {
    let ready = directory.path + "/ready"
    let traces = try TemporaryDirectory()
    let running = try Command(
      TracedRun.recordArguments(traces) + [try TestProgram("waiting.c").path(), ready]
    ).start()
    _ = try AwaitedState.lines(of: ready)
    withExtendedLifetime(traces) {}
    return running
  }

  @Test(
    "A signal sent only to record reaches the program once",
    arguments: [
      SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,
    ])
  func relayed(signal: Int32) throws {
    let directory = try TemporaryDirectory()
    let running = try start(directory)
    running.send(signal)
    let outcome = try running.wait()
    #expect(outcome.output == "got signal \(signal)\n")
    #expect(outcome.end == .exit(42))
  }

  @Test(
    "record ends by the program's signal",
    arguments: [
      SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGKILL, SIGPIPE, SIGALRM, firstRealTimeSignal,
    ])
  func death(signal: Int32) throws {
    let run = try TracedRun(["/bin/sh", "-c", "ulimit -c 0; kill -\(signal) $$"])
    run.expectSameBehaviour()
    #expect(run.traced.end == .signal(signal))
  }

  @Test(
    "record explains once how to take an image if the program survives a signal",
    arguments: [SIGINT, SIGTERM])
  func survived(signal: Int32) throws {
    let directory = try TemporaryDirectory()
    let go = directory.path + "/go"
    let running = try Command([
      BuildProducts.leaktrace, "record", "-o", directory.path + "/a.trace", "--", "/bin/sh", "-c",
      "trap 'echo handled >&2' INT TERM; echo ready >&2; while ! [ -e \"$0\" ]; do sleep 0.05; done", go,
    ]).start()
    try running.waitForErrorOutput(containing: "ready\n")
    running.send(signal)
    let process = try AwaitedState.value("the program is a child") { ProcessState(processID: running.processID).child }
    let sentence = "leaktrace: still running; take an image with leaktrace snapshot \(process)\n"
    try running.waitForErrorOutput(containing: sentence)
    #expect(try Command([BuildProducts.leaktrace, "snapshot", String(process)]).run().end == .exit(0))
    running.send(signal)
    try running.waitForErrorOutput(containing: sentence + "handled\n")
    try Data().write(to: URL(fileURLWithPath: go))
    let outcome = try running.wait()
    #expect(outcome.end == .exit(0))
    #expect(outcome.errorOutput.components(separatedBy: "still running").count == 2, "\(outcome.errorOutput)")
  }

  @Test("Every exit status is passed on", arguments: [0, 1, 2, 64, 125, 126, 127, 128, 255]) func exitStatus(
    code: Int32
  ) throws {
    let run = try TracedRun(["/bin/sh", "-c", "exit \(code)"])
    run.expectSameBehaviour()
    #expect(run.traced.end == .exit(code))
  }
}

/// The first real-time signal that the C library leaves to programs.
private let firstRealTimeSignal: Int32 = 34
