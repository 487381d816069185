// `check --against`: the answers about an old run's findings after a new recording.

import ArgumentParser
import TraceAnalysis

/// Compares recorded runs with the old run of `--against`.
struct FixCheck {
  private let command: CheckCommand
  private let answers: FixAnswers
  private var digests: RunDigests
  private var runs: [RunDigest] = []
  private var remarks: [String] = []
  /// True if a run left no trace to judge.
  private var lacksTraces = false

  /// Reads the old run, so that its errors are reported before the program runs. Prints the reason before it throws an
  /// exit status.
  init(_ command: CheckCommand, against path: String, _ search: LeakSearch) throws {
    self.command = command
    digests = RunDigests(search)
    answers = try FixAnswers(
      old: digests.digest(ofRun: path), asked: command.asked, isUntrusted: command.reading.untrusted)
  }

  /// Adds a recorded run with the traces that the command selects. Throws an exit code if they cannot be read.
  mutating func add(_ recorded: RecordingRun.Recorded, _ processes: CheckedProcesses, _ failure: ProgramFailure?) throws
  {
    if let failure { remarks.append("\(failure.explanation): it may have ended before its work was done") }
    let traces = processes.choose(recorded.traces).judged
    guard !traces.isEmpty else {
      let problems = recorded.summary.problems
      complain(
        "nothing is known about the new run: "
          + (problems.isEmpty ? "there is no recorded process to judge" : problems.joined(separator: "; ")))
      lacksTraces = true
      return
    }
    var run = try digests.digest(ofTraces: traces.map(\.path), of: command.command.joined(separator: " "))
    if let trace = traces.first(where: { recorded.stillRecording.contains($0.path) }) {
      (run.findings, run.findingsUnavailable) = (nil, "process \(trace.processID) still runs")
    }
    runs.append(run)
  }

  /// Answers for the old findings by the runs that were added. Returns the status of the answers. Throws an exit code if
  /// they cannot be written.
  func judge() throws -> ExitStatus {
    guard !runs.isEmpty else { return .unreadable }
    var report = try answers.report(runs)
    report.remarks += remarks
    for unjudged in report.unjudged { complain("\(unjudged.path) cannot be judged: \(unjudged.reason)") }
    try FixAnswers.deliver(report, command.outputs, style: command.style, to: command.report)
    let status = ExitStatus.worst(digests.status, FixAnswers.status(report))
    return lacksTraces ? .worst(status, .unreadable) : status
  }
}
