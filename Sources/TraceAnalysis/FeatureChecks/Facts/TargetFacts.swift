// Facts about the process that is checked.

import ProcessAttachment
import ProcessInspection
import TraceRecording
import TraceSymbolication

/// Facts about a running process. All properties can be set, so that tests can describe processes of other machines.
package struct TargetFacts: Hashable, Sendable {
  package enum Namespace: Hashable, Sendable { case same, other, unknown }

  /// The allocator that serves the program's calls of malloc.
  package enum Allocator: Hashable, Sendable {
    case glibc
    /// A shared library with this file name.
    case library(String)
    /// An allocator in the program's own file.
    case inside
    case unknown
  }

  /// The version of the Swift runtime, derived from the functions and variables that the runtime exports.
  package enum SwiftVersion: String, Hashable, Sendable {
    case before6 = "before 6.0"
    case v6_0 = "6.0"
    case v6_1 = "6.1"
    case v6_2OrLater = "6.2 or later"
    /// The runtime is inside the program, or in a file that cannot be read.
    case unknown
  }

  package enum Recording: Hashable, Sendable {
    case none
    /// The process is recorded to this trace. The path is valid in this process. `isAttached`: the recording began
    /// while the process was running.
    case runs(tracePath: String, isAttached: Bool)
    /// The recorder is loaded, but does not record.
    case loaded
  }

  package var processID: Int32
  /// True if the system hides the process (`hidepid`).
  package var isHidden = false
  /// The path of the process's program; nil if the system does not show it.
  package var program: String?
  /// The real, effective and saved user IDs.
  var userIDs: [UInt32] = []
  var groupIDs: [UInt32] = []
  /// The permitted capabilities.
  package var capabilities: Capabilities = []
  /// True if other processes of the same user may access this process (`PR_SET_DUMPABLE`).
  var isDumpable = true
  var userNamespace = Namespace.unknown
  /// The process ID in the process's own PID namespace; nil if this process is in the same namespace.
  package var ownNumber: Int32?
  /// True if the process finds the same files at the same paths; nil if unknown.
  package var sharesFiles: Bool?
  /// True if `/proc` is mounted in the process's view of files; nil if unknown.
  var seesProcesses: Bool?
  package var filter = CallFilter.none
  var securityLabel: String?
  /// The reason why the process cannot be inspected; nil if nothing prevents it.
  var unsuitability: InspectionError.Unsuitability?
  /// The reason why the recorder cannot join the process, if that is visible without stopping the process.
  var joinObstacle: AttachmentError.Unsuitability?
  /// The reason why the recorder cannot be preloaded when the program starts again.
  var startObstacle: RecordingError?
  package var allocator = Allocator.unknown
  /// The file name of a sanitizer's runtime, or of the program if it contains one.
  package var sanitizer: String?
  package var hasSwift = false
  var swiftVersion = SwiftVersion.unknown
  /// The minor version of glibc, such as 36 for glibc 2.36; nil if unknown.
  package var cLibrary: Int?
  package var recording = Recording.none
  /// True if the process was started with more rights than its user has (`AT_SECURE`); nil if unknown.
  var wasStartedWithMoreRights: Bool?
  /// The default directory of `attach` for the trace, with its path as this process sees it.
  package var traceDirectory: DirectoryFacts?
  /// The directory for the copy of the recorder and its messages, with its path as this process sees it.
  var temporaryDirectory: DirectoryFacts?
  /// True if the process's loader opens a copy of the recorder in the temporary directory.
  var loadsCopy: Bool { sharesFiles == false || userIDs.count > 1 && userIDs[1] != checkingUser }
  /// The user ID that the check runs with.
  var checkingUser: UInt32 = 0
  /// Problems with the files of the program, and of libraries that do not belong to the system.
  var fileProblems: [ImageProblem] = []
  /// The number of files that were checked for `fileProblems`.
  var checkedFiles = 0
  /// Maximum size of a core file in bytes; nil for no limit.
  var coreSizeLimit: UInt64?
  /// The kinds of memory that the kernel writes to a core file, as bits (core(5)); nil if unknown.
  var coreFilter: UInt64?
  package var memory: ProcessMemoryUse?

  package init(processID: Int32) { self.processID = processID }
}
