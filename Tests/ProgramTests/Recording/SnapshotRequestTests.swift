// Snapshots that are requested from outside, or by a signal.

import CTraceFormat
import Foundation
import HeapAnalysis
import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder)) struct SnapshotRequestTests {
  /// A recorded program that has printed the addresses of its words, and waits.
  struct Waiting {
    var running: RunningCommand
    var processID: Int32
    var printed: String
    var directory: TemporaryDirectory

    init(_ way: String, options: [String] = []) throws {
      directory = try TemporaryDirectory()
      let output = directory.path + "/printed"
      let traces = directory.path + "/traces"
      try FileManager.default.createDirectory(atPath: traces, withIntermediateDirectories: false)
      running = try Command(
        [BuildProducts.leaktrace, "record", "--quiet", "-o", traces + "/a.trace"] + options
          + [
            "--", "/bin/sh", "-c", "exec \"$0\" \"$1\" >\"$2\"", try TestProgram("snapshot-heap.c").path(), way, output,
          ]
      ).start()
      (printed, processID) = try AwaitedState.value("the program is ready") {
        let printed = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        guard let ready = printed.split(separator: "\n").last, ready.hasPrefix("ready "), printed.hasSuffix("\n")
        else { return nil }
        return (printed, try #require(Int32(ready.dropFirst(6))))
      }
    }

    /// Returns the images of the program's trace. The shell that started the program has left an older trace.
    func images() throws -> [HeapImage] {
      let traces = try FileManager.default.contentsOfDirectory(atPath: directory.path + "/traces").filter {
        !$0.hasSuffix(".live")
      }
      .compactMap { RecordedTrace(path: directory.path + "/traces/" + $0) }
      let trace = try #require(traces.max { $0.startRealtime < $1.startRealtime })
      return try HeapImage.images(of: trace.path)
    }

    func ask(_ arguments: [String] = []) throws -> Command.Outcome {
      try Command([BuildProducts.leaktrace, "snapshot", String(processID)] + arguments).run()
    }
  }

  @Test(
    "An idle process takes a snapshot on request",
    arguments: [([], "pause"), (["--snapshot-signal", "USR2"], "alone")])
  func idle(options: [String], way: String) throws {
    let waiting = try Waiting(way, options: options)
    for number in 1...3 {
      let outcome = try waiting.ask()
      #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
      #expect(outcome.output.hasPrefix("snapshot \(number): "))
    }
    kill(waiting.processID, SIGKILL)
    #expect(try waiting.running.wait().end == .signal(SIGKILL))
    let images = try waiting.images()
    #expect(images.count == 3)
    for image in images {
      #expect(image.isComplete && image.isFrozen && image.header.reason == UInt32(LT_SNAPSHOT_REQUEST))
      #expect(image.threads.count == (way == "pause" ? 2 : 1) && image.threadsWithRegisters == image.threads.count)
      try SnapshotTests.expectWords(image, printed: waiting.printed)
      // Every thread's stack pointer is in memory that the image contains.
      for thread in image.threads {
        #expect(
          image.regions.contains {
            ($0.start..<$0.end).contains(thread.stackPointer) && $0.flags & UInt32(LT_REGION_CAPTURED) != 0
          })
      }
    }
  }

  @Test("The process ID of 'record' is accepted for its program's") func recordItself() throws {
    let waiting = try Waiting("pause")
    let outcome = try Command([BuildProducts.leaktrace, "snapshot", String(waiting.running.processID)]).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    kill(waiting.processID, SIGKILL)
    _ = try waiting.running.wait()
    #expect(try waiting.images().count == 1)
  }

  @Test("If all threads block the signal, the next allocation takes the snapshot") func blocked() throws {
    let waiting = try Waiting("stop-signals")
    let outcome = try waiting.ask()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    kill(waiting.processID, SIGKILL)
    _ = try waiting.running.wait()
    let images = try waiting.images()
    #expect(images.count == 1 && images[0].isComplete && images[0].isFrozen)
  }

  @Test("A snapshot can be taken while recording is paused, and it stays paused") func paused() throws {
    let waiting = try Waiting("pause", options: ["--start-paused"])
    #expect(try waiting.ask().end == .exit(0))
    kill(waiting.processID, SIGKILL)
    _ = try waiting.running.wait()
    #expect(try waiting.images().allSatisfy(\.isComplete))
  }

  @Test("A refused snapshot request gives the reason") func errors() throws {
    let none = try Waiting("pause", options: ["--no-snapshots"])
    let refused = try none.ask()
    #expect(refused.end == .exit(1) && refused.errorOutput.contains("takes no snapshots"))
    kill(none.processID, SIGKILL)
    _ = try none.running.wait()
    let gone = try none.ask()
    #expect(gone.end == .exit(1) && gone.errorOutput.contains("not being recorded"))
    #expect(try Command([BuildProducts.leaktrace, "snapshot", "x"]).run().end == .exit(64))
  }

  @Test(
    "A terminating signal leaves a snapshot and its exit status",
    arguments: [
      (SIGTERM, "program"), (SIGINT, "program"), (SIGHUP, "program"), (SIGTERM, "record"), (SIGTERM, "group"),
      (SIGINT, "group"),
    ])
  func ended(signal: Int32, target: String) throws {
    let waiting = try Waiting("pause")
    switch target {
    case "program": kill(waiting.processID, signal)
    case "record": waiting.running.send(signal)
    default: waiting.running.sendToGroup(signal)
    }
    let outcome = try waiting.running.wait()
    #expect(outcome.end == .signal(signal))
    #expect(outcome.errorOutput == "")
    let images = try waiting.images()
    #expect(images.count == 1)
    let image = try #require(images.last)
    #expect(image.isComplete && image.isFrozen && image.header.reason == UInt32(LT_SNAPSHOT_SIGNAL))
    #expect(image.threads.count == 2)
    try SnapshotTests.expectWords(image, printed: waiting.printed)
  }

  @Test("A program sees its own signal dispositions") func dispositions() throws {
    for arguments in [[], ["--no-snapshots"]] {
      let run = try TracedRun([try TestProgram("dispositions.c").path()], options: arguments)
      run.expectSameBehaviour()
      #expect(run.traced.output.contains("own handler ran 3 times"))
    }
  }

  @Test("Taking an image interrupts no wait of the program") func waits() throws {
    let run = try TracedRun([try TestProgram("interrupted-waits.c", flags: ["-pthread"]).path()])
    run.expectSameBehaviour()
    let images = try HeapImage.images(of: try run.onlyTrace().path)
    #expect(images.count == 11 && images.allSatisfy(\.isFrozen))
  }

  @Test(
    "Requesting an image interrupts no wait of the program",
    arguments: TestTier.arguments(
      ["poll", "recv"],
      of: ["sleep", "nanosleep", "poll", "ppoll", "select", "epoll_wait", "sigtimedwait", "recv"]))
  func waitsWhenAsked(call: String) throws {
    let run = try Self.whileItRuns(call, snapshots: 2)
    #expect(
      run.output
        == (["sigtimedwait", "recv"].contains(call)
          ? "in time returned -1, Resource temporarily unavailable\n" : "in time returned 0, no error\n"))
    #expect(run.images.count == 3 && run.images.allSatisfy { $0.isComplete && $0.isFrozen && $0.threads.count == 1 })
  }

  @Test("A wait continues while an image is written slowly") func longImage() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/a.trace", pipe = directory.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    let running = try Command(
      [
        BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try TestProgram("snapshot-large.c").path(),
        "100", pipe,
      ]).start()
    let process = try AwaitedState.value("the program waits") { () -> Int32? in
      guard let process = (RecordedTrace(path: trace)?.processID).map({ Int32($0) }) else { return nil }
      return ProcessState(processID: process).waits(in: [SystemCall.poll]) ? process : nil
    }
    let asking = try Command([BuildProducts.leaktrace, "snapshot", String(process)]).start()
    // First a child stops the threads, and is the process's tracer. After that, the child is the copy that writes the
    // image.
    let copy = try AwaitedState.value("the image is being written") {
      let state = ProcessState(processID: process)
      return state.isTraced ? nil : state.child
    }
    kill(copy, SIGSTOP)
    // This is longer than the command waits before it repeats its request.
    usleep(2_500_000)
    kill(copy, SIGCONT)
    #expect(try asking.wait().end == .exit(0))
    try Data([1]).write(to: URL(fileURLWithPath: pipe))
    let outcome = try running.wait()
    #expect(outcome.end == .exit(0) && outcome.output == "poll returned 1, no error\n", "\(outcome)")
    #expect(try HeapImage.images(of: trace, words: { _ in false }).count == 2)
  }

  @Test(
    "A program that restricts itself takes a snapshot at its next hook, or by a signal", arguments: ["sleep", "busy"])
  func confined(way: String) throws {
    let run = try Self.whileItRuns("sleep", way == "busy" ? "busy" : "filtered", snapshots: way == "busy" ? 2 : 1)
    // The signal interrupts the program's sleep.
    #expect(run.output.hasPrefix(way == "busy" ? "worked" : "early returned "))
    #expect(run.images.count == (way == "busy" ? 3 : 2) && run.images.allSatisfy(\.isComplete))
  }

  @Test("Simultaneous requests are all answered") func together() throws {
    let waiting = try Waiting("pause")
    for _ in 0..<4 {
      let asking = try (0..<3).map { _ in
        try Command([BuildProducts.leaktrace, "snapshot", String(waiting.processID)]).start()
      }
      for request in asking { #expect(try request.wait().end == .exit(0)) }
    }
    kill(waiting.processID, SIGKILL)
    #expect(try waiting.running.wait().end == .signal(SIGKILL))
    #expect(try waiting.images().allSatisfy { $0.isComplete && $0.isFrozen })
  }

  /// Records a program that waits in a call for a while, and requests snapshots one after the other during the wait. If
  /// a busy machine is too slow for that, tries again with a longer wait.
  private static func whileItRuns(_ call: String, _ way: String? = nil, snapshots: Int) throws -> (
    output: String, images: [HeapImage]
  ) {
    for seconds in [2, 8, 32] {
      let arguments = [try TestProgram("snapshot-waits.c").path(), "\(seconds)", call] + (way.map { [$0] } ?? [])
      let run = try whileItRuns(arguments, isBusy: way == "busy", snapshots: snapshots)
      if run.isAnswered { return (run.output, run.images) }
    }
    throw CommandFailure("the program ends before it is asked")
  }

  private static func whileItRuns(_ arguments: [String], isBusy: Bool, snapshots: Int) throws -> (
    output: String, images: [HeapImage], isAnswered: Bool
  ) {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/a.trace"
    let running = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--"] + arguments).start()
    let command = ProcessState(processID: running.processID)
    var isAnswered = true
    for _ in 0..<snapshots where isAnswered {
      let processID = try AwaitedState.value("the program waits, works or has ended") { () -> Int32? in
        if command.hasEnded { return 0 }
        guard let recording = LiveRecording(tracePath: trace), recording.eventCount() > 0,
          let process = (RecordedTrace(path: trace)?.processID).map({ Int32($0) })
        else { return nil }
        return isBusy || ProcessState(processID: process).waits(in: SystemCall.timedWaits) ? process : nil
      }
      let outcome = try Command([BuildProducts.leaktrace, "snapshot", String(processID)]).run()
      isAnswered = outcome.end == .exit(0)
      #expect(isAnswered || command.hasEnded, "\(outcome.errorOutput)")
    }
    let outcome = try running.wait()
    #expect(outcome.end == .exit(0))
    return (outcome.output, try HeapImage.images(of: trace), isAnswered)
  }

  @Test("A program that waits for any child sees only its own") func children() throws {
    try SurvivalTests.expectSurvival([try TestProgram("waits-for-all.c").path()])
  }
}
