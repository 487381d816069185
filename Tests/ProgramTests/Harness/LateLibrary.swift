// Libraries and a server that load a Swift runtime into a process that started without one.

import Foundation

/// A library of Tests/Programs/late-plugin.swift, for hosts that load it with dlopen.
enum LateLibrary {
  enum Linkage: Sendable, CaseIterable { case dynamic, `static` }

  /// - Parameters:
  ///   - module: The module of its types. Libraries of several modules can be in one process.
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

/// A Python server whose extension module is written in Swift. The module ships its own Swift runtime, which is older
/// than the toolchain's.
enum PythonServer {
  /// Returns the directory where Python finds the module. Blocks while the module is fetched. Throws the script's
  /// message if fetching fails.
  static func directory() throws -> String { try fetched.get() }

  /// Returns the directory of the runtime's libraries, of Swift 6.1.2.
  static func runtime() throws -> String { try directory() + "/peregrine/_swift" }

  /// Returns the path of the real interpreter: the `python3` in `PATH` may be a script that starts it.
  static func interpreter() throws -> String { try output(["python3", "-c", "import sys; print(sys.executable)"]) }

  private static let fetched = Result { try output([BuildProducts.packageRoot + "/scripts/python-server"]) }

  private static func output(_ arguments: [String]) throws -> String {
    let command = Command(arguments)
    let outcome = try command.run()
    guard outcome.end == .exit(0) else { throw CommandFailure("\(arguments[0]): \(outcome.errorOutput)") }
    return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
