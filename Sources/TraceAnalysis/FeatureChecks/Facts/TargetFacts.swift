// Facts about the process that a check is for.

import ProcessAttachment
import ProcessInspection
import TraceRecording
import TraceSymbolication

/// Facts about a running process. Everything in it can be set, so that tests can describe processes of other machines.
package struct TargetFacts: Hashable, Sendable {
  package enum Namespace: Hashable, Sendable { case same, other, unknown }

  /// The allocator that serves the program's calls of malloc.
  package enum Allocator: Hashable, Sendable {
    case glibc
    /// A shared library, by its file's name.
    case library(String)
    /// Defined in the program's own file.
    case inside
    case unknown
  }

  /// The Swift runtime, by the functions and variables that it exports.
  package enum SwiftVersion: String, Hashable, Sendable {
    case before6 = "before 6.0"
    case v6_0 = "6.0"
    case v6_1 = "6.1"
    case v6_2OrLater = "6.2 or later"
    /// Inside the program, or in a file that cannot be read.
    case unknown
  }

  package enum Recording: Hashable, Sendable {
    case none
    /// The trace, as this process can open it. `isAttached`: the recording began while the process was running.
    case runs(tracePath: String, isAttached: Bool)
    /// The recorder is loaded, and records nothing.
    case loaded
  }

  package var processID: Int32
  /// The system shows nothing of it (`hidepid`).
  package var isHidden = false
  /// The path of its program; nil if the system does not show it.
  package var program: String?
  /// Real, effective and saved.
  package var userIDs: [UInt32] = []
  package var groupIDs: [UInt32] = []
  /// Permitted.
  package var capabilities: Capabilities = []
  /// Other processes of its user may look at it (`PR_SET_DUMPABLE`).
  package var isDumpable = true
  package var userNamespace = Namespace.unknown
  /// The number that it has in its own PID namespace; nil if that is this process's.
  package var ownNumber: Int32?
  /// It sees the same files by the same paths; nil if that is not known.
  package var sharesFiles: Bool?
  /// `/proc` is mounted where it sees files; nil if that is not known.
  package var seesProcesses: Bool?
  package var filter = CallFilter.none
  package var securityLabel: String?
  /// A reason why there is nothing to look at.
  package var unsuitability: InspectionError.Unsuitability?
  /// A reason why the recorder cannot join it, as far as it is seen without stopping it.
  package var joinObstacle: AttachmentError.Unsuitability?
  /// A reason why the recorder cannot be preloaded into its program at the next start.
  package var startObstacle: RecordingError?
  package var allocator = Allocator.unknown
  /// The file of a sanitizer's runtime, or the program's own with one inside.
  package var sanitizer: String?
  package var hasSwift = false
  package var swiftVersion = SwiftVersion.unknown
  /// The 36 of glibc 2.36; nil if it is not known.
  package var cLibrary: Int?
  package var recording = Recording.none
  /// It was started with other rights than its user's (`AT_SECURE`); nil if that is not known.
  package var wasStartedWithMoreRights: Bool?
  /// Where `attach` puts its trace by default, as this process opens it.
  package var traceDirectory: DirectoryFacts?
  /// Where the recorder's copy and messages go, as this process opens it.
  package var temporaryDirectory: DirectoryFacts?
  /// Its loader opens a copy of the recorder in the temporary directory.
  package var loadsCopy: Bool { sharesFiles == false || userIDs.count > 1 && userIDs[1] != checkingUser }
  /// The user who runs the check.
  package var checkingUser: UInt32 = 0
  /// Problems with the files of its program and of libraries that are not the system's.
  package var fileProblems: [ImageProblem] = []
  /// The number of files that were looked at for `fileProblems`.
  package var checkedFiles = 0
  /// Bytes of a core file at most; nil for no limit.
  package var coreSizeLimit: UInt64?
  /// Kinds of memory that the kernel writes to a core file (core(5)); nil if that is not known.
  package var coreFilter: UInt64?
  package var memory: ProcessMemoryUse?

  package init(processID: Int32) { self.processID = processID }
}
