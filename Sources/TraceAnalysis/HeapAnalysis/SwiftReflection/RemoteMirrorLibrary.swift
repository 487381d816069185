// Finds the Swift runtime's remote mirror library.

import CRemoteMirror
import Glibc
import TextWriting
import TraceReading

/// The reason why no type can be reflected.
package enum SwiftReflectionError: Error, Hashable, Sendable {
  /// The library was not found at any of the paths.
  case libraryMissing(searched: [String])
  /// The library cannot be loaded. `reason` is the loader's message.
  case libraryUnusable(path: String, reason: String)
  /// No file of a loaded image with Swift reflection sections was found.
  case noReflectionSections
  /// The child process cannot be started.
  case system(errno: Int32)
}

/// The search for `libswiftRemoteMirror.so`.
package enum RemoteMirrorLibrary {
  private static let name = "libswiftRemoteMirror.so"

  /// Returns possible paths of the library, in order of preference: in a release of leaktrace, next to this program's
  /// Swift runtime, next to the traced program's Swift runtime, and in the toolchains on `path`.
  ///
  /// - Parameter path: directories to search for `swiftc`, separated by colons, as in the environment's `PATH`.
  package static func candidates(images: [LoadedImage], path: String) -> [String] {
    var directories: [String] = []
    if let program = realpath("/proc/self/exe", nil) {
      directories.append(directory(ofPath: String(cString: program)) + "/../lib/leaktrace")
      free(program)
    }
    if let runtime = lt_mirror_file_defining("swift_retain") {
      directories.append(directory(ofPath: String(cString: runtime)))
      free(runtime)
    }
    directories += images.map(\.path).filter { $0.hasSuffix("/libswiftCore.so") }.map { directory(ofPath: $0) }
    for entry in path.split(separator: ":") where entry.hasPrefix("/") {
      guard let compiler = realpath(entry + "/swiftc", nil) else { continue }
      defer { free(compiler) }
      directories.append(directory(ofPath: directory(ofPath: String(cString: compiler))) + "/lib/swift/linux")
    }
    var seen: Set<String> = []
    return directories.map { $0 + "/" + name }.filter { seen.insert($0).inserted }
  }

  /// Loads the first candidate that exists and can be loaded. The caller must release it with `lt_mirror_release`.
  static func load(_ candidates: [String]) throws(SwiftReflectionError) -> OpaquePointer {
    var failure: SwiftReflectionError?
    for path in candidates where access(path, R_OK) == 0 {
      var reason: UnsafeMutablePointer<CChar>?
      if let library = lt_mirror_load(path, &reason) { return library }
      if failure == nil { failure = .libraryUnusable(path: path, reason: reason.map { String(cString: $0) } ?? "") }
      free(reason)
    }
    throw failure ?? .libraryMissing(searched: candidates)
  }
}
