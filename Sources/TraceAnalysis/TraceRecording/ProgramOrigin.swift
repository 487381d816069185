// The origin of a program: the user, the toolchain or the system.

import Glibc
import TraceReading

/// The origin of a program in a recording of several processes.
package enum ProgramOrigin: Hashable, Sendable {
  case user
  /// The manifest of a Swift package, which the package manager compiles and runs as a program.
  case manifest
  case toolchain
  case system

  package init(_ program: TracedProgram) {
    if Self.isOfToolchain(program.path) {
      self = .toolchain
    } else if program.images.contains(where: { $0.hasSuffix("/libPackageDescription.so") }) {
      self = .manifest
    } else {
      self = Self.isOfSystem(program.path) ? .system : .user
    }
  }

  /// Returns whether a program is in the directory of a Swift compiler, or in a directory that only toolchains use.
  package static func isOfToolchain(_ path: String) -> Bool {
    for path in [path, resolved(path)] {
      guard let slash = path.lastIndex(of: "/") else { continue }
      if access("\(path[..<slash])/swift-frontend", X_OK) == 0 { return true }
      for inner in ["/libexec/swift/", "/lib/swift/"] {
        if let root = prefix(of: path, before: inner), access("\(root)/bin/swift-frontend", X_OK) == 0 { return true }
      }
    }
    return false
  }

  private static func isOfSystem(_ path: String) -> Bool {
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/libexec/", "/lib/", "/lib64/"].contains {
      path.hasPrefix($0)
    }
  }

  /// Returns the path without symbolic links; `path` itself if the file is gone.
  private static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  /// Returns the text before the first occurrence of `part`; nil if there is none.
  private static func prefix(of text: String, before part: String) -> Substring? {
    text.indices.first { text[$0...].hasPrefix(part) }.map { text[..<$0] }
  }
}
