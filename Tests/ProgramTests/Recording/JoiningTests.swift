// `leaktrace attach` and `detach`: recordings of programs that were started without the recorder.

import Foundation
import TestRequirements
import Testing
import TraceReading

@testable import TraceRecording

@Suite(.requires(.recorder)) struct JoiningTests {
  /// Whether the long test was requested: 100 recordings, and 50 killed processes of leaktrace.
  private static let isLong = ProcessInfo.processInfo.environment["LEAKTRACE_LONG_JOINING"] != nil

  private struct Kind: Sendable, CustomTestStringConvertible {
    let name: String
    let threads: Int
    var testDescription: String { name }
  }

  @Test(
    "Attaching, even with kills of leaktrace, leaves threads undisturbed and records every call",
    arguments: TestTier.arguments(
      [Kind(name: "contended", threads: 4)],
      of: [
        Kind(name: "busy", threads: 16), Kind(name: "contended", threads: 16), Kind(name: "computing", threads: 3),
      ]))
  private func counts(_ kind: Kind) throws {
    let directory = try TemporaryDirectory()
    let times = Self.isLong ? 100 : 3, kills = Self.isLong ? 50 : 3
    var command = Command([
      try TestProgram("is-joined.c").path(), BuildProducts.leaktrace, "\(directory.path)/%d.trace", kind.name,
      String(kind.threads), String(times), String(kills),
    ])
    if Self.isLong { command.timeLimit = 3600 }
    let outcome = try command.run()
    #expect(outcome.end == .exit(0) && outcome.errorOutput.isEmpty, "\(outcome)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.last == "done" && lines.count == times + 1, "\(outcome)")
    for (index, line) in lines.dropLast().enumerated() {
      let path = "\(directory.path)/\(index + 1).trace"
      #expect(RecordedTrace(path: path)?.state == .closed(.detached))
      #expect(String(line) == "counted \(try TraceContents(path).count("aligned_alloc"))")
      unlink(path)
    }
  }

  private func leaktrace(_ arguments: [String], in directory: String) throws -> Command.Outcome {
    var command = Command([BuildProducts.leaktrace] + arguments)
    command.directory = directory
    return try command.run()
  }

  @Test("A joined process takes images, pauses, and is listed and analyzed like a recorded one")
  func isRecorded() throws {
    let waiting = try InspectionTests.Waiting("inspected.swift")
    let directory = try TemporaryDirectory(), process = String(waiting.processID)
    let trace = directory.path + "/joined.trace"
    let attached = try leaktrace(["attach", process, "-o", "joined.trace"], in: directory.path)
    #expect(attached.end == .exit(0), "\(attached)")
    #expect(attached.errorOutput.contains("recording process \(process), which was stopped for"))
    let again = try leaktrace(["attach", process], in: directory.path)
    #expect(
      again.end == .exit(1) && again.errorOutput.contains("is being recorded already, to \(trace)"), "\(again)")
    let list = try leaktrace(["ps"], in: directory.path)
    #expect(list.output.contains(trace), "\(list)")
    for command in ["pause", "resume", "snapshot"] {
      let outcome = try leaktrace([command, process], in: directory.path)
      #expect(outcome.end == .exit(0), "\(outcome)")
    }
    let analyzed = try leaktrace(["analyze", trace], in: directory.path)
    #expect(analyzed.output.contains("allocated before the recording began"), "\(analyzed)")
    let detached = try leaktrace(["detach", process], in: directory.path)
    #expect(detached.end == .exit(0) && detached.errorOutput.isEmpty, "\(detached)")
    #expect(RecordedTrace(path: trace)?.state == .closed(.detached))
    let twice = try leaktrace(["detach", process], in: directory.path)
    #expect(twice.end == .exit(1) && twice.errorOutput.contains("is not being recorded"), "\(twice)")
    #expect(waiting.states == ["TracerPid:\t0"])
    #expect(waiting.children.isEmpty)
    #expect(try waiting.end(SIGTERM).outcome.end == .signal(SIGTERM))
  }

  @Test(
    "A user who may trace a process without changing its limits can attach to it",
    .enabled(if: geteuid() == 0, "Only root becomes another user."))
  func ofAnotherUser() throws {
    let directory = try TemporaryDirectory()
    chmod(directory.path, 0o777)
    let sleeping = try Command([
      "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sleep", "1000",
    ]).start()
    let process = String(sleeping.processID)
    // By then the program's loader has finished, too.
    try AwaitedState.wait(until: "the program sleeps") {
      let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
      let maps = (try? String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)) ?? ""
      return stat.contains("(sleep) S ") && maps.contains("/libc.so")
    }
    // Runs leaktrace as root without the capability CAP_SYS_RESOURCE, as in most containers.
    func command(_ arguments: [String]) throws -> Command.Outcome {
      try Command(["setpriv", "--bounding-set", "-sys_resource", BuildProducts.leaktrace] + arguments).run()
    }
    let trace = directory.path + "/joined.trace"
    let attached = try command(["attach", process, "-o", trace])
    #expect(attached.end == .exit(0), "\(attached)")
    let detached = try command(["detach", process])
    #expect(detached.end == .exit(0), "\(detached)")
    #expect(RecordedTrace(path: trace)?.state == .closed(.detached))
    kill(sleeping.processID, SIGTERM)
    #expect(try sleeping.wait().end == .signal(SIGTERM))
  }

  @Test("Earlier leaks match an inspection, and later leaks have their places")
  func earlierLeaks() throws {
    let waiting = try InspectionTests.Waiting("leaks-when-told.swift")
    let directory = try TemporaryDirectory(), process = String(waiting.processID), trace = directory.path + "/t"
    let inspection = directory.path + "/inspection"
    let inspected = try leaktrace(["inspect", process, "-o", inspection], in: directory.path)
    #expect(inspected.end == .exit(0), "\(inspected)")
    // Returns the findings that the image proves, because a recording also has weak suspicions. A word that a call left
    // on the stack may hold one of the objects, which can change with each call. So 40 instances count as 39, and 12 as
    // 11.
    func findings(_ trace: String, snapshot: Int? = nil) throws -> [String] {
      try LightRecordingTests.Report(trace, snapshot: snapshot).findings.filter { $0.hasPrefix("retainCycle") }.map {
        $0.replacing(" × 40", with: " × 39").replacing(" × 12", with: " × 11")
      }
    }
    let earlier = try findings(inspection)
    #expect(earlier == ["retainCycle Screen ↺ × 39"])
    let attached = try leaktrace(["attach", process, "-o", trace], in: directory.path)
    #expect(attached.end == .exit(0), "\(attached)")
    func image() throws {
      let asked = try leaktrace(["snapshot", process], in: directory.path)
      #expect(asked.end == .exit(0), "\(asked)")
    }
    try image()
    // The program reports by creating a file. A socket or a pipe would need further allocations.
    kill(waiting.processID, SIGUSR1)
    try AwaitedState.wait(until: "it has leaked once more") {
      FileManager.default.fileExists(atPath: "/tmp/leaks-when-told.\(process)")
    }
    try image()
    let detached = try leaktrace(["detach", process], in: directory.path)
    #expect(detached.end == .exit(0), "\(detached)")
    #expect(try findings(trace, snapshot: 1) == earlier)
    #expect(try findings(trace, snapshot: 2) == earlier + ["retainCycle Pane ↺ × 11"])
    let text = try leaktrace(["analyze", trace], in: directory.path).output
    #expect(text.contains("allocated before the recording began"), "\(text)")
    #expect(text.contains("allocated in leakMore()"), "\(text)")
    #expect(!text.contains("began while the process was running"), "\(text)")
    unlink("/tmp/leaks-when-told.\(process)")
    #expect(try waiting.end(SIGTERM).outcome.end == .signal(SIGTERM))
  }

  @Test(
    "A process with its own mounts can be joined, asked for an image and detached",
    .enabled(if: geteuid() == 0, "Only root makes namespaces."))
  func ownMounts() throws {
    // The program's file must stay visible in the process's mount namespace, which hides /tmp. The tests' own files may
    // be below /tmp.
    let program = "/var/tmp/leaks-when-told.\(getpid())"
    defer { unlink(program) }
    try FileManager.default.copyItem(atPath: try TestProgram("leaks-when-told.swift").path(), toPath: program)
    let running = try Command([
      "unshare", "--mount", "/bin/sh", "-c", "mount -t tmpfs none /tmp && exec \"$0\" >&2", program,
    ]).start()
    try running.waitForErrorOutput(containing: "ready ")
    let directory = try TemporaryDirectory(), process = String(running.processID)
    let trace = "/proc/\(process)/root/tmp/joined.trace"
    for arguments in [
      ["attach", process, "-o", "/tmp/joined.trace"], ["pause", process], ["resume", process],
      ["snapshot", process], ["detach", process],
    ] {
      let outcome = try leaktrace(arguments, in: directory.path)
      #expect(outcome.end == .exit(0), "\(arguments): \(outcome)")
      if arguments[0] == "attach" { #expect(outcome.errorOutput.contains(trace), "\(outcome)") }
    }
    #expect(RecordedTrace(path: trace)?.state == .closed(.detached))
    #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/root/tmp") == ["joined.trace"])
    let findings = try LightRecordingTests.Report(trace).findings
    #expect(findings == ["retainCycle Screen ↺ × 40"] || findings == ["retainCycle Screen ↺ × 39"], "\(findings)")
    running.send(SIGKILL)
    _ = try running.wait()
  }

  @Test("record --pid ends after its time, and with the process") func recordsByNumber() throws {
    let waiting = try InspectionTests.Waiting("inspected.swift")
    let directory = try TemporaryDirectory(), process = String(waiting.processID)
    let timed = try leaktrace(
      ["record", "-o", "timed.trace", "--duration", "1s", "--pid", process], in: directory.path)
    #expect(timed.end == .exit(0), "\(timed)")
    #expect(RecordedTrace(path: directory.path + "/timed.trace")?.state == .closed(.detached))
    var command = Command([BuildProducts.leaktrace, "record", "-o", "whole.trace", "--pid", process])
    command.directory = directory.path
    let whole = try command.start()
    try whole.waitForErrorOutput(containing: "recording process \(process)")
    #expect(try waiting.end(SIGTERM).outcome.end == .signal(SIGTERM))
    #expect(try whole.wait().end == .exit(0))
    guard case .closed = RecordedTrace(path: directory.path + "/whole.trace")?.state else {
      Issue.record("the trace is not closed")
      return
    }
  }

  @Test(
    "A joined process that executes another program leaves a complete trace and no live file",
    arguments: [0, 2])
  func replaced(failures: Int) throws {
    let waiting = try InspectionTests.Waiting("replaces-itself.c", [String(failures)])
    let trace = waiting.directory.path + "/joined.trace"
    let attached = try leaktrace(["attach", String(waiting.processID), "-o", trace], in: waiting.directory.path)
    #expect(attached.end == .exit(0), "\(attached)")
    for failure in 1..<(failures + 1) {
      kill(waiting.processID, SIGUSR1)
      try AwaitedState.wait(until: "the attempt has failed") {
        let printed = try String(contentsOfFile: waiting.directory.path + "/printed", encoding: .utf8)
        return printed.count { $0 == "\n" } > failure
      }
    }
    kill(waiting.processID, SIGUSR1)
    try AwaitedState.wait(until: "the program is another") {
      (try? String(contentsOfFile: "/proc/\(waiting.processID)/comm", encoding: .utf8)) == "sleep\n"
    }
    #expect(RecordedTrace(path: trace)?.state == .closed(.exec))
    let contents = try TraceContents(trace)
    #expect(contents.allocations(ofSize: 300) == failures && contents.orphans == 0)
    #expect(try TraceReader(path: trace).diagnostics.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: trace + ".live"))
    var status = stat()
    #expect(stat(trace, &status) == 0 && status.st_size < 1 << 20)
    _ = try waiting.end(SIGKILL)
  }

  @Test("A process that cannot be joined gives one line of explanation and is unchanged") func refusals() throws {
    let directory = try TemporaryDirectory()
    func refusal(_ process: Int32, _ text: String) throws {
      let outcome = try leaktrace(["attach", String(process), "--wait", "1"], in: directory.path)
      #expect(outcome.end == .exit(1) && outcome.output.isEmpty)
      #expect(outcome.errorOutput.contains(text) && outcome.errorOutput.split(separator: "\n").count == 1, "\(outcome)")
    }
    try refusal(0x3FFF_FFFF, "there is no process")
    let preloaded = try InspectionTests.Waiting(
      "inspected.swift", under: [BuildProducts.leaktrace, "record", "-o", "%DIRECTORY%/t", "--"])
    try refusal(preloaded.processID, "is being recorded already")
    _ = try preloaded.end(SIGTERM)

    func start(flags: [String]) throws -> RunningCommand {
      let ready = directory.path + "/ready\(flags.count)"
      let running = try Command([try TestProgram("waiting.c", flags: flags).path(), ready]).start()
      try AwaitedState.wait(until: "waiting is ready") { FileManager.default.fileExists(atPath: ready) }
      return running
    }
    let waiting = try start(flags: []), stopped = waiting.processID
    kill(stopped, SIGSTOP)
    try AwaitedState.wait(until: "the process is stopped") {
      try String(contentsOfFile: "/proc/\(stopped)/status", encoding: .utf8).contains("State:\tT")
    }
    try refusal(stopped, "is stopped by a signal")
    waiting.send(SIGKILL)
    _ = try waiting.wait()

    let fixed = try start(flags: ["-static"])
    try refusal(fixed.processID, "is linked statically")
    fixed.send(SIGKILL)
    _ = try fixed.wait()
  }
}
