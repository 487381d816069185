// `leaktrace check`: records a program, looks for leaks, judges them, and cleans up.

import ArgumentParser
import Foundation
import TraceAnalysis

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Run a program, and fail if it leaks: all that a CI job needs.",
    usage: "leaktrace check [options] [--] COMMAND [ARGUMENT...]",
    discussion: """
      Records the program as 'leaktrace record' does, then looks for leaks, judges them as 'leaktrace analyze --fail-on' does \
      (new-leaks,worse unless told otherwise), reports, and removes the traces. The program's input and output are its own; the report \
      follows it on standard output.

      'leaktrace check -- swift test' judges the tests' processes. Of other commands the program is judged, and what \
      it starts, but no programs of the toolchain and the system; --only chooses by name.

      Exit status: that of the program, if it is not 0, or the signal that ended it; then that of the command of --until. Otherwise 0 nothing \
      was found, 1 a gate failed, 3 nothing can be said, since there is no trace or no heap image, 4 a trace is damaged, 5 a report \
      could not be written, 64 wrong usage; 125, 126 and 127 the program could not be run.
      """)

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @OptionGroup var outputs: ReportOutputs

  @Option(help: ArgumentHelp("Write the report to a file instead of standard output.", valueName: "file"))
  var report: String?

  @Option(help: ArgumentHelp("Keep the traces in this directory.", valueName: "directory"))
  var keep: String?

  @Flag(inversion: .prefixedNo, help: "Also judge the processes that the program starts.")
  var followChildren = true

  @Option(help: ArgumentHelp("Of all processes judge only those of programs with this name: part of it, or a glob.", valueName: "name"))
  var only: [String] = []

  @Option(help: ArgumentHelp("Run this shell command beside the program, and end the program by SIGTERM when it has ended.", valueName: "command"))
  var until: String?

  @Option(help: ArgumentHelp("How retains and releases are recorded: 'stacks', 'counts' or 'off'.", valueName: "mode"))
  var arc: RecordingSettings.Retains = .stacks

  @Flag(help: .hidden)
  var verifyStacks = false

  @OptionGroup var searchOptions: LeakSearchOptions

  @Option(help: ArgumentHelp("Columns of the text; that of the terminal, or 80, unless given.", valueName: "columns"))
  var width: Int?

  @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The program to run, with its arguments.", valueName: "command"))
  var command: [String] = []

  mutating func validate() throws {
    let isMarked = command.first == "--"
    if isMarked { command.removeFirst() }
    guard let name = command.first else { throw ValidationError("Name the program to run: leaktrace check -- COMMAND ARGUMENT...") }
    // Capturing everything takes the help flags along.
    if !isMarked, ["--help", "-h", "-help"].contains(name) { throw CleanExit.helpRequest(self) }
    if !isMarked, name.hasPrefix("-") {
      throw ValidationError("Unknown option '\(name)'. If it is the program to run, put '--' before it.")
    }
    if let width, width < 40 { throw ValidationError("--width must be at least 40 columns.") }
    try outputs.validate(besides: [gateOptions.baseline, report])
  }

  func run() throws {
    // What is wrong with the command line is said before anything runs.
    let search = try LeakSearch(searchOptions)
    var gatekeeper = try Gatekeeper(gateOptions, subject: .analysis, standard: ["new-leaks", "worse"])
    let directory: TraceDirectory
    do throws(TraceDirectory.Failure) {
      directory = try TraceDirectory(kept: keep)
    } catch {
      complain("cannot write traces to \(error.path): \(String(cString: strerror(error.errno)))")
      throw ExitCode(RecordExitCode.failed)
    }
    let companion = until.map(EndingCommand.init)
    let (recorded, processes) = try record(in: directory, companion)
    directory.removeOnSignals(besides: recorded.target.maskBefore)

    let failure = ProgramFailure(recorded.waitStatus, companion: companion)
    if let failure { complain(failure.explanation) }
    for problem in recorded.summary.problems where !recorded.traces.isEmpty { complain("warning: \(problem)") }
    var status = ExitStatus.success
    do {
      try judge(recorded, processes, search, &gatekeeper, &status, isFailed: failure != nil)
    } catch let code as ExitCode {
      status = ExitStatus(rawValue: code.rawValue) ?? .outputFailed
    }
    if directory.isKept {
      complain("the traces are in \(directory.path)")
    } else if status != .success, !recorded.traces.isEmpty {
      complain("the traces were removed; --keep DIRECTORY keeps them, for leaktrace why and leaktrace history")
    }
    directory.remove()
    directory.forgetSignals()
    if let failure { failure.end(recorded.target) }
    if status != .success { throw status.code }
  }

  private func record(in directory: TraceDirectory, _ companion: EndingCommand?) throws -> (RecordingRun.Recorded, CheckedProcesses) {
    do {
      let pattern = directory.path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%") + "/%n.%p.trace"
      // Found before it is run, to know whether it is of the toolchain.
      let found = try TargetProgram.find(
        command: command[0], searchPath: ProcessInfo.processInfo.environment["PATH"], userID: getuid(), groupID: getgid())
      // What starts a toolchain's swift may stand elsewhere, as swiftly's does.
      let isToolchain = CheckedProcesses.isOfToolchain(found.path) || found.path.hasSuffix("/swift")
      let isTestRun = found.path.hasSuffix("/swift") && command.dropFirst().first == "test"
      let follows = followChildren || isToolchain || !only.isEmpty
      let settings = RecordingSettings(
        output: try OutputPattern(pattern, currentDirectory: "/"), children: follows ? .followed : .notFollowed, retains: arc,
        stackChecking: verifyStacks ? .everyStack : .none)
      let run = try RecordingRun(
        settings: settings, arguments: RecordingRun.rawArguments(last: command.count), command: command[0], speech: .problemsOnly)
      let chosen = CheckedProcesses(names: only.map(NamePattern.init), isTestRun: isTestRun, choosesAll: !follows)
      return (try run.run(companion: companion), chosen)
    } catch {
      directory.remove()
      switch error {
      case let error as RecordingRun.StartFailure:
        ErrorOutput.print(error.message)
        throw ExitCode(error.exitCode)
      case let error as RecordingError:
        ErrorOutput.print(error.description)
        if case .untraceable = error { throw ExitStatus.unreadable.code }
        throw ExitCode(error.exitCode)
      default: throw error
      }
    }
  }

  /// Looks at all traces that count, and writes the reports.
  private func judge(
    _ recorded: RecordingRun.Recorded, _ processes: CheckedProcesses, _ search: LeakSearch, _ gatekeeper: inout Gatekeeper, _ status: inout ExitStatus,
    isFailed: Bool
  ) throws {
    let (traces, leftOut) = processes.choose(recorded.traces)
    var remarks = Dictionary(grouping: leftOut, by: \.value).sorted { $0.key < $1.key }.map { reason, programs in
      "not judged, \(reason): \(Set(programs.map { Self.name($0.key) }).sorted().joined(separator: ", "))"
    }
    var unjudged: String?
    let children = traces.reduce(0) { $0 &+ UInt64($1.untracedChildren) }
    if children > 0 {
      let remark = "not judged: \(children) child process\(children == 1 ? "" : "es"), which \(children == 1 ? "was" : "were") not traced"
      complain(remark + (followChildren ? "" : "; leave out --no-follow-children to judge them"))
      remarks.append(remark)
    }
    func cannotJudge(_ reason: String) {
      unjudged = unjudged ?? reason
      complain("nothing can be said of leaks: \(reason)")
      remarks.append("nothing can be said of leaks: \(reason)")
      status = .worst(status, .unreadable)
    }
    if recorded.traces.isEmpty {
      cannotJudge(recorded.summary.problems.isEmpty ? "no trace was written" : recorded.summary.problems.joined(separator: "; "))
    } else if traces.isEmpty {
      let hint = processes.names.isEmpty ? "; --only NAME chooses by name" : ""
      cannotJudge("of what was recorded no process is to be judged\(hint)")
    }
    var writer = ReportWriter(outputs, style: style, destination: report.map { .file($0) } ?? .standardOutput)
    var programs: [String] = []
    for trace in traces {
      do {
        var examined = try search.examine(trace.path)
        let name = Self.name(examined.trace.program)
        if !programs.contains(name) { programs.append(name) }
        status = .worst(status, examined.status)
        if recorded.stillRecording.contains(trace.path) {
          let reason = "\(name) (pid \(trace.processID)) still runs"
          if examined.leaks.unavailable != nil { examined.leaks.unavailable = reason }
          cannotJudge(reason)
        } else if examined.leaks.unavailable != nil {
          let reason = examined.reader.failedSnapshots.last?.explanation ?? "it was killed, crashed, or ended in another unusual way"
          examined.leaks.unavailable = "\(name) (pid \(trace.processID)) left no heap image: \(reason)"
          cannotJudge(examined.leaks.unavailable ?? reason)
        }
        if examined.status == .damaged { complain("the trace of \(name) (pid \(trace.processID)) is damaged: what was found is what is readable") }
        gatekeeper.admit(&examined.leaks)
        try writer.text { style in
          "\(traces.count > 1 ? "== \(name), pid \(trace.processID)\n\n" : "")\(LeakText.text(examined.leaks, style: style))"
        }
        writer.add(search.report([examined.trace], selection: ReportSelection()), leaks: examined.leaks)
        remarks += examined.leaks.remarks
      } catch let error as TraceFormatError {
        cannotJudge(explanation(of: error, path: trace.path))
      }
    }
    for remark in remarks where remark.hasPrefix("not judged,") { complain(remark) }
    // What a program that failed left undone is not what it leaks.
    let gap = isFailed ? "the program failed" : children > 0 && !followChildren ? "child processes were not looked at" : status == .success ? nil : "not everything that was recorded could be read"
    let (gates, outcome) = gatekeeper.close(gap: gap, unjudged: unjudged)
    status = .worst(status, outcome)
    try writer.finish(
      program: programs.isEmpty ? Self.name(command[0]) : programs.joined(separator: ", "), judged: gatekeeper.judged, gates: gates, remarks: remarks)
  }

  private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private var style: TextStyle {
    let terminal = TerminalOutput()
    return TextStyle(width: width ?? terminal.columns, emphasis: terminal.showsEmphasis ? .terminal : .none)
  }
}

/// How the program, or the command beside it, failed by itself: that is what `check` ends with.
struct ProgramFailure {
  let explanation: String
  private let waitStatus: Int32?
  private let exitCode: Int32?

  /// nil if nothing failed.
  init?(_ waitStatus: Int32?, companion: EndingCommand?) {
    let wasEnded = companion?.hasEndedTarget ?? false
    switch waitStatus.map(ProcessOutcome.init) {
    case .exited(0): break
    // Shells say so of a program that a signal ended.
    case .exited(let code) where wasEnded && code == 128 + UInt8(SIGTERM): break
    case .killed(SIGTERM, _) where wasEnded: break
    case .killed(SIGKILL, _) where companion?.hasKilledTarget ?? false:
      self.init("the program did not end within \(EndingCommand.patience) s of SIGTERM, and was killed", waitStatus, nil)
      return
    case .exited(let code):
      self.init("the program failed with exit status \(code)", waitStatus, nil)
      return
    case .killed(let signal, _):
      self.init("the program was ended by signal \(signal) (\(String(cString: strsignal(signal))))", waitStatus, nil)
      return
    case .stopped, .continued, nil:
      self.init("the system does not tell how the program ended", nil, RecordExitCode.failed)
      return
    }
    guard let companion else { return nil }
    if companion.startFailure != 0 {
      self.init("the command of --until could not be started: \(String(cString: strerror(companion.startFailure)))", nil, RecordExitCode.failed)
      return
    }
    switch companion.waitStatus.map(ProcessOutcome.init) {
    case .exited(0): return nil
    case .exited(let code): self.init("the command of --until failed with exit status \(code)", nil, Int32(code))
    case .killed(let signal, _): self.init("the command of --until was ended by signal \(signal)", nil, 128 + signal)
    case .stopped, .continued, nil:
      self.init("the program ended before the command of --until did", nil, ExitStatus.unreadable.rawValue)
    }
  }

  private init(_ explanation: String, _ waitStatus: Int32?, _ exitCode: Int32?) {
    (self.explanation, self.waitStatus, self.exitCode) = (explanation, waitStatus, exitCode)
  }

  /// Ends this process alike.
  func end(_ target: TargetProcess) -> Never {
    if let exitCode { exit(exitCode) }
    target.endAsTargetDid(waitStatus: waitStatus)
  }
}
