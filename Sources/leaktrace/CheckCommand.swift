// `leaktrace check`: records a program, looks for leaks, judges them, and cleans up.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

struct CheckCommand: LeakSearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Run a program and fail if it leaks (for CI).",
    usage: "leaktrace check [options] [--] COMMAND [ARGUMENT...]",
    discussion: """
      Records the program as 'leaktrace record' does, looks for leaks, applies the gates of 'leaktrace analyze --fail-on' \
      (default: new-leaks,worse,library-leaks), prints the report after the program's own output, and removes the traces.

      'leaktrace check -- swift test' judges the test processes. With any other command, check judges that program and the programs it \
      starts, except programs of the toolchain and the system; --only selects by name.

      With --against, check prints the answers of 'leaktrace verify' in place of the report and the gates, and ends with their status: 0, 1, 2 or 7. \
      --runs repeats the program until a run fails.

      Exit status: the program's own, if that is not 0, or its signal; then the --until command's status. Otherwise 0 no gate failed, 1 a gate \
      failed, 3 nothing is known about leaks (no trace, or no heap image), 4 a trace is damaged, 5 a report could not be written, \
      6 some of an --untrusted trace was refused, 7 with --against: a leak was not exercised, 64 wrong usage; 125, 126 and 127 the program could not be run.
      """)

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @Option(
    help: ArgumentHelp(
      "Say for each leak of this old run whether it is gone: a trace, a directory of traces, or a digest.",
      valueName: "run"), completion: .file())
  var against: String?

  @Option(
    help: ArgumentHelp(
      "With --against: run the program this often, and tell leaks that come and go from fixed ones (default: 1).",
      valueName: "number"))
  var runs: Int?

  @OptionGroup var asked: AskedFindings

  @OptionGroup var outputs: ReportOutputs

  @Option(
    help: ArgumentHelp("Write the report to a file instead of standard output.", valueName: "file"), completion: .file()
  )
  var report: String?

  @Flag(help: "Also list weak suspicions.")
  var weak = false

  @Flag(help: "Show the stacks of each finding, with full names and paths.")
  var fullStacks = false

  @Option(help: ArgumentHelp("Keep the traces in this directory.", valueName: "directory"), completion: .directory)
  var keep: String?

  @Flag(inversion: .prefixedNo, help: "Also judge processes that the program starts.")
  var followChildren = true

  @Option(
    help: ArgumentHelp(
      "Only judge processes whose program name matches: part of the name, or a glob.", valueName: "name"))
  var only: [String] = []

  @Option(
    help: ArgumentHelp(
      "Run this shell command beside the program. When it ends, take a heap image and stop the program with SIGTERM.",
      valueName: "command"))
  var until: String?

  @Option(
    help: ArgumentHelp(
      "With --until: kill the program this long after SIGTERM, and judge its last heap image (default: 60s).",
      valueName: "time"))
  var stopTimeout: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "Signal that ends a round of repeated work. Anything that grows with every round fails the gates. Needs at least five rounds.",
      valueName: "signal"), completion: .list(SignalNumber.words))
  var repeatSignal: SignalNumber?

  @Option(
    help: ArgumentHelp(
      "Record retains and releases with their stacks, without stacks ('counts'), or not at all.", valueName: "mode"))
  var arc: RecordingSettings.Retains = .stacks

  @Flag(help: .hidden)
  var verifyStacks = false

  @OptionGroup var pathOptions: PathOptions

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  @Argument(
    parsing: .captureForPassthrough, help: ArgumentHelp("Program to run, with its arguments.", valueName: "command"),
    completion: .program)
  var command: [String] = []

  mutating func validate() throws {
    let isMarked = command.first == "--"
    if isMarked { command.removeFirst() }
    guard let name = command.first else {
      throw ValidationError("Name the program to run: leaktrace check -- COMMAND ARGUMENT...")
    }
    // `.captureForPassthrough` also captures the help flags.
    if !isMarked, ["--help", "-h", "-help"].contains(name) { throw CleanExit.helpRequest(self) }
    if !isMarked, name.hasPrefix("-") {
      throw ValidationError(
        "Unknown option '\(name)'.\(Suggestion.question(forOption: name, of: Self.self)) If it is the program to run, put '--' before it."
      )
    }
    if stopTimeout != nil, until == nil { throw ValidationError("--stop-timeout needs --until.") }
    try repeatSignal?.validateAsRoundSignal(besides: nil)
    if let runs {
      if against == nil { throw ValidationError("--runs needs --against.") }
      if !(1...Self.runLimit).contains(runs) {
        throw ValidationError("--runs must be from 1 to \(Self.runLimit).")
      }
    }
    if against != nil {
      if !gateOptions.failOn.isEmpty || gateOptions.baseline != nil {
        throw ValidationError("--against replaces the gates: leave out --fail-on and --baseline.")
      }
      try FixAnswers.validate(outputs, option: "check --against")
    } else if !asked.fingerprints.isEmpty {
      throw ValidationError("--finding needs --against.")
    }
    try outputs.validate(besides: [gateOptions.baseline, report, against])
  }

  private static let runLimit = 1000

  func run() throws {
    // Report errors of the command line before the program runs.
    let search = try LeakSearch(self)
    let gatekeeper = try Gatekeeper(gateOptions, subject: .analysis, standard: ["new-leaks", "worse", "library-leaks"])
    var fixes = try against.map { try FixCheck(self, against: $0, search) }
    let directory: TraceDirectory
    do throws(TraceDirectory.Failure) {
      directory = try TraceDirectory(kept: keep)
    } catch {
      complain("cannot write traces to \(error.path): \(String(cString: strerror(error.errno)))")
      throw ExitCode(RecordExitCode.failed)
    }
    let inherited = InheritedSignals()
    var (recorded, processes, companion) = try record(in: directory)
    var failure = Self.failure(of: recorded, companion)
    var earlier: [RecordingRun.Recorded] = []
    // A run that failed did not do its work, and the next one would fail as well.
    while failure == nil, earlier.count + 1 < runs ?? 1 {
      earlier.append(recorded)
      inherited.restore()
      (recorded, processes, companion) = try record(in: directory)
      failure = Self.failure(of: recorded, companion)
    }
    directory.removeOnSignals(besides: recorded.target.maskBefore)

    let status: ExitStatus
    do {
      if fixes != nil {
        for run in earlier { try fixes!.add(run, processes, nil) }
        try fixes!.add(recorded, processes, failure)
        status = try fixes!.judge()
      } else {
        var judgement = CheckJudgement(self, search, gatekeeper)
        status = try judgement.judge(recorded, processes, failure, companion?.programStop)
      }
    } catch let code as ExitCode {
      status = ExitStatus(rawValue: code.rawValue) ?? .outputFailed
    }
    if directory.isKept {
      complain("the traces are in \(directory.path)")
    } else if status != .success, !recorded.traces.isEmpty {
      complain("the traces were removed; keep them for leaktrace why and leaktrace history with --keep DIRECTORY")
    }
    directory.remove()
    directory.forgetSignals()
    if let failure { failure.end(recorded.target) }
    if status != .success { throw status.code }
  }

  /// Prints how a run failed, and the problems of its recording. Returns nil if it did not fail.
  private static func failure(of recorded: RecordingRun.Recorded, _ companion: EndingCommand?) -> ProgramFailure? {
    let failure = ProgramFailure(recorded.waitStatus, companion: companion)
    if let failure { complain(failure.explanation) }
    for problem in recorded.summary.problems where !recorded.traces.isEmpty { complain("warning: \(problem)") }
    return failure
  }

  private func record(in directory: TraceDirectory) throws -> (
    RecordingRun.Recorded, CheckedProcesses, EndingCommand?
  ) {
    do {
      let pattern =
        directory.path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%") + "/%n.%p.trace"
      // Find the program's file before the run, to know whether it belongs to a toolchain.
      let found = try TargetProgram.find(
        command: command[0], searchPath: ProcessInfo.processInfo.environment["PATH"], userID: getuid(),
        groupID: getgid())
      // `swift` may also be a launcher that is installed outside the toolchain, such as swiftly's.
      let isToolchain = ProgramOrigin.isOfToolchain(found.path) || found.path.hasSuffix("/swift")
      let isTestRun = found.isSwiftTest(arguments: command.dropFirst())
      let follows = followChildren || isToolchain || !only.isEmpty
      let settings = RecordingSettings(
        output: try OutputPattern(pattern, currentDirectory: "/"), children: follows ? .followed : .notFollowed,
        retains: arc,
        stackChecking: verifyStacks ? .everyStack : .none,
        snapshots: .taken(signal: nil, roundSignal: repeatSignal?.number))
      let run = try RecordingRun(
        settings: settings, arguments: RecordingRun.rawArguments(last: command.count), command: command[0],
        speech: .problemsOnly, storesNames: directory.isKept)
      let chosen = CheckedProcesses(names: only.map(NamePattern.init), isTestRun: isTestRun, choosesAll: !follows)
      let companion = until.map {
        EndingCommand($0, choice: chosen, stopTimeout: stopTimeout?.seconds ?? ProgramStop.usualTimeout)
      }
      return (try run.run(companion: companion), chosen, companion)
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

  var style: TextStyle {
    layout.style(stacks: fullStacks ? .full : .folded, paths: pathOptions.style)
  }
}

/// A failure of the program or of the `--until` command. `check` ends with its status.
struct ProgramFailure {
  let explanation: String
  private let waitStatus: Int32?
  private let exitCode: Int32?

  /// Returns nil if neither failed.
  init?(_ waitStatus: Int32?, companion: EndingCommand?) {
    let wasEnded = companion?.hasEndedTarget ?? false
    switch waitStatus.map(ProcessOutcome.init) {
    case .exited(0): break
    // Shells report this status for a program that SIGTERM ended.
    case .exited(let code) where wasEnded && code == 128 + UInt8(SIGTERM): break
    case .killed(SIGTERM, _) where wasEnded: break
    // The program was killed because it did not end in time; its last heap image is judged.
    case .killed(SIGKILL, _) where companion?.hasKilledTarget ?? false: break
    case .exited(let code):
      self.init("the program failed with exit status \(code)", waitStatus, nil)
      return
    case .killed(let signal, _):
      self.init("the program was ended by signal \(signal) (\(String(cString: strsignal(signal))))", waitStatus, nil)
      return
    case .stopped, .continued, nil:
      self.init("the system does not say how the program ended", nil, RecordExitCode.failed)
      return
    }
    guard let companion else { return nil }
    if companion.startFailure != 0 {
      self.init(
        "the command of --until could not be started: \(String(cString: strerror(companion.startFailure)))", nil,
        RecordExitCode.failed)
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

  /// True if the program exited with a status of its own; false if a signal killed it, or if something else failed.
  var isExitStatus: Bool {
    guard exitCode == nil, case .exited = waitStatus.map(ProcessOutcome.init) else { return false }
    return true
  }

  /// Ends this process with the same status or signal.
  func end(_ target: TargetProcess) -> Never {
    if let exitCode { exit(exitCode) }
    target.endAsTargetDid(waitStatus: waitStatus)
  }
}
