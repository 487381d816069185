// `leaktrace pause` and `leaktrace resume`: stop and restart the recording of a running process.

import ArgumentParser
import TraceAnalysis

struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "pause", abstract: "Pause the recording of a process.")
  @OptionGroup var target: PauseTarget
  func run() throws { try target.set(.paused) }
}

struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "Resume the recording of a process.")
  @OptionGroup var target: PauseTarget
  func run() throws { try target.set(.record) }
}

struct PauseTarget: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Process ID of the program or of its 'leaktrace record', or the path of its trace.", valueName: "pid|trace"),
    completion: .recordingOrTrace)
  var target: String

  func set(_ position: PauseSwitch) throws {
    do {
      if let processID = Int32(target), processID > 0 {
        for live in try PauseSwitch.liveFiles(of: PauseSwitch.recordedProcess(processID)) { try position.set(in: live) }
      } else {
        try position.set(in: try PauseSwitch.liveFile(ofTrace: target))
      }
    } catch {
      ErrorOutput.print(error.description)
      throw ExitCode.failure
    }
  }
}
