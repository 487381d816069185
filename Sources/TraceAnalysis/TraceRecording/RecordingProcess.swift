// The processes that are being recorded.

import CTraceFormat
import Glibc
import TraceReading

/// A process that has a trace's live file mapped, which means that it records. A value: it may be out of date a moment
/// later.
package struct RecordingProcess: Hashable, Sendable {
  package enum State: Hashable, Sendable { case recording, paused }

  package var processID: Int32
  /// The path of its program; nil if the system does not show it.
  package var program: String?
  /// The path in the process's view.
  package var tracePath: String
  /// Nanoseconds since 1970. Nil if the trace cannot be read, like the next two properties.
  package var startRealtime: UInt64?
  package var traceSize: ByteCount?
  /// As far as the trace and its live file have it.
  package var eventCount: UInt64?
  package var state: State

  /// The processes that this process may read.
  package struct Found: Hashable, Sendable {
    /// In order of their IDs.
    package var processes: [RecordingProcess]
    /// The number of programs with unreadable mappings: other users' programs, and programs that protect their memory.
    package var hidden: Int
    /// The system does not list other users' processes at all.
    package var isListPartial: Bool
    /// This process belongs to root, which may usually read all other processes.
    package var isPrivileged: Bool
  }

  /// Finds all processes that are being recorded. Needs no privileges; unreadable programs are counted.
  ///
  /// - Complexity: Linear in the number of the system's processes and their mappings.
  package static func all() -> Found {
    var found = Found(processes: [], hidden: 0, isListPartial: false, isPrivileged: geteuid() == 0)
    let processIDs = ProcessMappings.processIDs().sorted()
    // The first process of a PID namespace exists as long as any other. If /proc is mounted with hidepid=2, it is not
    // listed.
    found.isListPartial = !processIDs.contains(1)
    for processID in processIDs {
      guard ProcessMappings.areReadable(of: processID) else {
        if ProcessMappings.isProgram(processID) { found.hidden += 1 }
        continue
      }
      let files = ProcessMappings.mappedFiles(of: processID).filter { $0.path.hasSuffix(String(LT_LIVE_SUFFIX)) }
      found.processes += files.sorted { $0.path < $1.path }.compactMap { RecordingProcess(processID, $0) }
    }
    return found
  }
}

extension RecordingProcess {
  /// Nil if the file is not a live file, or cannot be read.
  fileprivate init?(_ processID: Int32, _ file: ProcessMappings.MappedFile) {
    let paths = ProcessMappings.openablePaths(of: file.path, in: processID)
    guard let live = paths.lazy.compactMap({ LiveRecording(path: $0) }).first(where: { $0.identity == file.identity })
    else { return nil }
    let trace = RecordedTrace(path: live.tracePath).flatMap { $0.traceID == live.traceID ? $0 : nil }
    self.init(
      processID: processID, program: ProcessMappings.programPath(of: processID),
      tracePath: String(file.path.dropLast(String(LT_LIVE_SUFFIX).count)),
      startRealtime: trace?.startRealtime, traceSize: trace?.fileSize, eventCount: trace?.eventCount,
      state: live.isPaused ? .paused : .recording)
  }
}
