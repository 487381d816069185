// The recorder's system calls, and the signals that it handles, are those in docs/resource-use.md.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct SystemCallUseTests {
  /// The limits on system calls of the recorder alone.
  static let ofIdleProcess = 0, ofMillionCalls = 250
  /// The limit for each memory sample, which is added. A clock triggers the samples, so a slow run on a busy machine
  /// has more of them.
  static let ofSample = 12
  static let handledSignals: Set<String> = ["SIGTERM", "SIGINT", "SIGHUP", "SIGRT_30"]

  private struct Watched {
    /// The number of system calls, by phase of the program.
    var calls: [String: Int] = [:]
    var samples: [String: Int] = [:]
    var handledSignals: Set<String> = []
    var deliveredSignals = 0
  }

  /// Runs the program under strace(1), and counts its calls without those that start it.
  private func watch(_ command: [String]) throws -> Watched {
    let directory = try TemporaryDirectory()
    let log = directory.path + "/calls"
    var traced = Command(["strace", "-f", "-o", log] + command)
    traced.directory = directory.path
    let run = try traced.run()
    try #require(run.end == .exit(0), "\(run.errorOutput)")
    // strace pads numbers of processes to five columns.
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map {
      line -> (process: Substring, call: Substring) in
      let number = line.prefix { $0 != " " }
      return (number, line[number.endIndex...].drop { $0 == " " })
    }
    let process = try #require(lines.first { $0.call.hasPrefix("write(1, \"phase: idle") }).process
    var result = Watched()
    var phase = "start"
    for (number, call) in lines where number == process {
      if call.hasPrefix("--- SIG") { result.deliveredSignals += 1 }
      if call.hasPrefix("write(1, \"phase: ") {
        phase = String(call.dropFirst(17).prefix { $0 != "\\" })
      } else if call.first?.isLetter == true {
        result.calls[phase, default: 0] += 1
        // A task of the recorder reads the kernel's memory figures.
        if call.hasPrefix("clone(") { result.samples[phase, default: 0] += 1 }
        // Before execve, the process ran another program.
        if call.hasPrefix("execve(") { result.handledSignals = [] }
        if phase == "start", call.hasPrefix("rt_sigaction("), let name = call.dropFirst(13).split(separator: ",").first,
          call.dropFirst(13 + name.count).hasPrefix(", {")
        {
          result.handledSignals.insert(String(name))
        }
      }
    }
    return result
  }

  @Test("The recorder makes no system call while idle, few while busy, and sends no signal") func calls() throws {
    let program = try TestProgram("system-calls.c").path()
    // strace prints process IDs only if there are several processes, so a shell runs the program.
    let own = try watch(["/bin/sh", "-c", "\"$0\"; exit $?", program])
    let recorded = try watch([BuildProducts.leaktrace, "record", "--quiet", "-o", "a.trace", "--", program])
    #expect(own.calls["idle"] == 1 && own.handledSignals.isEmpty)
    #expect(recorded.calls["idle", default: 0] - own.calls["idle", default: 0] == Self.ofIdleProcess)
    // The program makes two calls for each block.
    let ofSamples = recorded.samples["calls", default: 0] * Self.ofSample
    let more = recorded.calls["calls", default: 0] - own.calls["calls", default: 0]
    #expect(more > 0 && (more - ofSamples) / 2 <= Self.ofMillionCalls, "\(more) system calls for two million calls")
    #expect(recorded.deliveredSignals == own.deliveredSignals)
    #expect(recorded.handledSignals == Self.handledSignals)
  }
}
