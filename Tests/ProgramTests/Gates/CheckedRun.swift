// Runs `leaktrace check` on a program whose arguments select its leaks.

import Foundation
import Testing

/// A directory to check in, with its own TMPDIR.
struct CheckedRun {
  let directory: TemporaryDirectory
  let program: String

  init() throws {
    directory = try TemporaryDirectory()
    program = try TestProgram("gated.swift", flags: ["-Onone"]).path()
    try FileManager.default.createDirectory(atPath: directory.path + "/tmp", withIntermediateDirectories: true)
  }

  var baseline: String { directory.path + "/leaks.txt" }

  func command(_ options: [String], _ command: [String]) -> Command {
    var result = Command([BuildProducts.leaktrace, "check", "--width", "200"] + options + ["--"] + command)
    result.directory = directory.path
    result.environment["TMPDIR"] = directory.path + "/tmp"
    return result
  }

  /// Runs the program with these arguments, and expects that no trace is left behind.
  func check(_ options: [String] = [], _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws
    -> Command.Outcome
  {
    let outcome = try command(options, [program] + arguments).run()
    try expectNothingLeft(sourceLocation: sourceLocation)
    return outcome
  }

  func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.path + "/tmp")
    #expect(left.isEmpty, sourceLocation: sourceLocation)
  }

  func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(directory.path)/\(name)", encoding: .utf8)
  }
}
