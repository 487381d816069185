// The origin of a run.

import TextWriting
import TraceReading

/// The start time, the process number and the build of a recorded run.
package struct RunOrigin: Codable, Hashable, Sendable {
  /// The build ID of the program's file, in hexadecimal digits; nil if the trace does not have it.
  package var buildID: String?
  /// Nanoseconds since 1970; 0 if the trace does not have it.
  package var startTime: UInt64
  /// The process's number on its machine.
  package var process: UInt32

  package init(buildID: String?, startTime: UInt64, process: UInt32) {
    (self.buildID, self.startTime, self.process) = (buildID, startTime, process)
  }

  /// Reads the origin from one trace.
  package init(_ trace: AllocationAnalysis) {
    let executable = trace.definitions.process.executable
    let image = trace.definitions.images.first { $0.image.path == executable }?.image
    self.init(
      buildID: image.flatMap { $0.buildID.isEmpty ? nil : Hexadecimal.digits($0.buildID) },
      startTime: trace.header.startRealtime, process: trace.header.processID)
  }
}
