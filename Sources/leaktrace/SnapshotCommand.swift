// `leaktrace snapshot`: makes a running process write an image of its heap.

import ArgumentParser
import TraceAnalysis

struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Write a heap image of a process that is being recorded.",
    discussion: """
      The process stops for some milliseconds, and runs on while the image is written to its trace.

      Exit status: 0 the image is in the trace, 1 it is not, 64 wrong usage.
      """)

  @Argument(
    help: ArgumentHelp("Process ID of the program, or of the 'leaktrace record' that runs it.", valueName: "pid"),
    completion: .recording)
  var processID: Int32

  @Option(help: ArgumentHelp("Seconds to wait for the heap image.", valueName: "seconds"))
  var wait: Int = 60

  @Flag(help: "End a round of repeated work. After five or more, the report shows what grows with every round.")
  var round = false

  func validate() throws {
    if processID <= 0 { throw ValidationError("Give the ID of a process.") }
    if !(1...86400).contains(wait) { throw ValidationError("--wait is a number of seconds, up to a day.") }
  }

  func run() throws {
    do {
      let processID = PauseSwitch.recordedProcess(processID)
      for live in try PauseSwitch.liveFiles(of: processID) {
        let number = try SnapshotRequest(processID: processID, live: live).take(
          round ? .round : .picture, waitingSeconds: wait)
        print("snapshot \(number): \(live.tracePath)")
        if !round { ErrorOutput.print("'leaktrace analyze \(live.tracePath)' shows it") }
      }
    } catch {
      ErrorOutput.print("\(error)")
      throw ExitCode.failure
    }
  }
}
