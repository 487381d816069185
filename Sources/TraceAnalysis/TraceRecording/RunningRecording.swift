// The processes of a session that record at this moment.

import Glibc
import TraceReading

/// A process that records, with its trace. A value: the process may have ended a moment later.
package struct RunningRecording: Hashable, Sendable {
  package var trace: RecordedTrace
  package var live: LiveRecording
  /// Nil if neither the trace nor the system shows it.
  package var program: TracedProgram?

  package var processID: Int32 { Int32(bitPattern: trace.processID) }

  /// The process still records to this trace.
  package var isRunning: Bool { live.isMapped(by: processID) }

  /// A copy of the process writes a heap image.
  /// - Complexity: Linear in the number of the system's processes and their mappings.
  package var isWritingImage: Bool { live.recordingProcesses().contains { $0 != processID } }
}

extension RecordingSession {
  /// The processes that record, the oldest recording first. Processes of another PID namespace are missing.
  ///
  /// - Complexity: Linear in the number of files in the output directory.
  package func running() -> [RunningRecording] {
    traces().compactMap { trace in
      guard let live = LiveRecording(tracePath: trace.path), live.traceID == trace.traceID else { return nil }
      var running = RunningRecording(trace: trace, live: live)
      guard running.isRunning else { return nil }
      running.program =
        TracedProgram(tracePath: trace.path)
        ?? ProcessMappings.programPath(of: running.processID).map { TracedProgram(path: $0) }
      return running
    }
  }
}
