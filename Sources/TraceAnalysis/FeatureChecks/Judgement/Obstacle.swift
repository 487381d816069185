// Reasons why a feature does not work, and changes that enable it.

import ProcessAttachment
import ProcessInspection
import TraceRecording

/// A reason why this process may not trace another.
package enum TracingObstacle: Hashable, Sendable {
  /// A filter on this process, or on its container, forbids the call.
  case ownFilter
  /// Yama; the value of `kernel.yama.ptrace_scope`.
  case ptraceScope(Int)
  /// The process belongs to another user.
  case otherUser(UInt32)
  /// The process, or the program's file, keeps others from looking at it.
  case undumpable
  case moreCapabilities
  case otherUserNamespace
  /// The labels that a security module has for this process and the other.
  case securityModule(own: String, other: String)
  /// Root without the capability, as in a container.
  case rootWithoutCapability
  /// The system shows nothing of the process (`hidepid`).
  case hidden
  case unknown(errno: Int32)
}

/// A reason why a feature does not work.
package enum Obstacle: Hashable, Sendable {
  case otherProcessor(String)
  /// The 27 of glibc 2.27; nil with another C library.
  case cLibrary(Int?)
  case recorderMissing(searched: [String])
  case recorderUnusable(path: String, reason: String)
  case directory(path: String, errno: Int32)
  case directoryForbidsCode(path: String)
  case mirrorMissing(searched: [String])
  case mirrorUnusable(path: String, reason: String)
  case tracing(TracingObstacle)
  /// The process limits its system calls, and this process may not suspend its filter.
  case filtered
  /// The process limits its system calls, and this process may not read its filter.
  case unreadableFilter
  /// An attempt with a small program of leaktrace's own failed.
  case trial(TrialFailure)
  /// The attempt left a trace without a heap image.
  case noImage
  case unsuitable(InspectionError.Unsuitability)
  case notJoinable(AttachmentError.Unsuitability)
  case notStartable(RecordingError)
  case allocatorInside
  /// The program was built with a sanitizer, which has an allocator of its own.
  case sanitizer(String)
  case noSwift
  case recordsAlready(tracePath: String)
  case coresOff
  /// The process's core would lack its own memory; the kernel's bits.
  case coreFilter(UInt64)
  case coreOfUndumpable
  case noDebugInformation(path: String, buildID: [UInt8])
  case fileMissing(path: String, buildID: [UInt8])
  case otherBuild(path: String, buildID: [UInt8])
  case fileUnreadable(path: String, errno: Int32?)
}

/// A condition. A feature that has one works if it is met.
package enum FeatureCondition: Hashable, Sendable {
  /// At the next start of its program.
  case atNextStart
  /// If its program can be recorded, which this user cannot see.
  case ifProgramSuits
  /// Once the process is recorded.
  case onceRecorded
  /// Once the recording has ended that runs already.
  case onceDetached(tracePath: String)
  /// If its filter allows the recorder's calls.
  case ifFilterAllows
  /// Of this program's kind only: programs with debug information.
  case withDebugInformation
  /// Without the blocks of an allocator that is not read.
  case withoutBlocks(allocator: String)
  /// Without heap images: the recorder reads `/proc`, which the process does not see.
  case withoutImages
  /// Free bytes are few.
  case littleRoom(bytes: UInt64)
  /// Of core files of other programs: this system writes none by itself.
  case onceWritten(byGcore: Bool)
  /// The image's pages may exceed the control group's limit.
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
  /// It works on these conditions, the most important first.
  case conditional([FeatureCondition])
  case fails(Obstacle)
}

/// The answer for one feature.
package struct FeatureVerdict: Hashable, Sendable {
  package var feature: Feature
  package var standing: FeatureStanding
  /// Nil if it works, or if no change is known.
  package var remedy: Remedy?

  package init(_ feature: Feature, _ standing: FeatureStanding, _ remedy: Remedy? = nil) {
    (self.feature, self.standing, self.remedy) = (feature, standing, remedy)
  }

  package var works: Bool { if case .fails = standing { false } else { true } }
}
