// The processes of a session that are still being recorded.

import Glibc
import TraceReading

/// A process that is being recorded, with its trace. The process may end a moment later.
package struct RunningRecording: Hashable, Sendable {
  package var trace: RecordedTrace
  package var live: LiveRecording
  /// The program; nil if neither the trace nor the system shows it.
  package var program: TracedProgram?

  package var processID: Int32 { Int32(bitPattern: trace.processID) }

  /// True if the process still records to this trace.
  package var isRunning: Bool { live.isMapped(by: processID) }

  /// True if a copy of the process is writing a heap image.
  /// - Complexity: Linear in the number of the system's processes and their mappings.
  package var isWritingImage: Bool { live.recordingProcesses().contains { $0 != processID } }
}

extension RecordingSession {
  /// Returns the processes that are still being recorded, the oldest recording first. Processes in another PID
  /// namespace are missing.
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
