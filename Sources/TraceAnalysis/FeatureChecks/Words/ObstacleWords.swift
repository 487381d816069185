// Reasons why a feature does not work, in words.

import Glibc
import ProcessAttachment
import ProcessInspection
import TextWriting
import TraceReading
import TraceRecording

/// The words for obstacles and conditions. Each is a clause without a full stop.
struct ObstacleWords {
  private let facts: CheckedFacts

  init(_ facts: CheckedFacts) { self.facts = facts }

  /// The words for the checked process or, without one, for the programs of this machine.
  private var process: String { facts.target.map { "process \($0.processID)" } ?? "a program here" }

  func text(_ obstacle: Obstacle) -> String {
    switch obstacle {
    case .otherProcessor(let name): "this machine's processor is neither x86-64 nor arm64 (\(name))"
    case .cLibrary(nil): "the C library here is not glibc"
    case .cLibrary(let minor?): "glibc 2.\(minor) is older than 2.31, the first that the recorder supports"
    case .recorderMissing(let searched): "libleaktrace.so is not in \(Self.list(searched))"
    case .recorderUnusable(let path, let reason): "\(escaped(path)) cannot be preloaded: \(reason)"
    case .directory(let path, let code): "no file can be written to \(place(path)): \(systemErrorText(code))"
    case .directoryForbidsCode(let path):
      "\(place(path)) is mounted with noexec, so that the process cannot load the recorder from there"
    case .mirrorMissing(let searched):
      "libswiftRemoteMirror.so is not in \(searched.isEmpty ? "any Swift toolchain" : Self.list(searched))"
    case .mirrorUnusable(_, let reason): "libswiftRemoteMirror.so cannot be loaded: \(escaped(reason))"
    case .tracing(let reason): text(reason)
    case .filtered:
      "\(process) limits its system calls (seccomp), and only root with CAP_SYS_ADMIN and without such a filter may copy it"
    case .unreadableFilter where facts.target?.filter == .strict:
      "process \(facts.target?.processID ?? 0) is in the strict mode of seccomp, which forbids nearly all calls"
    case .unreadableFilter:
      "\(process) limits its system calls (seccomp), and only root with CAP_SYS_ADMIN and without such a filter may read which"
    case .trial(let failure): text(failure)
    case .noImage: "the trace of a small program has no heap image"
    case .unsuitable(let reason): text(reason)
    case .notJoinable(let reason): text(reason)
    case .notStartable(let error): text(error)
    case .allocatorInside: "\(process) has an allocator inside its program, whose calls the recorder does not see"
    case .sanitizer(let name): "\(process) has a sanitizer (\(escaped(name))), whose allocator is inside the program"
    case .noSwift: "\(process) has no Swift runtime, and leaktrace looks only for Swift objects"
    case .recordsAlready(let path): "\(process) was started with the recorder, and records to \(escaped(path))"
    case .coresOff: "\(process) may write no core file (its limit is 0), and gcore is not here or may not trace it"
    case .coreFilter(let bits):
      "a core of \(process) would lack its own memory (coredump_filter is 0x\(String(bits, radix: 16)))"
    case .coreOfUndumpable: "\(process) lets only root write a core of it (PR_SET_DUMPABLE)"
    case .noDebugInformation(let path, let buildID):
      "\(escaped(path)) has no debug information, and no debug file of its build ID was found\(id(buildID))"
    case .fileMissing(let path, let buildID): "the file \(escaped(path)) no longer exists\(id(buildID))"
    case .otherBuild(let path, let buildID): "\(escaped(path)) is not the build that runs\(id(buildID))"
    case .fileUnreadable(let path, let code):
      "\(escaped(path)) cannot be read: \(code.map { systemErrorText($0) } ?? "it is no sound ELF file")"
    }
  }

  func text(_ obstacle: TracingObstacle) -> String {
    switch obstacle {
    case .ownFilter: "this process, or its container, may not call ptrace (seccomp)"
    case .ptraceScope(let scope) where scope >= 3:
      "kernel.yama.ptrace_scope is \(scope): no process may trace another until the system starts again"
    case .ptraceScope(2): "kernel.yama.ptrace_scope is 2: only CAP_SYS_PTRACE may trace"
    case .ptraceScope(let scope):
      "kernel.yama.ptrace_scope is \(scope): a user may not trace other processes of the same user"
    case .otherUser(let user): "\(process) belongs to user \(user), and this is user \(facts.machine.userID)"
    case .undumpable: "\(process) lets only root look at it (PR_SET_DUMPABLE, or a file that its user may not read)"
    case .moreCapabilities: "\(process) has capabilities that this process lacks"
    case .otherUserNamespace: "\(process) is in another user namespace, and this process has no rights there"
    case .securityModule(let own, let other):
      "a security module forbids it: this process is \(escaped(own)), and the other \(escaped(other))"
    case .rootWithoutCapability: "root lacks the capability CAP_SYS_PTRACE here, as in most containers"
    case .hidden: "\(process) belongs to another user, and /proc hides it (hidepid)"
    case .unknown(let code): "the system refuses, and does not say why (\(systemErrorText(code)))"
    }
  }

  private func text(_ failure: TrialFailure) -> String {
    switch failure {
    case .recording(let error): text(error)
    case .inspection(let error): "an attempt with a program of leaktrace's own failed: \(error)"
    case .attachment(let error): "an attempt with a program of leaktrace's own failed: \(error)"
    case .system(let code): "an attempt with a small program failed: \(systemErrorText(code))"
    case .message(let text): "an attempt with a small program failed: \(escaped(text))"
    case .late(let seconds): "an attempt with a small program did not end within \(seconds) seconds"
    case .notLoaded(let path): "the loader did not load \(escaped(path)) into a small program"
    case .libraryMissing(let searched): "a library is not in \(Self.list(searched))"
    case .noProgram: "no small program is here to try the recorder with"
    }
  }

  private func text(_ reason: InspectionError.Unsuitability) -> String {
    switch reason {
    case .ended: "\(process) has ended, and its parent has not waited for it yet"
    case .firstThreadEnded:
      "the first thread of \(process) has ended, and the kernel shows its memory by that one alone"
    case .kernelThread: "\(process) is a kernel thread"
    case .otherMachine: "\(process) is not \(Self.ownProgram)"
    case .traced(let tracer): "\(process) is traced by process \(tracer) already, and can have one tracer only"
    }
  }

  private func text(_ reason: AttachmentError.Unsuitability) -> String {
    switch reason {
    case .static: "\(process) is linked statically, and has no loader that could load the recorder"
    case .unloaded: "\(process) has not loaded the C library yet"
    case .otherLibrary: "\(process) uses another C library than glibc, such as musl"
    case .missingFunctions: "the functions of the loader were not found in \(process): glibc 2.31 to 2.43 are known"
    case .go: "\(process) is a Go program, whose memory is not malloc's. Go's own pprof shows it"
    case .java:
      "\(process) is a Java program, whose objects are not malloc's. 'jcmd \(facts.target?.processID ?? 0) GC.heap_dump' shows them"
    case .stopped: "\(process) is stopped by a signal"
    case .noAllocator: "\(process) has an allocator inside that other libraries cannot call"
    case .shadowStack: "\(process) has shadow stacks, and those forbid calls from outside"
    case .processor: "\(process) makes instructions fail that the recorder uses"
    case .filtered: "\(process) limits its system calls (seccomp) by a filter that cannot be judged"
    case .forbidden(let call): "a filter (seccomp) of \(process) does not allow '\(call)', a call of the recorder's"
    }
  }

  private func text(_ error: RecordingError) -> String {
    guard case .untraceable(_, let reason) = error else { return "\(error)" }
    switch reason {
    case .staticallyLinked: return "its program is linked statically, and no library can be preloaded into it"
    case .otherLoader(let loader):
      return "its program uses the loader \(escaped(loader)), and the recorder is built for glibc's"
    case .sharedSanitizer(let library):
      return "its program needs \(escaped(library)), which ends a program into which another library is preloaded"
    case .privileged(.setUserID): return "its program is set-user-ID, and the loader ignores preloaded libraries there"
    case .privileged(.setGroupID):
      return "its program is set-group-ID, and the loader ignores preloaded libraries there"
    case .privileged(.fileCapabilities):
      return "its program has file capabilities, and the loader ignores preloaded libraries there"
    case .otherMachine, .notSixtyFourBit: return "its program is not \(Self.ownProgram)"
    }
  }

  /// The programs that this machine's leaktrace supports.
  private static let ownProgram = "a 64-bit \(Processor.own == .arm64 ? "arm64" : "x86") program"

  // MARK: Conditions

  func text(_ condition: FeatureCondition, of feature: Feature) -> String {
    switch condition {
    case .atNextStart:
      "at the next start of its program: leaktrace record\(feature == .light ? " --light" : "") -- PROGRAM"
    case .ifProgramSuits: "if it is linked dynamically against glibc, which this user cannot see"
    case .onceRecorded: "once the process is recorded: leaktrace attach \(facts.target?.processID ?? 0)"
    case .onceDetached(let path):
      "once the recording to \(escaped(path)) has ended: leaktrace detach \(facts.target?.processID ?? 0)"
    case .ifFilterAllows:
      "if the filter (seccomp) of the process allows the recorder's calls; attach looks before it begins"
    case .withDebugInformation:
      "for programs with debug information: built with -g, or with debug files in /usr/lib/debug"
    case .withoutBlocks(let name):
      "without the blocks of the sanitizer's allocator (\(escaped(name))): objects are found by their first words"
    case .withoutImages: "without heap images: /proc is not mounted where the process sees files"
    case .littleRoom(let bytes):
      "as long as \(Decimal.bytes(bytes)) on the disk are enough: a trace takes up to 0.5 bytes an event"
    case .onceWritten(byGcore: true):
      "once there is a core: gcore PID writes one. The kernel writes none, since the limit is 0 (ulimit -c)"
    case .onceWritten(byGcore: false):
      "once there is a core: the kernel writes none, since the limit is 0 (ulimit -c unlimited)"
    case .littleMemory(let used, let limit):
      "as long as memory lasts: the control group has \(Decimal.bytes(used)) of \(Decimal.bytes(limit)) in use, and an image copies the pages that the process writes to"
    }
  }

  // MARK: Parts

  private func escaped(_ text: String) -> String { PlainText.escaped(text) }

  /// Returns words for a directory. For a directory in the checked process's own view of files, the words have its path
  /// in that view.
  private func place(_ path: String) -> String {
    let root = "/proc/\(facts.target?.processID ?? 0)/root"
    return path.hasPrefix(root + "/") ? "\(escaped(String(path.dropFirst(root.count)))) of the process" : escaped(path)
  }

  private func id(_ buildID: [UInt8]) -> String {
    buildID.isEmpty ? "" : " (\(Hexadecimal.digits(buildID)))"
  }

  private static func list(_ paths: [String]) -> String { paths.map { PlainText.escaped($0) }.joined(separator: ", ") }
}
