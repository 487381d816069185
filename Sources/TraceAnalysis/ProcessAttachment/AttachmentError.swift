// Reasons why a recording cannot begin or end in a running process.

import CProcessCalls
import Glibc
import ProcessInspection
import TextWriting
import TraceReading

/// A reason why an attempt failed. The process continues. The description includes advice.
package enum AttachmentError: Error, Hashable, Sendable {
  /// The process cannot be read or traced, for the same reasons as in an inspection.
  case inspection(InspectionError)
  case unsuitable(Int32, Unsuitability)
  /// No thread could make the call in the given time.
  case noMoment(Int32, Obstacles, seconds: Int)
  /// The loader refused the library, with this message.
  case notLoaded(Int32, reason: String)
  /// The process has a library with the recorder's name, but without its functions.
  case otherVersion(Int32)
  /// The process was started with the recorder.
  case preloaded(Int32)
  case recordsAlready(Int32, tracePath: String?)
  case recordsNothing(Int32)
  /// The recorder refused to start, for this reason.
  case refused(Int32, reason: String)
  /// Another call is in progress, or a thread has not left the last recording.
  case busy(Int32)
  /// The call has begun, but its end was not observed.
  case unfinished(Int32, Unfinished)
  /// No directory for the recorder's messages could be created where the process can see it.
  case noDirectory(Int32, path: String, errno: Int32)
  /// The path is relative, which means nothing in the process's own view of files.
  case relativePath(Int32, path: String)

  package enum Unsuitability: Hashable, Sendable {
    case `static`, unloaded, otherLibrary, missingFunctions, go, java, stopped, noAllocator, shadowStack, processor
    /// The process has a system-call filter whose effect is unknown.
    case filtered
    /// The process has a system-call filter that forbids this call.
    case forbidden(call: String)
  }
  package enum Unfinished: Hashable, Sendable { case late, fault, guardian }

  /// The states of threads when the last attempt was abandoned.
  package struct Obstacles: Hashable, Sendable {
    var inLoader = 0, inFork = 0, atExit = 0, notStopped = 0
    var inAllocator = 0, inHandler = 0, inLibrary = 0, withoutRoom = 0, unknown = 0

    init(_ counts: lt_call_obstacles) {
      inLoader = Int(counts.inLoader)
      inFork = Int(counts.inFork)
      atExit = Int(counts.atExit)
      notStopped = Int(counts.notStopped)
      inAllocator = Int(counts.inAllocator)
      inHandler = Int(counts.inHandler)
      inLibrary = Int(counts.inLibrary)
      withoutRoom = Int(counts.withoutRoom)
      unknown = Int(counts.unknown)
    }
  }
}

extension AttachmentError.Obstacles: CustomStringConvertible {
  package var description: String {
    func threads(_ count: Int, _ place: String) -> String? {
      count == 0 ? nil : "\(count) \(count == 1 ? "thread was" : "threads were") \(place)"
    }
    let all = [
      threads(inLoader, "in the loader"), threads(inFork, "in fork"), threads(atExit, "ending the process"),
      threads(notStopped, "asleep where nothing can stop them"), threads(inAllocator, "in the allocator"),
      threads(inHandler, "in a signal handler"), threads(inLibrary, "within the C library"),
      threads(withoutRoom, "on a stack without room"), threads(unknown, "on a stack that cannot be followed"),
    ].compactMap { $0 }
    return all.isEmpty ? "it has no threads" : all.joined(separator: ", ")
  }
}

extension AttachmentError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .inspection(let error): "\(error)"
    case .unsuitable(let process, let reason): "process \(process) \(reason.text(process))"
    case .noMoment(let process, let obstacles, let seconds):
      "process \(process) could not be interrupted within \(seconds) seconds: \(obstacles). It was left as it was; try again, with a longer --wait"
    case .notLoaded(let process, let reason) where reason.contains("static TLS"):
      "process \(process) has no room left for a library with thread-local variables (\(PlainText.escaped(reason))). Start it with GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096, or under 'leaktrace record'"
    case .notLoaded(let process, let reason):
      "process \(process) could not load the recorder: \(reason.isEmpty ? "the loader does not say why" : PlainText.escaped(reason)). Start the program under 'leaktrace record' instead"
    case .otherVersion(let process):
      "process \(process) has the library of another version of leaktrace. Use that version, or restart the process"
    case .preloaded(let process):
      "process \(process) was started with the recorder, and cannot be joined: use 'leaktrace snapshot', 'pause' and 'resume'"
    case .recordsAlready(let process, let path):
      "process \(process) is being recorded already\(path.map { ", to \(PlainText.escaped($0))" } ?? ""). If attach began that, 'leaktrace detach \(process)' ends it"
    case .recordsNothing(let process): "process \(process) is not being recorded"
    case .refused(let process, let reason):
      "process \(process) does not record: \(reason.isEmpty ? "the recorder does not say why" : PlainText.escaped(reason)). Choose another path with -o"
    case .busy(let process):
      "a thread of process \(process) has not left the last recording, or another leaktrace is at work there. Try again in a second"
    case .unfinished(let process, .late):
      "the call in process \(process) takes too long, and goes on without leaktrace. 'leaktrace ps' shows whether it records"
    case .unfinished(let process, .fault):
      "the call in process \(process) ended by an error, and the process goes on. Its loader may be locked: restart it when that is possible"
    case .unfinished(let process, .guardian):
      "leaktrace's helper process ended before it was done with process \(process). 'leaktrace ps' shows whether it records"
    case .noDirectory(let process, let path, let errno):
      "no directory can be made in \(path), where process \(process) would see it: \(systemErrorText(errno))"
    case .relativePath(let process, let path):
      "process \(process) has its own view of files, and \(PlainText.escaped(path)) means nothing there: give a path from its root with -o"
    }
  }
}

extension AttachmentError.Unsuitability {
  fileprivate func text(_ process: Int32) -> String {
    switch self {
    case .static:
      "is linked statically: it has no loader that could load the recorder. Link it dynamically; -static-stdlib is fine"
    case .unloaded: "has not loaded the C library yet: it has just begun, or its loader waits. Try again"
    case .otherLibrary: "uses another C library than glibc, and the recorder is built for glibc"
    case .missingFunctions:
      "has a loader whose functions were not found: leaktrace knows those in glibc 2.31 to 2.43"
    case .go: "is a Go program, whose memory is not malloc's: use Go's own pprof"
    case .java: "is a Java program, whose objects are not malloc's: use jcmd \(process) GC.heap_dump"
    case .stopped: "is stopped by a signal: let it go on first (kill -CONT \(process))"
    case .filtered:
      "limits its system calls by a filter (seccomp) that leaktrace cannot judge: only root may look at it (CAP_SYS_ADMIN, and no such filter on leaktrace). Run leaktrace as root, outside of the container, or use 'leaktrace inspect --hold'"
    case .forbidden(let call):
      "limits its system calls by a filter (seccomp), which does not allow '\(call)', a call that the recorder makes. Allow it there, or use 'leaktrace inspect'"
    case .shadowStack:
      "has shadow stacks, and those forbid calls from outside. Start it under 'leaktrace record' instead"
    case .noAllocator: "contains an allocator that other libraries cannot call, so the recorder sees no allocation"
    case .processor:
      "makes instructions fail that the recorder uses (PR_SET_TSC or ARCH_SET_CPUID). Use 'leaktrace inspect'"
    }
  }
}
