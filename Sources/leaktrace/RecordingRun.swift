// One recording, from finding the program to the program's end.

import Glibc
import TraceAnalysis

/// Everything that is needed to record a program. Made before anything starts.
struct RecordingRun {
  enum Speech { case problemsOnly, normal, progressAlways }

  private let program: TargetProgram
  private let arguments: [UnsafeMutablePointer<CChar>]
  private let environment: RecordingEnvironment
  private let session: RecordingSession
  private let messages: MessagesFile
  private let speech: Speech
  /// True if the recording takes heap images.
  private let takesImages: Bool
  /// True if the names that reports need are stored in the traces when the program has ended.
  private let storesNames: Bool
  /// Keeps other recordings from writing to the same output.
  private let reservation: OutputReservation

  init(
    settings: RecordingSettings, arguments: [UnsafeMutablePointer<CChar>], command: String, speech: Speech,
    storesNames: Bool
  ) throws(RecordingError) {
    program = try TargetProgram.find(
      command: command, searchPath: Self.variable("PATH"), userID: getuid(), groupID: getgid())
    let library = try PreloadLibrary.find(
      in: PreloadLibrary.candidates(override: Self.variable("LEAKTRACE_LIBRARY"), executablePath: Self.ownPath()))
    reservation = try settings.output.prepare(programNames: program.programNames)
    messages = try MessagesFile(outputDirectory: settings.output.directory)
    session = RecordingSession(
      sessionID: UInt64.random(in: 1...UInt64.max), output: settings.output, startTime: time(nil))
    environment = RecordingEnvironment(
      settings: settings, library: library, sessionID: session.sessionID, messagesPath: messages.path)
    self.arguments = arguments
    self.speech = speech
    takesImages = settings.snapshots != .none
    self.storesNames = storesNames
  }

  /// The program could not be started.
  struct StartFailure: Error {
    let message: String
    let exitCode: Int32
  }

  /// The recording of a program that has ended.
  struct Recorded {
    let target: TargetProcess
    /// The program's wait status; nil if the system does not report how the program ended.
    let waitStatus: Int32?
    /// The traces in order of the processes' start. Traces of ended processes are finished.
    let traces: [RecordedTrace]
    /// Paths of traces whose processes still run.
    let stillRecording: Set<String>
    let summary: RecordingSummary
  }

  /// The path of the program's file.
  var programPath: String { program.path }

  /// Runs the program and waits for its end. Signals stay blocked afterwards. `companion` starts with the program and
  /// is checked regularly until the program ends.
  func run(companion: EndingCommand? = nil) throws(StartFailure) -> Recorded {
    for warning in program.warnings { ErrorOutput.print("warning: \(warning)") }
    var progress = ProgressLine(
      isShown: speech == .progressAlways || (speech == .normal && ProgressLine.fitsTheTerminal), session: session)
    let target: TargetProcess
    do {
      target = try TargetProcess(program: program, arguments: arguments, environment: environment)
    } catch {
      messages.remove()
      throw StartFailure(
        message: "\(program.path): \(String(cString: strerror(error.code)))",
        exitCode: error.code == ENOENT ? RecordExitCode.notFound : RecordExitCode.notExecutable)
    }
    if speech != .problemsOnly { ErrorOutput.print("recording process \(target.processID)") }
    companion?.start(beside: target, of: session)
    let survived = speech == .problemsOnly ? nil : SurvivedSignal(session: session, takesImages: takesImages)
    let ticksAlways = progress.isShown || companion != nil
    let waitStatus = target.wait(
      onTick: { progress.update() },
      tick: { ticksAlways || survived?.isWaiting ?? false ? 1 : nil },
      beforeEachPause: {
        companion?.look()
        survived?.look()
      },
      onSignal: { survived?.note($0) })
    companion?.stop()
    progress.clear()
    let recorded = finish(target, waitStatus: waitStatus)
    messages.remove()
    return recorded
  }

  /// Prints the summary of the recording as `record` does.
  func tell(_ summary: RecordingSummary) {
    for problem in summary.problems { ErrorOutput.print("warning: \(problem)") }
    if speech != .problemsOnly { for note in summary.notes { ErrorOutput.print(note) } }
  }

  private func finish(_ target: TargetProcess, waitStatus: Int32?) -> Recorded {
    let processID = target.processID
    // Ignore SIGXFSZ: if a limit on file sizes is reached here, that must cause an error message and must not end this
    // process.
    signal(SIGXFSZ, SIG_IGN)
    var traces = session.traces()
    var stillRecording: Set<String> = []
    var failures: [String] = []
    let unfinished = traces.indices.compactMap { index in
      LiveRecording(tracePath: traces[index].path).map { (index, $0) }
    }
    for ((index, recording), users) in zip(unfinished, LiveRecording.recordingProcesses(of: unfinished.map(\.1))) {
      let trace = traces[index]
      let users = Self.withoutAbandonedCopies(users, of: recording, process: Int32(bitPattern: trace.processID))
      if users.contains(where: { $0 != processID }) {
        stillRecording.insert(trace.path)
        continue
      }
      // Only the wait status of the program itself is known.
      let status = trace.processID == UInt32(processID) ? waitStatus : nil
      if let failure = finish(trace, waitStatus: status) { failures.append(failure) }
      traces[index] = RecordedTrace(path: trace.path) ?? trace
    }
    for trace in traces where trace.isLeftLong && !stillRecording.contains(trace.path) {
      if let failure = finish(trace, waitStatus: nil) { failures.append(failure) }
    }
    if storesNames {
      var names = NamesRun()
      for index in traces.indices
      where !stillRecording.contains(traces[index].path) && Self.needsNames(traces[index], among: traces.count) {
        names.store(inTraceAt: traces[index].path)
        traces[index] = RecordedTrace(path: traces[index].path) ?? traces[index]
      }
      if let remark = names.remark { failures.append(remark) }
    }
    let directory = session.output.directory
    let current = Self.currentDirectory()
    let summary = RecordingSummary(
      traces: traces, stillRecording: stillRecording, messages: messages.lines() + failures,
      lostDirectory: session.lostDirectory,
      fileSizeLimit: Self.fileSizeLimit(),
      displayPath: { path in
        directory == current && path.hasPrefix(directory + "/") ? String(path.dropFirst(directory.count + 1)) : path
      })
    return Recorded(
      target: target, waitStatus: waitStatus, traces: traces, stillRecording: stillRecording, summary: summary)
  }

  /// True if names should be stored in the trace. With several traces, only the user's programs need names: they are
  /// rebuilt, while programs of the toolchain and the system stay the same.
  private static func needsNames(_ trace: RecordedTrace, among count: Int) -> Bool {
    guard trace.eventCount > 0 else { return false }
    return count == 1 || TracedProgram(tracePath: trace.path).map { ProgramOrigin($0) == .user } ?? false
  }

  /// Milliseconds that a copy of a process may take to notice that the process has died. The copy writes a heap image,
  /// and checks between two writes.
  private static let copyEndMilliseconds = 2000

  /// Returns the processes that still have the recording mapped. If only copies that write heap images are left, waits
  /// until they notice that their process has died.
  private static func withoutAbandonedCopies(_ users: [Int32], of recording: LiveRecording, process: Int32) -> [Int32] {
    var users = users
    var waited = 0
    while !users.isEmpty, !users.contains(process), waited < copyEndMilliseconds {
      usleep(5_000)
      waited += 5
      users = users.filter { recording.isMapped(by: $0) }
    }
    return users
  }

  /// Seals the data that a dead process left in its live file. Returns an error message if that fails.
  private func finish(_ trace: RecordedTrace, waitStatus: Int32?) -> String? {
    do {
      try TraceRecovery.finish(tracePath: trace.path, waitStatus: waitStatus ?? -1)
      return nil
    } catch .busy {
      // Another `record` is doing this: a recorded process can start a `record` that outlives it.
      return nil
    } catch {
      return explanation(of: error, path: trace.path)
    }
  }

  /// Returns the last arguments of this process, byte for byte.
  static func rawArguments(last count: Int) -> [UnsafeMutablePointer<CChar>] {
    Array(ProcessArguments.raw.suffix(count))
  }

  /// The limit on file sizes for this process and its children.
  private static func fileSizeLimit() -> UInt64? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
      return nil
    }
    return UInt64(limit.rlim_cur)
  }

  static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  static func currentDirectory() -> String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  static func ownPath() -> String {
    guard let path = realpath("/proc/self/exe", nil) else {
      return ProcessArguments.raw.first.map { String(cString: $0) } ?? "leaktrace"
    }
    defer { free(path) }
    return String(cString: path)
  }
}
