// `leaktrace record`: runs a program with the recorder preloaded.

import ArgumentParser
import Glibc
import TraceAnalysis

struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Run a program and record its allocations, retains and releases.",
    usage: """
      leaktrace record [options] [--] COMMAND [ARGUMENT...]
      leaktrace record [options] --pid PID
      """,
    discussion: """
      The program runs as it would without leaktrace: same input and output, working directory, process group and \
      signals. record ends as the program does, with its exit status or by its signal. If the program cannot \
      be started, the exit status is 127 (no such command), 126 (not executable) or 125 (any other reason; standard error says which).

      When the program exits, or SIGTERM, SIGINT or SIGHUP ends it, the recorder writes an image of its heap to the trace: \
      addresses and the data to interpret them, but no text and no numbers. 'leaktrace snapshot PID' writes one \
      at any time. A second signal, two seconds later or more, ends the program at once. A program whose handler of SIGTERM \
      or SIGINT is called has an image from right before that.

      Progress appears on standard error if that is a terminal and standard output is not, so that \
      it never disturbs the program's screen. --progress always shows it.

      With --pid leaktrace joins a running process, as 'leaktrace attach' does, until Ctrl-C, the time of --duration or \
      the end of the process. Then the recording ends, and the process goes on. The exit status is 0, or 125 if it could not be joined.
      """)

  @OptionGroup var options: RecordingOptions

  @Flag(
    inversion: .prefixedNo, help: "Also trace the processes that the program starts. (default: only of 'swift test')")
  var followChildren: Bool?

  @OptionGroup var light: LightOptions

  @Flag(help: "Always show progress on standard error.")
  var progress = false

  @Flag(
    inversion: .prefixedNo,
    help: "Store the names of functions, lines, types and fields in the trace after the program has ended.")
  var names = true

  @Flag(help: .hidden)
  var verifyStacks = false

  @Option(
    name: .customLong("pid"), help: ArgumentHelp("Record this running process.", valueName: "pid"),
    completion: .process)
  var processID: Int32?

  @Option(
    help: ArgumentHelp(
      "With --pid: end the recording after this time, as 90s, 10m or 2h.", valueName: "time"))
  var duration: TimeSpan?

  @Option(help: ArgumentHelp("With --pid: seconds to wait until the process can be joined.", valueName: "seconds"))
  var wait: Int = AttachCommand.usualWait

  @Argument(
    parsing: .captureForPassthrough, help: ArgumentHelp("Program to run, with its arguments.", valueName: "command"),
    completion: .program)
  var command: [String] = []

  mutating func validate() throws {
    let isMarked = command.first == "--"
    if isMarked { command.removeFirst() }
    if processID != nil {
      // Options after the process's number are captured as a command.
      guard command.isEmpty else {
        throw ValidationError("--pid and a command exclude each other. Put --pid and its number last.")
      }
      if progress { throw ValidationError("--pid and --progress exclude each other.") }
      if followChildren ?? false { throw ValidationError("--pid and --follow-children exclude each other.") }
      if light.limit != nil { throw ValidationError("--pid and --limit exclude each other.") }
      if light.light { throw ValidationError("--pid and --light exclude each other: a process is joined in full.") }
    } else {
      guard duration == nil else { throw ValidationError("--duration needs --pid.") }
      try validateCommand(isMarked: isMarked)
    }
    try light.validate(besides: options)
    if options.quiet && progress { throw ValidationError("--quiet and --progress exclude each other.") }
  }

  private func validateCommand(isMarked: Bool) throws {
    guard let name = command.first else {
      throw ValidationError("Name the program to run: leaktrace record -- COMMAND ARGUMENT...")
    }
    // `.captureForPassthrough` also captures the help flags.
    if !isMarked, ["--help", "-h", "-help"].contains(name) { throw CleanExit.helpRequest(self) }
    if !isMarked, name.hasPrefix("-") {
      throw ValidationError(
        "Unknown option '\(name)'.\(Suggestion.question(forOption: name, of: Self.self)) If it is the program to run, put '--' before it."
      )
    }
  }

  func run() throws {
    if let processID {
      return try JoinedRecording(
        processID: processID, options: options, waitingSeconds: wait, storesNames: names
      )
      .run(for: duration?.seconds)
    }
    do {
      let follows = try followChildren ?? runsTests()
      let run = try RecordingRun(
        settings: try options.settings(
          children: follows ? .followed : .notFollowed, stackChecking: verifyStacks ? .everyStack : .none,
          mode: try light.mode()),
        arguments: RecordingRun.rawArguments(last: command.count), command: command[0],
        speech: options.quiet ? .problemsOnly : progress ? .progressAlways : .normal, storesNames: names)
      if !options.quiet, follows, followChildren == nil {
        ErrorOutput.print(
          "swift test runs the tests in other processes, so these are traced, too; --no-follow-children leaves them out"
        )
      }
      if !options.quiet, let cost = try light.imageCost() { ErrorOutput.print(cost) }
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
}

extension RecordCommand {
  /// True if the command is `swift test`, which runs the tests in processes that it starts.
  private func runsTests() throws(RecordingError) -> Bool {
    try TargetProgram.find(
      command: command[0], searchPath: RecordingRun.variable("PATH"), userID: getuid(), groupID: getgid()
    ).isSwiftTest(arguments: command.dropFirst())
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
  /// Signals that are needed for their usual purpose, so that the recorder may not handle them.
  private static let refused: Set<Int32> = [
    SIGHUP, SIGINT, SIGTERM, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGCHLD,
  ]
  private static let realTime: ClosedRange<Int32> = 34...64

  /// The names that the option accepts.
  static var words: [String] { names.filter { !refused.contains($0.value) }.keys.sorted() + ["RTMIN", "RTMAX"] }

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
      if found == nil { RejectedWord.note(name, among: Self.words) }
      return nil
    }
    number = found
  }
}

extension SignalNumber {
  /// Throws if the signal already requests heap images.
  func validateAsRoundSignal(besides snapshotSignal: SignalNumber?) throws {
    if number == snapshotSignal?.number ?? RecordingSettings.usualSnapshotSignal {
      throw ValidationError("--repeat-signal must differ from the signal that 'leaktrace snapshot' uses.")
    }
  }
}

extension RecordingSettings.Retains: ChosenWord {}

extension RecordingError {
  var exitCode: Int32 {
    switch self {
    case .commandNotFound: return RecordExitCode.notFound
    case .commandNotExecutable: return RecordExitCode.notExecutable
    default: return RecordExitCode.failed
    }
  }
}
