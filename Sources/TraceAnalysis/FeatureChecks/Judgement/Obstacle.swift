// Reasons why a feature does not work, and changes that enable it.

import ProcessAttachment
import ProcessInspection
import TraceRecording

/// A reason why this process may not trace another.
package enum TracingObstacle: Hashable, Sendable {
  /// A filter on this process, or on its container, forbids the system call.
  case ownFilter
  /// Yama forbids it. The payload is the value of `kernel.yama.ptrace_scope`.
  case ptraceScope(Int)
  /// The process belongs to another user.
  case otherUser(UInt32)
  /// The process, or the file of its program, denies access to other processes.
  case undumpable
  case moreCapabilities
  case otherUserNamespace
  /// A security module forbids it. The values are its labels for this process and for the other.
  case securityModule(own: String, other: String)
  /// This process is root, but lacks the capability, as in a container.
  case rootWithoutCapability
  /// The system hides the process (`hidepid`).
  case hidden
  case unknown(errno: Int32)
}

/// A reason why a feature does not work.
package enum Obstacle: Hashable, Sendable {
  case otherProcessor(String)
  /// The minor version of glibc is too old, such as 27 for glibc 2.27; nil with another C library.
  case cLibrary(Int?)
  case recorderMissing(searched: [String])
  case recorderUnusable(path: String, reason: String)
  case directory(path: String, errno: Int32)
  case directoryForbidsCode(path: String)
  case mirrorMissing(searched: [String])
  case mirrorUnusable(path: String, reason: String)
  case tracing(TracingObstacle)
  /// The process limits its system calls, and this process may not suspend the filter.
  case filtered
  /// The process limits its system calls, and this process may not read the filter.
  case unreadableFilter
  /// An attempt with one of leaktrace's small programs failed.
  case trial(TrialFailure)
  /// The attempt made a trace without a heap image.
  case noImage
  case unsuitable(InspectionError.Unsuitability)
  case notJoinable(AttachmentError.Unsuitability)
  case notStartable(RecordingError)
  case allocatorInside
  /// The program was built with a sanitizer, which has its own allocator.
  case sanitizer(String)
  case noSwift
  case recordsAlready(tracePath: String)
  case coresOff
  /// A core of the process would lack its anonymous memory. The value is the kernel's bits.
  case coreFilter(UInt64)
  case coreOfUndumpable
  case noDebugInformation(path: String, buildID: [UInt8])
  case fileMissing(path: String, buildID: [UInt8])
  case otherBuild(path: String, buildID: [UInt8])
  case fileUnreadable(path: String, errno: Int32?)
}

/// A condition for a feature. The feature works if all its conditions are met.
package enum FeatureCondition: Hashable, Sendable {
  /// The feature works when the program is started again.
  case atNextStart
  /// The feature works if the program can be recorded. This user has no access to find out whether that is so.
  case ifProgramSuits
  /// The feature works when the process is being recorded.
  case onceRecorded
  /// The feature works when the current recording has ended.
  case onceDetached(tracePath: String)
  /// The feature works if the process's filter allows the recorder's system calls.
  case ifFilterAllows
  /// The feature works only for programs with debug information.
  case withDebugInformation
  /// The feature works, but leaves out the blocks of this allocator, which cannot be read.
  case withoutBlocks(allocator: String)
  /// The feature works without heap images: the recorder needs `/proc` for them, and the process does not see it.
  case withoutImages
  /// The feature works as long as the disk has room. Few bytes are free.
  case littleRoom(bytes: UInt64)
  /// The feature works once a core file exists. The kernel writes none. `byGcore`: gcore can write one.
  case onceWritten(byGcore: Bool)
  /// The feature works if memory suffices: the pages that a heap image copies may exceed the control group's limit.
  case littleMemory(used: UInt64, limit: UInt64)
}

/// The one change that enables a feature.
package enum Remedy: Hashable, Sendable {
  case setLibraryPath
  case chooseDirectory
  case runAsRoot
  case runAsUser(UInt32)
  case addTracing
  case addAdministration
  case allowCalls
  case liftSecurityModule
  case hold
  case restartSystem
  case recordInstead
  case otherMachine
  case installSwift
  case attach
  case snapshot
  case resume
  case linkDynamically
  case linkSharedAllocator
  case buildWithoutSanitizer
  case copyWithoutBit
  case copyWithoutCapabilities
  case allowCores
  case setCoreFilter
  case useGcore
  case giveDebugFiles(buildID: [UInt8])
  case allowCode(path: String)
  case makeWritable(path: String)
  case inspectOutside
  case endTracer(Int32)
}

/// Whether a feature works.
package enum FeatureStanding: Hashable, Sendable {
  case works
  /// The feature works under these conditions, the most important first.
  case conditional([FeatureCondition])
  case fails(Obstacle)
}

/// The verdict on one feature.
package struct FeatureVerdict: Hashable, Sendable {
  package var feature: Feature
  package var standing: FeatureStanding
  /// The change that enables the feature; nil if the feature works, or if no change is known.
  package var remedy: Remedy?

  package init(_ feature: Feature, _ standing: FeatureStanding, _ remedy: Remedy? = nil) {
    (self.feature, self.standing, self.remedy) = (feature, standing, remedy)
  }

  package var works: Bool { if case .fails = standing { false } else { true } }
}
