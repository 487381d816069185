// `check`'s judgement of the traces of a run: findings, gates, and traces that could not be judged.

import ArgumentParser
import TraceAnalysis

/// Judges the traces of a run one after another, and writes the reports. Not thread-safe.
struct CheckJudgement {
  private let command: CheckCommand
  private let search: LeakSearch
  private var gatekeeper: Gatekeeper
  private var writer: ReportWriter
  private var status = ExitStatus.success
  /// Sentences that the reports repeat.
  private var remarks: [String] = []
  /// The first reason why leaks could not be judged.
  private var reasonUnjudged: String?
  /// Names of the judged programs, without duplicates.
  private var programs: [String] = []
  private var hasRounds = false

  init(_ command: CheckCommand, _ search: LeakSearch, _ gatekeeper: Gatekeeper) {
    (self.command, self.search, self.gatekeeper) = (command, search, gatekeeper)
    writer = ReportWriter(
      command.outputs, style: command.style, destination: command.report.map { .file($0) } ?? .standardOutput)
  }

  /// Judges all traces that the command selects. `stop`: how the program was stopped, with `--until`. Throws an exit
  /// code if a report cannot be written.
  mutating func judge(
    _ recorded: RecordingRun.Recorded, _ processes: CheckedProcesses, _ failure: ProgramFailure?, _ stop: ProgramStop?
  ) throws -> ExitStatus {
    let (traces, leftOut) = processes.choose(recorded.traces)
    let programsLeftOut = Dictionary(grouping: leftOut, by: \.value).sorted { $0.key < $1.key }.map {
      reason, programs in
      "not judged, \(reason): \(Set(programs.map { Self.name($0.key) }).sorted().joined(separator: ", "))"
    }
    remarks += programsLeftOut
    let children = traces.reduce(0) { $0 &+ UInt64($1.untracedChildren) }
    noteUntraced(children)
    if traces.isEmpty { noteMissing(recorded, processes) }
    for trace in traces { try examine(trace, of: traces.count, recorded, stop) }
    if command.repeatSignal != nil, !hasRounds, !traces.isEmpty {
      cannotJudge(
        "no process got the signal of --repeat-signal \(Repetition.minRounds) times with a heap image written each time; the recorder leaves the signal to a program that handles it"
      )
    }
    for remark in programsLeftOut { complain(remark) }
    let (gates, outcome) = gatekeeper.close(coverage(failure, stop, children: children), unjudged: reasonUnjudged)
    status = .worst(status, outcome)
    try writer.finish(
      program: programs.isEmpty ? Self.name(command.command[0]) : programs.joined(separator: ", "),
      judged: gatekeeper.judged, gates: gates, remarks: remarks, unjudged: reasonUnjudged)
    return status
  }

  private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private mutating func cannotJudge(_ reason: String) {
    reasonUnjudged = reasonUnjudged ?? reason
    complain("leaks cannot be judged: \(reason)")
    remarks.append("leaks cannot be judged: \(reason)")
    status = .worst(status, .unreadable)
  }

  private mutating func noteUntraced(_ children: UInt64) {
    guard children > 0 else { return }
    let remark =
      "not judged: \(children) child process\(children == 1 ? "" : "es"), which \(children == 1 ? "was" : "were") not traced"
    complain(remark + (command.followChildren ? "" : "; leave out --no-follow-children to judge them"))
    remarks.append(remark)
  }

  private mutating func noteMissing(_ recorded: RecordingRun.Recorded, _ processes: CheckedProcesses) {
    if recorded.traces.isEmpty {
      let problems = recorded.summary.problems
      cannotJudge(problems.isEmpty ? "no trace was written" : problems.joined(separator: "; "))
    } else {
      let hint = processes.names.isEmpty ? "; --only NAME chooses by name" : ""
      cannotJudge("there is no recorded process to judge\(hint)")
    }
  }

  /// `count`: the number of traces to judge.
  private mutating func examine(
    _ trace: RecordedTrace, of count: Int, _ recorded: RecordingRun.Recorded, _ stop: ProgramStop?
  ) throws {
    do {
      var examined = try search.examine(trace.path, command.outputs.detail(fullStacks: command.fullStacks))
      if Repetition.all(in: examined.reader, examined.trace.analysis.statements).contains(where: {
        $0.number == 0 && $0.isJudged
      }) {
        hasRounds = true
      }
      let name = Self.name(examined.trace.program)
      if !programs.contains(name) { programs.append(name) }
      status = .worst(status, examined.status)
      let process = "\(name) (pid \(trace.processID))"
      if recorded.stillRecording.contains(trace.path) {
        let reason = "\(process) still runs"
        if examined.leaks.unavailable != nil { examined.leaks.unavailable = reason }
        cannotJudge(reason)
      } else if examined.leaks.unavailable != nil {
        let cause =
          examined.reader.failedSnapshots.last?.explanation ?? stop?.obstacle(of: trace)
          ?? "it was killed, crashed, or ended in another unusual way"
        let reason = "\(process) left no heap image: \(cause)"
        examined.leaks.unavailable = reason
        cannotJudge(reason)
      } else if let image = examined.leaks.snapshot,
        let remark = stop?.remark(on: trace, called: process, image: image)
      {
        examined.leaks.remarks.insert(remark, at: 0)
        complain(remark)
      }
      if examined.status == .damaged {
        complain("the trace of \(process) is damaged: findings cover only what is readable")
      }
      gatekeeper.admit(&examined.leaks)
      examined.leaks.listsWeak = command.weak
      let leaks = examined.leaks
      try writer.text { style in
        "\(count > 1 ? "== \(name), pid \(trace.processID)\n\n" : "")\(LeakText.text(leaks, style: style))"
      }
      writer.add(search.report([examined.trace], selection: ReportSelection()), leaks: leaks)
      writer.add(search.page(examined))
      remarks += leaks.remarks
    } catch let error as TraceFormatError {
      cannotJudge(explanation(of: error, path: trace.path))
    }
  }

  /// `children`: the number of child processes that were not traced.
  private func coverage(
    _ failure: ProgramFailure?, _ stop: ProgramStop?, children: UInt64
  ) -> Gatekeeper.Coverage {
    if children > 0 && !command.followChildren { return .partial("child processes were not looked at") }
    if status != .success { return .partial("part of the recording could not be read") }
    guard let failure else {
      return stop?.hasKilled ?? false
        ? .limited(cause: "the program was killed", remedy: "when it ends by itself") : .whole
    }
    // A program that failed may have been stopped in the middle of its work; memory that it still had is no leak. A
    // test run is different: it runs all other tests after a failed one.
    let areTests = !programs.isEmpty && programs.allSatisfy { $0.hasSuffix(".xctest") }
    return areTests && failure.isExitStatus
      ? .limited(cause: "tests failed", remedy: "when they pass") : .partial("the program failed")
  }
}
