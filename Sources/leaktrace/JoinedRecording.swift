// Records a process that is already running. `leaktrace attach` begins the recording; `record --pid` also waits for its
// end.

import ArgumentParser
import Glibc
import TraceAnalysis

struct JoinedRecording {
  let processID: Int32
  let options: RecordingOptions
  let waitingSeconds: Int
  /// Store the names that reports need in the trace when the recording has ended.
  var storesNames = false

  /// Default directory of the trace if the process has its own view of files.
  private static let directoryElsewhere = "/tmp"

  /// Begins the recording, and prints a message. If the recording cannot begin, prints the reason and returns nil.
  func begin() -> Attachment? {
    do {
      let view = try TargetView(of: processID)
      if !view.sharesFiles, options.output != OutputPattern.standard, !options.output.hasPrefix("/") {
        throw AttachmentError.relativePath(processID, path: options.output)
      }
      let library = try PreloadLibrary.find(
        in: PreloadLibrary.candidates(
          override: RecordingRun.variable("LEAKTRACE_LIBRARY"), executablePath: RecordingRun.ownPath()))
      let settings = try options.settings(in: view.sharesFiles ? nil : Self.directoryElsewhere)
      try refuseTraceInUse(settings.output, view)
      let attachment = try Attachment.begin(
        in: view, settings: settings, library: library, waitingSeconds: waitingSeconds)
      tell(attachment)
      return attachment
    } catch {
      ErrorOutput.print("\(error)")
      return nil
    }
  }

  /// Refuses a path that another process is writing a trace to: the recorder would take that trace for an old one.
  private func refuseTraceInUse(_ output: OutputPattern, _ view: TargetView) throws {
    guard output.namesOneFileForAProgram else { return }
    let path = view.ownPath(output.path(processID: UInt32(processID), programName: view.programName))
    if let live = LiveRecording(tracePath: path), !live.recordingProcesses().isEmpty {
      throw RecordingError.outputInUse(path: path)
    }
  }

  private func tell(_ attachment: Attachment) {
    for message in attachment.messages() { ErrorOutput.print("warning: \(message)") }
    guard !options.quiet else { return }
    let pause = Decimal.fixed(Double(attachment.pauseNanoseconds) / 1e6, places: 1)
    ErrorOutput.print(
      "recording process \(processID), which was stopped for \(pause) ms: \(PlainText.escaped(attachment.tracePath))")
    if !attachment.view.hasSwift {
      ErrorOutput.print("it has no Swift runtime: calls of malloc are recorded, and there are no Swift objects")
    }
  }

  // MARK: To its end

  /// Records for `seconds`, until a signal arrives, or until the process ends.
  func run(for seconds: Double?) throws {
    // Block the signals before the recording begins: then the first Ctrl-C ends the recording and not this process.
    var ending = sigset_t()
    sigemptyset(&ending)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&ending, signal) }
    sigprocmask(SIG_BLOCK, &ending, nil)
    guard let attachment = begin() else { throw ExitCode(RecordExitCode.failed) }
    defer { attachment.forget() }
    let end = seconds.map { ContinuousClock.now + .seconds($0) }
    var isRunning = true
    while isRunning, end.map({ ContinuousClock.now < $0 }) ?? true {
      var moment = timespec(tv_sec: 0, tv_nsec: 200_000_000)
      if sigtimedwait(&ending, nil, &moment) > 0 { break }
      isRunning = isAlive
    }
    if isRunning {
      do throws(AttachmentError) {
        try Attachment.end(in: processID, waitingSeconds: waitingSeconds)
      } catch {
        // The process may have ended, or `leaktrace detach` may have ended the recording first.
        if case .recordsNothing = error {
        } else if isAlive {
          ErrorOutput.print(error.description)
          throw ExitCode(RecordExitCode.failed)
        }
      }
    }
    try summarize(attachment)
  }

  /// True if the process runs. A process that has ended exists until its parent waits for it, so its state is checked
  /// too.
  private var isAlive: Bool {
    guard kill(processID, 0) == 0 || errno == EPERM else { return false }
    let state = ProcFile.lines("/proc/\(processID)/status")["State"]
    return state.map { !$0.hasPrefix("Z") && !$0.hasPrefix("X") } ?? false
  }

  private func summarize(_ attachment: Attachment) throws {
    let isAbandoned = LiveRecording(tracePath: attachment.tracePath)?.recordingProcesses().isEmpty
    if isAbandoned ?? RecordedTrace(path: attachment.tracePath)?.isLeftLong ?? false {
      // Only the parent of the process knows how it ended, so no wait status is known here.
      do { _ = try TraceRecovery.finish(tracePath: attachment.tracePath, waitStatus: -1) } catch {
        ErrorOutput.print("warning: \(explanation(of: error, path: attachment.tracePath))")
      }
    }
    var names = NamesRun()
    // If the process has its own view of files, other files are at these paths here.
    if storesNames, attachment.view.sharesFiles { names.store(inTraceAt: attachment.tracePath) }
    guard let trace = RecordedTrace(path: attachment.tracePath) else {
      ErrorOutput.print("the trace \(PlainText.escaped(attachment.tracePath)) cannot be read")
      throw ExitCode(RecordExitCode.failed)
    }
    let summary = RecordingSummary(
      traces: [trace], stillRecording: [], messages: names.remark.map { [$0] } ?? [], displayPath: { $0 })
    for problem in summary.problems { ErrorOutput.print("warning: \(problem)") }
    if !options.quiet { for note in summary.notes { ErrorOutput.print(note) } }
  }
}
