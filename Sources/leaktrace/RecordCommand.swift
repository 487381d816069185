// `leaktrace record`: runs a program with the recorder preloaded.

import ArgumentParser
import Glibc
import TraceAnalysis

struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Run a program and record its allocations, retains and releases.",
    usage: "leaktrace record [options] [--] COMMAND [ARGUMENT...]",
    discussion: """
      The program runs as it would without leaktrace: same input and output, working directory, process group and \
      signals. record ends as the program does, with its exit status or by its signal. If the program cannot \
      be started, the exit status is 127 (no such command), 126 (not executable) or 125 (any other reason; standard error says which).

      When the program exits, or SIGTERM, SIGINT or SIGHUP ends it, the recorder writes an image of its heap to the trace: \
      addresses and what it takes to interpret them, but no text and no numbers. 'leaktrace snapshot PID' writes one \
      at any time. A second signal, two seconds later or more, ends the program at once.

      Progress appears on standard error if that is a terminal and standard output is not, so that \
      it never disturbs the program's screen. --progress always shows it.
      """)

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Path of the trace; %p is the process ID, %n the program's name.", valueName: "path"))
  var output: String = OutputPattern.standard

  @Flag(inversion: .prefixedNo, help: "Also trace the processes that the program starts.")
  var followChildren = false

  @Option(
    help: ArgumentHelp(
      "Record retains and releases with their stacks, without stacks ('counts'), or not at all.",
      valueName: "mode"))
  var arc: RecordingSettings.Retains = .stacks

  @Option(help: ArgumentHelp("Record at most this many frames per stack.", valueName: "frames"))
  var depth: Int?

  @Flag(help: "Record nothing until 'leaktrace resume PID'.")
  var startPaused = false

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Write a heap image when the program ends, and for each 'leaktrace snapshot PID'."))
  var snapshots = true

  @Option(
    help: ArgumentHelp(
      "Signal that requests a heap image, by number or name (USR1, RTMIN+3). Must be one that the program does not use.",
      valueName: "signal"))
  var snapshotSignal: SignalNumber?

  @Option(
    help: ArgumentHelp(
      "Signal that ends a round of repeated work; the report shows what grows with every round. Must be one that the program does not use.",
      valueName: "signal"))
  var repeatSignal: SignalNumber?

  @Flag(name: [.short, .long], help: "Print nothing unless something goes wrong.")
  var quiet = false

  @Flag(help: "Always show progress on standard error.")
  var progress = false

  @Flag(help: .hidden)
  var verifyStacks = false

  @Argument(
    parsing: .captureForPassthrough, help: ArgumentHelp("Program to run, with its arguments.", valueName: "command"))
  var command: [String] = []

  mutating func validate() throws {
    let isMarked = command.first == "--"
    if isMarked { command.removeFirst() }
    guard let name = command.first else {
      throw ValidationError("Name the program to run: leaktrace record -- COMMAND ARGUMENT...")
    }
    // Capturing everything takes the help flags along.
    if !isMarked, ["--help", "-h", "-help"].contains(name) { throw CleanExit.helpRequest(self) }
    if !isMarked, name.hasPrefix("-") {
      throw ValidationError("Unknown option '\(name)'. If it is the program to run, put '--' before it.")
    }
    if let depth, !(1...65535).contains(depth) { throw ValidationError("--depth must be between 1 and 65535.") }
    if !snapshots && snapshotSignal != nil {
      throw ValidationError("--snapshot-signal and --no-snapshots exclude each other.")
    }
    if !snapshots && repeatSignal != nil {
      throw ValidationError("--repeat-signal and --no-snapshots exclude each other.")
    }
    try repeatSignal?.validateAsRoundSignal(besides: snapshotSignal)
    if quiet && progress { throw ValidationError("--quiet and --progress exclude each other.") }
  }

  func run() throws {
    do {
      let run = try RecordingRun(
        settings: try settings(), arguments: RecordingRun.rawArguments(last: command.count), command: command[0],
        speech: quiet ? .problemsOnly : progress ? .progressAlways : .normal)
      let recorded = try run.run()
      run.tell(recorded.summary)
      recorded.target.endAsTargetDid(waitStatus: recorded.waitStatus)
    } catch let error as RecordingRun.StartFailure {
      ErrorOutput.print(error.message)
      throw ExitCode(error.exitCode)
    } catch let error as RecordingError {
      ErrorOutput.print(error.description)
      throw ExitCode(error.exitCode)
    }
  }

  private func settings() throws(RecordingError) -> RecordingSettings {
    RecordingSettings(
      output: try OutputPattern(output, currentDirectory: currentDirectory()),
      children: followChildren ? .followed : .notFollowed, retains: arc, stackDepthLimit: depth,
      start: startPaused ? .paused : .recording, stackChecking: verifyStacks ? .everyStack : .none,
      snapshots: snapshots ? .taken(signal: snapshotSignal?.number, roundSignal: repeatSignal?.number) : .none)
  }

  private func currentDirectory() throws(RecordingError) -> String {
    guard let path = RecordingRun.currentDirectory() else { throw .outputDirectoryUnusable(path: ".", errno: errno) }
    return path
  }
}

/// A signal on the command line: `10`, `USR1`, `SIGUSR1`, `RTMIN+2`, `RTMAX-2`.
struct SignalNumber: ExpressibleByArgument {
  var number: Int32

  private static let names: [String: Int32] = [
    "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "USR1": SIGUSR1, "USR2": SIGUSR2, "PIPE": SIGPIPE, "ALRM": SIGALRM,
    "TERM": SIGTERM,
    "CONT": SIGCONT, "URG": SIGURG, "XCPU": SIGXCPU, "VTALRM": SIGVTALRM, "PROF": SIGPROF, "WINCH": SIGWINCH,
    "IO": SIGIO, "PWR": SIGPWR,
  ]
  /// Those that a handler for snapshots would take from their purpose.
  private static let refused: Set<Int32> = [
    SIGHUP, SIGINT, SIGTERM, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGCHLD,
  ]
  private static let realTime: ClosedRange<Int32> = 34...64

  init?(argument: String) {
    var name = argument.uppercased()
    if name.hasPrefix("SIG") { name.removeFirst(3) }
    let found: Int32?
    if let number = Int32(name) {
      found = number
    } else if name.hasPrefix("RTMIN") {
      found =
        name == "RTMIN" ? Self.realTime.lowerBound : Int32(name.dropFirst(5)).map { Self.realTime.lowerBound &+ $0 }
    } else if name.hasPrefix("RTMAX") {
      found =
        name == "RTMAX" ? Self.realTime.upperBound : Int32(name.dropFirst(5)).map { Self.realTime.upperBound &+ $0 }
    } else {
      found = Self.names[name]
    }
    guard let found, !Self.refused.contains(found), (1...31).contains(found) || Self.realTime.contains(found) else {
      return nil
    }
    number = found
  }
}

extension SignalNumber {
  /// Throws if the signal asks for heap images already.
  func validateAsRoundSignal(besides snapshotSignal: SignalNumber?) throws {
    if number == snapshotSignal?.number ?? RecordingSettings.usualSnapshotSignal {
      throw ValidationError("--repeat-signal must differ from the signal that 'leaktrace snapshot' uses.")
    }
  }
}

extension RecordingSettings.Retains: ExpressibleByArgument {}

extension RecordingError {
  var exitCode: Int32 {
    switch self {
    case .commandNotFound: return RecordExitCode.notFound
    case .commandNotExecutable: return RecordExitCode.notExecutable
    default: return RecordExitCode.failed
    }
  }
}
