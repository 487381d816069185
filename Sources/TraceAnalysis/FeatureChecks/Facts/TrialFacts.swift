// The outcomes of attempts.

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
  /// A message of the recorder, the loader or another part.
  case message(String)
  /// The attempt took longer than this number of seconds, and was abandoned.
  case late(seconds: Int)
  /// The loader did not load the recorder from this path.
  case notLoaded(path: String)
  case libraryMissing(searched: [String])
  /// There is no program here to try the recorder with.
  case noProgram
}

/// The result of recording a small program.
package struct RecordedTrial: Hashable, Sendable {
  package var program: String
  package var events: UInt64
  /// True if the trace has a complete heap image.
  var hasImage: Bool

  package init(program: String, events: UInt64, hasImage: Bool) {
    (self.program, self.events, self.hasImage) = (program, events, hasImage)
  }
}

/// The attempts and their outcomes. Without a process to check, the attempts use children of this process. With a
/// process to check, no attempt stops that process.
package struct TrialFacts: Hashable, Sendable {
  package var record: TrialResult<RecordedTrial> = .notTried
  package var light: TrialResult<RecordedTrial> = .notTried
  /// The number of a heap image that a recorded child wrote on request.
  package var snapshot: TrialResult<UInt32> = .notTried
  /// The pause of a child while it was copied, in nanoseconds.
  package var inspect: TrialResult<UInt64> = .notTried
  /// The pause of a child while it was joined, in nanoseconds.
  package var attach: TrialResult<UInt64> = .notTried
  /// Whether the checked process could be traced without stopping it.
  var seize: TrialResult<Bool> = .notTried
  /// The number of bytes that were read from the checked process's memory.
  package var read: TrialResult<Int> = .notTried

  package init() {}
}
