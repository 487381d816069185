// The libraries and the server that bring a Swift runtime into a process that began without one.

import Foundation

/// A library of Tests/Programs/late-plugin.swift, for hosts that load it with dlopen.
enum LateLibrary {
  enum Linkage: Sendable, CaseIterable { case dynamic, `static` }

  /// - Parameters:
  ///   - module: of its types. Libraries of several modules can be in one process.
  static func path(_ linkage: Linkage, module: String = "plugin") throws -> String {
    try program(linkage, module: module).path()
  }

  static func program(_ linkage: Linkage, module: String = "plugin") throws -> TestProgram {
    let object = try TestProgram("late-initializer.c", flags: ["-fPIC", "-c", "-Wno-unused-command-line-argument"])
      .path()
    let flags = ["-parse-as-library", "-emit-library", "-module-name", module, object]
    return TestProgram("late-plugin.swift", flags: flags + (linkage == .static ? ["-static-stdlib"] : []))
  }

  static func host() throws -> String { try TestProgram("late-host.c").path() }
}

/// A Python server whose extension module is written in Swift. It comes with a Swift runtime of its own, an earlier one
/// than the toolchain's.
enum PythonServer {
  /// The directory that Python finds it in. Blocks while it is being fetched; throws the script's message if that
  /// fails.
  static func directory() throws -> String { try fetched.get() }

  /// The directory of the runtime's libraries, of Swift 6.1.2.
  static func runtime() throws -> String { try directory() + "/peregrine/_swift" }

  /// The interpreter itself: the `python3` in `PATH` may be a script that looks for it.
  static func interpreter() throws -> String { try output(["python3", "-c", "import sys; print(sys.executable)"]) }

  private static let fetched = Result { try output([BuildProducts.packageRoot + "/scripts/python-server"]) }

  private static func output(_ arguments: [String]) throws -> String {
    let command = Command(arguments)
    let outcome = try command.run()
    guard outcome.end == .exit(0) else { throw CommandFailure("\(arguments[0]): \(outcome.errorOutput)") }
    return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
