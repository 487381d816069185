// The reasons why a recording cannot begin.

import TextWriting
import TraceReading

/// Reasons for refusing to start a program under the recorder. Nothing was started and no trace was written.
package enum RecordingError: Error, Hashable, Sendable {
  /// The search path has no file with this name.
  case commandNotFound(String)
  /// The file exists, but the system cannot run it.
  case commandNotExecutable(path: String, reason: String)
  /// The file can run, but cannot be traced.
  case untraceable(path: String, UntraceableReason)
  /// The ELF file has inconsistent headers at this byte offset.
  case damagedExecutable(path: String, offset: FileOffset)
  case outputPatternInvalid(pattern: String, reason: String)
  /// There is already a file at the trace's path, and it is not a trace.
  case outputIsNotATrace(path: String)
  /// Another process is still recording to this trace.
  case outputInUse(path: String)
  case outputDirectoryUnusable(path: String, errno: Int32)
  case libraryNotFound(searched: [String])
  case libraryUnusable(path: String, reason: String)
  /// A share of the control group's limit was requested, but the group has no limit.
  case noMemoryLimit
}

/// The reasons why a program can run, but cannot be traced by a preloaded library.
package enum UntraceableReason: Hashable, Sendable {
  /// The program has no dynamic loader, so nothing can be preloaded.
  case staticallyLinked
  /// The program is built for another kind of processor, with this ELF machine number.
  case otherMachine(UInt16)
  /// The program is a 32-bit program.
  case notSixtyFourBit
  /// The program uses the loader of another C library, at this path.
  case otherLoader(String)
  /// The program needs this library of a sanitizer. The library ends the program if another library is loaded first.
  case sharedSanitizer(String)
  /// The program runs as another user or group, or with capabilities. The loader then ignores preloaded libraries.
  case privileged(Privilege)

  package enum Privilege: Hashable, Sendable {
    case setUserID, setGroupID, fileCapabilities
  }
}

extension RecordingError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .commandNotFound(let command):
      return "\(command): command not found"
    case .commandNotExecutable(let path, let reason):
      return "\(path): \(reason)"
    case .untraceable(let path, let reason):
      return "\(path) cannot be traced: \(reason)"
    case .damagedExecutable(let path, let offset):
      return "\(path): not a sound ELF file (at byte \(offset.rawValue))"
    case .outputPatternInvalid(let pattern, let reason):
      return "output '\(pattern)': \(reason)"
    case .outputIsNotATrace(let path):
      return "\(path) exists and is not a trace. Choose another path with --output"
    case .outputInUse(let path):
      return "\(path) is being written by a running process. Choose another path with --output, for example one with %p"
    case .outputDirectoryUnusable(let path, let errno):
      return "cannot write traces to \(path): \(systemErrorText(errno))"
    case .libraryNotFound(let searched):
      return "libleaktrace.so was not found. Looked for: " + searched.joined(separator: ", ")
        + ". Set LEAKTRACE_LIBRARY to its path"
    case .libraryUnusable(let path, let reason):
      return "\(path) cannot be preloaded: \(reason)"
    case .noMemoryLimit:
      return
        "the control group has no memory limit, so a share of it means nothing. Give --snapshot-above a size, such as 2GiB"
    }
  }
}

extension UntraceableReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .sharedSanitizer(let library):
      return
        "it needs \(library), which ends a program into which another library is preloaded. Record a build without that sanitizer"
    case .staticallyLinked:
      return "it is linked statically, so no library can be preloaded into it. Link it dynamically; "
        + "-static-stdlib is fine, -static-executable is not"
    case .otherMachine(let machine):
      return "it is built for another processor (ELF machine \(machine))"
    case .notSixtyFourBit:
      return "it is a 32-bit program; only 64-bit programs are supported"
    case .otherLoader(let loader):
      return "it uses the loader \(loader), and the recorder is built for glibc's"
    case .privileged(.setUserID):
      return "it is set-user-ID, and the loader ignores preloaded libraries in such programs. "
        + "Trace a copy without that bit, or run as the file's owner"
    case .privileged(.setGroupID):
      return "it is set-group-ID, and the loader ignores preloaded libraries in such programs. "
        + "Trace a copy without that bit"
    case .privileged(.fileCapabilities):
      return "it has file capabilities, and the loader ignores preloaded libraries in such programs. "
        + "Trace a copy without them (setcap -r)"
    }
  }
}
