// Finding the library that is preloaded into the traced program.

import Glibc
import TextWriting
import TraceReading

/// A shared object for LD_PRELOAD.
package struct PreloadLibrary: Hashable, Sendable {
  /// The absolute path of the library.
  package let path: String

  package static let fileName = "libleaktrace.so"

  /// Returns the possible paths of the library, in the order of the search.
  ///
  /// - Parameter override: If not nil, the only candidate.
  /// - Parameter executablePath: The resolved path of the running program.
  package static func candidates(override: String?, executablePath: String) -> [String] {
    if let override { return [override] }
    let directory = executablePath.lastIndex(of: "/").map { String(executablePath[..<$0]) } ?? "."
    return ["\(directory)/\(fileName)", "\(directory)/../lib/\(fileName)", "\(directory)/../lib/leaktrace/\(fileName)"]
  }

  /// Returns the first existing candidate, after checking that it can be preloaded.
  ///
  /// - Throws: `RecordingError.libraryNotFound`, `.libraryUnusable`.
  package static func find(in candidates: [String]) throws(RecordingError) -> PreloadLibrary {
    for candidate in candidates {
      guard let resolved = realpath(candidate, nil) else { continue }
      defer { free(resolved) }
      return try PreloadLibrary(checking: String(cString: resolved))
    }
    throw .libraryNotFound(searched: candidates)
  }

  /// - Parameter path: The absolute path of the library.
  init(checking path: String) throws(RecordingError) {
    // The loader splits LD_PRELOAD at spaces and colons, and has no way to escape them.
    if path.contains(where: { $0 == ":" || $0 == " " }) {
      throw .libraryUnusable(
        path: path, reason: "its path contains a space or a colon, where the loader would split it")
    }
    let kind: ExecutableKind?
    do { kind = try ExecutableKind.read(path: path) } catch {
      throw .libraryUnusable(path: path, reason: "it is damaged")
    }
    guard let kind else { throw .libraryUnusable(path: path, reason: systemErrorText(errno)) }
    guard case .elf(let outline) = kind, outline.fileType == 3 else {
      throw .libraryUnusable(path: path, reason: "it is not a shared library")
    }
    guard outline.machine == ExecutableOutline.ownMachine else {
      throw .libraryUnusable(path: path, reason: "it is built for another processor")
    }
    self.path = path
  }
}
