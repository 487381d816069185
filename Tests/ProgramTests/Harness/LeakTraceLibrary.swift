// The libraries that programs link. The compiler builds them directly from their sources, like a package manager does.

import Foundation

/// LeakTrace, and for tests LeakTraceTesting, as static libraries.
enum LeakTraceLibrary {
  /// Returns a program of Tests/Programs that imports LeakTrace.
  static func program(_ source: String, flags: [String] = [], isOptimised: Bool = true) throws -> TestProgram {
    TestProgram(source, flags: try self.flags(isOptimised: isOptimised) + flags)
  }

  /// Returns a program that runs the tests in a file of Tests/Programs that imports LeakTraceTesting. It is compiled
  /// without optimisation, like tests usually are: the optimiser may allocate objects on the stack.
  static func tests(_ source: String) throws -> TestProgram {
    let plugins = BuildProducts.parent(of: BuildProducts.toolchain) + "/lib/swift/host/plugins/testing"
    return TestProgram(source, flags: ["-Onone", "-lLeakTraceTesting", "-plugin-path", plugins] + (try flags()))
  }

  /// Returns the compiler flags for programs that use the library. `isOptimised`: whether the library's C code is.
  static func flags(isOptimised: Bool = true) throws -> [String] {
    let directory = try built.get()
    return ["-I", directory, "-I", "\(directory)/include", "-L", directory, "-lLeakTrace"]
      + codeFiles.map { "\(directory)/\($0)\(isOptimised ? "" : "-debug").o" }
  }

  private static let codeFiles = ["CLeakTrace", "run", "guest_run"]

  private static let built = Result { try build() }

  /// Returns a directory that is named for the sources. Builds the libraries there if the directory does not exist.
  private static func build() throws -> String {
    let sources = BuildProducts.packageRoot + "/Sources"
    let manager = FileManager.default
    var key = FingerprintOfBytes()
    for folder in ["CLeakTrace", "CLeakTrace/include", "LeakTrace", "LeakTraceTesting"] {
      for name in try manager.contentsOfDirectory(atPath: "\(sources)/\(folder)").sorted() {
        key.add(Array(name.utf8))
        key.add([UInt8](manager.contents(atPath: "\(sources)/\(folder)/\(name)") ?? Data()))
      }
    }
    let kept = BuildProducts.packageRoot + "/.build/e2e-programs/libraries-\(key.text)"
    return try BuildLock.withLock(for: kept) {
      if access(kept, F_OK) != 0 { try build(in: kept) }
      return kept
    }
  }

  private static func build(in kept: String) throws {
    let sources = BuildProducts.packageRoot + "/Sources"
    let manager = FileManager.default
    let directory = "\(kept).\(getpid())"
    let include = "\(directory)/include"
    try? manager.removeItem(atPath: directory)
    try manager.createDirectory(atPath: include, withIntermediateDirectories: true)
    try manager.copyItem(atPath: "\(sources)/CLeakTrace/include/CLeakTrace.h", toPath: "\(include)/CLeakTrace.h")
    try Data("module CLeakTrace { header \"CLeakTrace.h\" export * }\n".utf8).write(
      to: URL(fileURLWithPath: "\(include)/module.modulemap"))
    for name in codeFiles {
      for (level, suffix) in [("-O2", ""), ("-O0", "-debug")] {
        try run([
          "clang", level, "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", include, "-c",
          "\(sources)/CLeakTrace/\(name).c", "-o", "\(directory)/\(name)\(suffix).o",
        ])
      }
    }
    for module in ["LeakTrace", "LeakTraceTesting"] {
      let files = try manager.contentsOfDirectory(atPath: "\(sources)/\(module)").filter { $0.hasSuffix(".swift") }
        .sorted().map { "\(sources)/\(module)/\($0)" }
      try run(
        [
          "swiftc", "-O", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-emit-module",
          "-emit-library", "-static",
        ]
          + ["-module-name", module, "-I", include, "-I", directory, "-o", "\(directory)/lib\(module).a"] + files,
        in: directory)
    }
    guard rename(directory, kept) == 0 else { throw CommandFailure("rename: \(String(cString: strerror(errno)))") }
  }

  private static func run(_ arguments: [String], in directory: String = "/") throws {
    var command = Command(["\(BuildProducts.toolchain)/\(arguments[0])"] + arguments.dropFirst())
    command.directory = directory
    let outcome = try command.run()
    guard outcome.end == .exit(0) else {
      throw CommandFailure("\(arguments.joined(separator: " "))\n\(outcome.output)\(outcome.errorOutput)")
    }
  }
}
