// Attempts with small programs that this process starts. They use the real features, and harm no other process.

import CRemoteMirror
import Glibc
import HeapAnalysis
import ProcessAttachment
import ProcessInspection
import TraceReading
import TraceRecording

/// Tries features. Each attempt starts a child, and leaves no process and no file behind.
package struct FeatureTrials {
  private let surroundings: CheckSurroundings
  private let library: PreloadLibrary?

  private static let seconds = 20
  private static let systemPrograms = ["/bin/true", "/usr/bin/true"]

  /// - Parameter library: Nil if the recorder was not found.
  init(_ surroundings: CheckSurroundings, _ library: PreloadLibrary?) {
    (self.surroundings, self.library) = (surroundings, library)
  }

  // MARK: Recording

  /// Records small programs one after another, until a trace has events and a heap image.
  func record(light: Bool) -> TrialResult<RecordedTrial> {
    guard let library else { return .notTried }
    var last = TrialResult<RecordedTrial>.failed(.noProgram)
    for (path, arguments) in smallPrograms where isRecordable(path) {
      last = record(path, arguments, library, light: light)
      if let trial = last.value, trial.events > 0, trial.hasImage { break }
    }
    return last
  }

  private func record(
    _ path: String, _ arguments: [String], _ library: PreloadLibrary, light: Bool
  ) -> TrialResult<RecordedTrial> {
    do throws(TrialFailure) {
      let directory = try TrialDirectory(in: surroundings.traceDirectory)
      let messages = messagesDirectory ?? directory
      let environment = try environment(in: directory, messages, library, light: light)
      let child = try ChildProgram(path: path, arguments: arguments, entries: environment)
      try child.awaitEnd(seconds: Self.seconds)
      let trace = directory.path + "/\(Self.traceName)"
      guard let recorded = RecordedTrace(path: trace) else {
        throw messages.message(in: Self.messagesName).map { .message($0) } ?? .notLoaded(path: library.path)
      }
      if case .stopped(let code) = recorded.state { throw .system(errno: code) }
      let reader = try? TraceReader(path: trace, part: .whole)
      return .done(
        RecordedTrial(
          program: path, events: recorded.eventCount,
          hasImage: reader?.snapshots.contains { $0.isWhole } ?? false))
    } catch { return .failed(error) }
  }

  private static let traceName = "trial.trace"
  private static let messagesName = "messages"

  /// A directory for the recorder's messages. It is separate from the trace's directory, whose disk may be full.
  private var messagesDirectory: TrialDirectory? {
    for path in surroundings.temporaryDirectories {
      if let directory = try? TrialDirectory(in: path) { return directory }
    }
    return nil
  }

  private func environment(
    in directory: TrialDirectory, _ messages: TrialDirectory, _ library: PreloadLibrary, light: Bool
  ) throws(TrialFailure) -> [[UInt8]] {
    try messages.makeFile(Self.messagesName)
    do throws(RecordingError) {
      let output = try output(in: directory)
      let settings = RecordingSettings(output: output, mode: light ? .light(.init()) : .full)
      return RecordingEnvironment(
        settings: settings, library: library, sessionID: UInt64.random(in: 1...UInt64.max),
        messagesPath: messages.path + "/\(Self.messagesName)"
      ).entries(inherited: surroundings.environment)
    } catch { throw .recording(error) }
  }

  /// Programs that end by themselves: the system's `true`, which allocates when it prints its version, and this
  /// program.
  private var smallPrograms: [(path: String, arguments: [String])] {
    Self.systemPrograms.map { ($0, ["--version"]) } + [(surroundings.executablePath, ["--version"])]
  }

  /// Returns the pattern for a trace in a directory. Percent signs in the directory's name are escaped.
  private func output(in directory: TrialDirectory) throws(RecordingError) -> OutputPattern {
    let path = directory.path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
    return try OutputPattern("\(path)/\(Self.traceName)", currentDirectory: surroundings.currentDirectory)
  }

  private func isRecordable(_ path: String) -> Bool {
    (try? TargetProgram.find(command: path, searchPath: nil, userID: getuid(), groupID: getgid())) != nil
  }

  /// Starts this program as a waiting child. The environment decides whether it is recorded.
  private func waitingChild(_ entries: [[UInt8]]) throws(TrialFailure) -> ChildProgram {
    let child = try ChildProgram(
      path: surroundings.executablePath, arguments: surroundings.waitingArguments, entries: entries)
    try child.awaitLine(seconds: Self.seconds)
    return child
  }

  /// Makes a recorded child take a heap image on request. Returns the heap image's number.
  func snapshot() -> TrialResult<UInt32> {
    guard let library else { return .notTried }
    do throws(TrialFailure) {
      let directory = try TrialDirectory(in: surroundings.traceDirectory)
      let messages = messagesDirectory ?? directory
      let child = try waitingChild(environment(in: directory, messages, library, light: false))
      defer { child.end() }
      guard let live = try? PauseSwitch.liveFiles(of: child.processID).first else {
        throw messages.message(in: Self.messagesName).map { .message($0) } ?? .notLoaded(path: library.path)
      }
      do {
        let request = SnapshotRequest(processID: child.processID, live: live)
        let number = try request.take(waitingSeconds: Self.seconds)
        try child.awaitEnd(seconds: Self.seconds)
        reapImageWriters()
        return .done(number)
      } catch {
        throw .message(messages.message(in: Self.messagesName) ?? "\(error)")
      }
    } catch { return .failed(error) }
  }

  /// Reaps the processes that wrote heap images for a child that has exited. The recorder made them children of this
  /// process. Without this, they would remain as zombies if process 1 does not reap its children.
  private func reapImageWriters() {
    // __WALL of wait(2): includes children that send no signal when they end.
    let all: Int32 = 0x4000_0000
    while waitpid(-1, nil, WNOHANG | all) > 0 {}
  }

  // MARK: From outside

  /// Copies a child, as an inspection does. Returns the child's pause in nanoseconds.
  func inspect() -> TrialResult<UInt64> {
    do throws(TrialFailure) {
      let child = try waitingChild(surroundings.environment)
      defer { child.end() }
      do throws(InspectionError) {
        let copy = try ProcessCopy(of: child.processID)
        defer { copy.end() }
        guard let mapping = copy.memory.mappings.first(where: \.isReadable),
          !copy.memory.bytes(at: mapping.range.lowerBound, count: 64).isEmpty
        else { throw .processRefused(child.processID, errno: EPERM) }
        return .done(copy.pauseNanoseconds)
      } catch { throw .inspection(error) }
    } catch { return .failed(error) }
  }

  /// Joins a child, and ends the recording. Returns the child's pause in nanoseconds.
  func attach() -> TrialResult<UInt64> {
    guard let library else { return .notTried }
    do throws(TrialFailure) {
      let directory = try TrialDirectory(in: surroundings.traceDirectory)
      let child = try waitingChild(surroundings.environment)
      defer { child.end() }
      let output: OutputPattern
      do throws(RecordingError) { output = try self.output(in: directory) } catch { throw .recording(error) }
      do throws(AttachmentError) {
        let attachment = try Attachment.begin(
          in: TargetView(of: child.processID), settings: RecordingSettings(output: output), library: library,
          waitingSeconds: Self.seconds)
        defer { attachment.forget() }
        try Attachment.end(in: child.processID, waitingSeconds: Self.seconds)
        return .done(attachment.pauseNanoseconds)
      } catch { throw .attachment(error) }
    } catch { return .failed(error) }
  }

  /// Loads the first remote mirror library that exists and can be loaded.
  static func mirror(_ candidates: [String]) -> TrialResult<String> {
    var failure = TrialFailure.libraryMissing(searched: candidates)
    for path in candidates where access(path, R_OK) == 0 {
      var reason: UnsafeMutablePointer<CChar>?
      if let library = lt_mirror_load(path, &reason) {
        lt_mirror_release(library)
        return .done(path)
      }
      failure = .message(reason.map { String(cString: $0) } ?? path)
      free(reason)
    }
    return .failed(failure)
  }
}
