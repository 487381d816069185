// Outcomes of attempts.

import ProcessAttachment
import ProcessInspection
import TraceRecording

/// A reason why an attempt failed.
package enum TrialFailure: Error, Hashable, Sendable {
  case recording(RecordingError)
  case inspection(InspectionError)
  case attachment(AttachmentError)
  /// A system call failed with this errno.
  case system(errno: Int32)
  /// The words of the recorder, the loader or another part.
  case message(String)
  /// The attempt took longer than this number of seconds, and was given up.
  case late(seconds: Int)
  /// The loader did not load the recorder from this path.
  case notLoaded(path: String)
  case libraryMissing(searched: [String])
  /// No program is here that the recorder could be tried with.
  case noProgram
}

/// A small program that was recorded.
package struct RecordedTrial: Hashable, Sendable {
  package var program: String
  package var events: UInt64
  /// The trace has a whole heap image.
  package var hasImage: Bool

  package init(program: String, events: UInt64, hasImage: Bool) {
    (self.program, self.events, self.hasImage) = (program, events, hasImage)
  }
}

/// The attempts and their outcomes. Without a process, the attempts are made with children of this process. For a process, nothing is
/// tried that stops it.
package struct TrialFacts: Hashable, Sendable {
  package var record: TrialResult<RecordedTrial> = .notTried
  package var light: TrialResult<RecordedTrial> = .notTried
  /// The number of a heap image that a recorded child took on request.
  package var snapshot: TrialResult<UInt32> = .notTried
  /// The pause of a child that was copied, in nanoseconds.
  package var inspect: TrialResult<UInt64> = .notTried
  /// The pause of a child that was joined, in nanoseconds.
  package var attach: TrialResult<UInt64> = .notTried
  /// A process was traced without being stopped.
  package var seize: TrialResult<Bool> = .notTried
  /// Bytes of a process's memory that were read.
  package var read: TrialResult<Int> = .notTried

  package init() {}
}
