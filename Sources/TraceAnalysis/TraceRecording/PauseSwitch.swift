// Pausing and resuming the recording of a running process.

import CTraceFormat
import Glibc
import TextWriting
import TraceReading

/// The switch in a live file that the recorder's hooks check.
package enum PauseSwitch: Sendable {
  case record, paused

  package enum Failure: Error, Hashable, Sendable {
    /// The process does not exist, belongs to another user, or is not being recorded.
    case notRecording(processID: Int32)
    /// The trace has no valid live file, so the recording has ended.
    case notLive(tracePath: String)
    case cannotWrite(path: String, errno: Int32)
  }

  /// Returns the live files that a process records to.
  ///
  /// - Throws: `Failure.notRecording`.
  package static func liveFiles(of processID: Int32) throws(Failure) -> [LiveRecording] {
    let files = ProcessMappings.mappedFiles(of: processID).filter { $0.path.hasSuffix(String(LT_LIVE_SUFFIX)) }
    let live = files.compactMap { file in
      ProcessMappings.openablePaths(of: file.path, in: processID).lazy.compactMap { LiveRecording(path: $0) }
        .first { $0.identity == file.identity }
    }
    guard !live.isEmpty else { throw .notRecording(processID: processID) }
    return live
  }

  /// Returns the recorded process for a process ID. If the process is `leaktrace record`, this is the program that it
  /// runs. For any other process, it is the process itself.
  package static func recordedProcess(_ processID: Int32) -> Int32 {
    guard ProcessMappings.programName(of: processID) == ProcessMappings.programName(of: getpid()) else {
      return processID
    }
    return ProcessMappings.children(of: processID).first { (try? liveFiles(of: $0)) != nil } ?? processID
  }

  /// Returns the live file of a trace. `path` may also be the path of the live file.
  ///
  /// - Throws: `Failure.notLive`.
  package static func liveFile(ofTrace path: String) throws(Failure) -> LiveRecording {
    let live = path.hasSuffix(String(LT_LIVE_SUFFIX)) ? LiveRecording(path: path) : LiveRecording(tracePath: path)
    guard let live else { throw .notLive(tracePath: path) }
    return live
  }

  /// Sets the switch. It takes effect at the process's next event.
  ///
  /// - Throws: `Failure.cannotWrite`, or `.notLive` if the file was replaced.
  package func set(in live: LiveRecording) throws(Failure) {
    let descriptor = open(live.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .cannotWrite(path: live.path, errno: errno) }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0, FileIdentity(information) == live.identity else {
      throw .notLive(tracePath: live.path)
    }
    var value = UInt32(self == .paused ? LT_SWITCH_PAUSED : LT_SWITCH_RECORD).littleEndian
    let offset = off_t(MemoryLayout<lt_live_header>.offset(of: \.pauseSwitch)!)
    // The hooks read the four aligned bytes with a single load, so they never see a part of the change.
    guard pwrite(descriptor, &value, 4, offset) == 4 else { throw .cannotWrite(path: live.path, errno: errno) }
  }
}

extension PauseSwitch.Failure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notRecording(let processID):
      return "process \(processID) is not being recorded, or is another user's"
    case .notLive(let path):
      return "\(path) is not being recorded: there is no live file beside it"
    case .cannotWrite(let path, let errno):
      return "cannot change \(path): \(systemErrorText(errno))"
    }
  }
}
