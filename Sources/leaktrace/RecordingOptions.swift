// The options of a recording, whether it starts a program or joins a running process.

import ArgumentParser
import Glibc
import TraceAnalysis

struct RecordingOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Path of the trace; %p is the process ID, %n the program's name. For a folder: the default name in that folder.",
      valueName: "path"), completion: .file())
  var output: String = OutputPattern.standard

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
      valueName: "signal"), completion: .list(SignalNumber.words))
  var snapshotSignal: SignalNumber?

  @Option(
    help: ArgumentHelp(
      "Signal that ends a round of repeated work; the report shows what grows with every round. Must be one that the program does not use.",
      valueName: "signal"), completion: .list(SignalNumber.words))
  var repeatSignal: SignalNumber?

  @Flag(name: [.short, .long], help: "Print nothing unless something goes wrong.")
  var quiet = false

  func validate() throws {
    if let depth, !(1...65535).contains(depth) { throw ValidationError("--depth must be between 1 and 65535.") }
    if !snapshots && snapshotSignal != nil {
      throw ValidationError("--snapshot-signal and --no-snapshots exclude each other.")
    }
    if !snapshots && repeatSignal != nil {
      throw ValidationError("--repeat-signal and --no-snapshots exclude each other.")
    }
    try repeatSignal?.validateAsRoundSignal(besides: snapshotSignal)
  }

  /// - Parameter directory: The base directory of a relative path; nil for this process's current directory.
  func settings(
    in directory: String? = nil, children: RecordingSettings.Children = .notFollowed,
    stackChecking: RecordingSettings.StackChecking = .none, mode: RecordingSettings.Mode = .full
  ) throws(RecordingError) -> RecordingSettings {
    guard let directory = directory ?? RecordingRun.currentDirectory() else {
      throw .outputDirectoryUnusable(path: ".", errno: errno)
    }
    return RecordingSettings(
      output: try OutputPattern(OutputPattern.inDirectory(output, of: directory), currentDirectory: directory),
      children: children, retains: arc,
      stackDepthLimit: depth, start: startPaused ? .paused : .recording, stackChecking: stackChecking,
      snapshots: snapshots ? .taken(signal: snapshotSignal?.number, roundSignal: repeatSignal?.number) : .none,
      mode: mode)
  }
}
