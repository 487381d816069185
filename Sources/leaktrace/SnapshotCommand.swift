// `leaktrace snapshot`: has a running process write an image of its heap.

import ArgumentParser
import TraceAnalysis

struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Take a heap snapshot of a process that is being recorded.",
    discussion: """
      The process stands still for some milliseconds, and goes on while the snapshot is written to its trace.

      Exit status: 0 the snapshot is in the trace, 1 it is not, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("The process ID: that of the program, or of the 'leaktrace record' that runs it.", valueName: "pid"))
  var processID: Int32

  @Option(help: ArgumentHelp("How long to wait for the snapshot.", valueName: "seconds"))
  var wait: Int = 60

  @Flag(help: "A round of work that is repeated is over: after five and more, what grows with each round is found.")
  var round = false

  func validate() throws {
    if processID <= 0 { throw ValidationError("Give the ID of a process.") }
    if !(1...86400).contains(wait) { throw ValidationError("--wait is a number of seconds, up to a day.") }
  }

  func run() throws {
    do {
      let processID = PauseSwitch.recordedProcess(processID)
      for live in try PauseSwitch.liveFiles(of: processID) {
        let number = try SnapshotRequest(processID: processID, live: live).take(round ? .round : .picture, waitingSeconds: wait)
        print("snapshot \(number): \(live.tracePath)")
      }
    } catch {
      ErrorOutput.print("\(error)")
      throw ExitCode.failure
    }
  }
}
