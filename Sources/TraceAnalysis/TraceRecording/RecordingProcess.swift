// The processes that are being recorded.

import CTraceFormat
import Glibc
import TraceReading

/// A process that is being recorded: it has a trace's live file mapped. The facts may be out of date a moment later.
package struct RecordingProcess: Hashable, Sendable {
  package enum State: Hashable, Sendable { case recording, paused }

  package var processID: Int32
  /// The path of the process's program; nil if the system does not show it.
  package var program: String?
  /// The path of the trace, as the process sees it.
  package var tracePath: String
  /// The start of the recording, in nanoseconds since 1970. This and the next two properties are nil if the trace
  /// cannot be read.
  package var startRealtime: UInt64?
  package var traceSize: ByteCount?
  /// The number of events in the trace and its live file.
  package var eventCount: UInt64?
  package var state: State

  /// The result of a search for recorded processes.
  package struct Found: Hashable, Sendable {
    /// In order of their IDs.
    package var processes: [RecordingProcess]
    /// The number of programs whose mappings cannot be read: other users' programs, and programs that protect their
    /// memory.
    package var hidden: Int
    /// True if the system does not list other users' processes at all.
    var isListPartial: Bool
    /// True if this process belongs to root, which may usually read all other processes.
    var isPrivileged: Bool
  }

  /// Finds all processes that are being recorded. Needs no privileges. Programs that it may not read are only counted.
  ///
  /// - Complexity: Linear in the number of the system's processes and their mappings.
  package static func all() -> Found {
    var found = Found(processes: [], hidden: 0, isListPartial: false, isPrivileged: geteuid() == 0)
    let processIDs = ProcessMappings.processIDs().sorted()
    // The first process of a PID namespace outlives all others. If it is not listed, /proc is mounted with hidepid=2.
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
  /// Describes a process that has a file mapped. Nil if the file is not a live file, or cannot be read.
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
