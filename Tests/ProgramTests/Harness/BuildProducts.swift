// The programs under test, which are built into the same directory as the tests.

import Glibc

enum BuildProducts {
  /// The directory of the command and the library: the value of LEAKTRACE_TEST_PRODUCTS, or else the directory of the
  /// tests.
  static let directory: String = {
    if let told = getenv("LEAKTRACE_TEST_PRODUCTS") { return String(cString: told) }
    // The test runner may be a program of the toolchain. The test bundle is then one of its arguments; otherwise it is
    // the runner itself.
    let candidates = CommandLine.arguments + [resolve("/proc/self/exe") ?? ""]
    for candidate in candidates where candidate.hasSuffix(".xctest") {
      if let path = resolve(candidate) { return parent(of: path) }
    }
    return packageRoot + "/.build/debug"
  }()

  /// The root of the package.
  static let packageRoot = parent(of: parent(of: parent(of: parent(of: #filePath))))

  static let leaktrace = directory + "/leaktrace"
  static let preloadLibrary = directory + "/libleaktrace.so"

  /// The directory of the toolchain's programs.
  static let toolchain: String = {
    for directory in (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":") {
      if let path = resolve("\(directory)/swiftc"), access(parent(of: path) + "/clang", X_OK) == 0 {
        return parent(of: path)
      }
    }
    return "/usr/bin"
  }()

  static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  private static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
