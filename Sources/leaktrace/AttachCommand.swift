// `leaktrace attach` and `leaktrace detach`: record a part of the life of a process that is already running.

import ArgumentParser
import Glibc
import TraceAnalysis

struct AttachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach",
    abstract: "Start to record a running process.",
    discussion: """
      All threads of the process are stopped for some milliseconds. Then one of them loads the recorder, begins the recording and \
      continues its work; the others run in the meantime. 'leaktrace snapshot', 'pause' and 'resume' work as for a recorded program, and \
      'leaktrace analyze' reads the trace while it grows. 'leaktrace detach PID' ends the recording; the process goes on. The library \
      stays loaded, and does nothing.

      This needs the right to trace the process: run it as the same user, or with CAP_SYS_PTRACE. Children of the process are not recorded.

      Exit status: 0 the process records, 1 it does not, 64 wrong usage.
      """)

  /// Default of `--wait`, in seconds.
  static let usualWait = 30

  @Argument(help: ArgumentHelp("Process ID.", valueName: "pid"), completion: .process)
  var processID: Int32

  @OptionGroup var options: RecordingOptions

  @Option(help: ArgumentHelp("Seconds to wait until the process can be joined.", valueName: "seconds"))
  var wait: Int = AttachCommand.usualWait

  func validate() throws {
    if processID <= 0 { throw ValidationError("Give the ID of a process.") }
    if !(1...86400).contains(wait) { throw ValidationError("--wait is a number of seconds, up to a day.") }
  }

  func run() throws {
    let recording = JoinedRecording(processID: processID, options: options, waitingSeconds: wait)
    guard let attachment = recording.begin() else { throw ExitCode.failure }
    attachment.forget()
    if !options.quiet {
      ErrorOutput.print("'leaktrace analyze \(attachment.tracePath)' reads it, 'leaktrace detach \(processID)' ends it")
    }
  }
}

struct DetachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "detach",
    abstract: "End the recording of a process that 'leaktrace attach' has begun.",
    discussion: """
      The process goes on, and its trace is complete when the command ends.

      Exit status: 0 the recording has ended, 1 it has not, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("Process ID.", valueName: "pid"), completion: .recording)
  var processID: Int32

  @Option(help: ArgumentHelp("Seconds to wait until the recording can be ended.", valueName: "seconds"))
  var wait: Int = AttachCommand.usualWait

  func validate() throws {
    if processID <= 0 { throw ValidationError("Give the ID of a process.") }
    if !(1...86400).contains(wait) { throw ValidationError("--wait is a number of seconds, up to a day.") }
  }

  func run() throws {
    do {
      try Attachment.end(in: processID, waitingSeconds: wait)
    } catch {
      ErrorOutput.print(error.description)
      throw ExitCode.failure
    }
  }
}
