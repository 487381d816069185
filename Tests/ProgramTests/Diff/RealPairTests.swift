// A published package with a known leak, its mended version, and a program that uses the package.

import Foundation
import TestRequirements
import Testing

@Suite(.secondTier, .serialized, .requires(.recorder)) struct RealPairTests {
  @Test("A fix of a package's lost C strings is reported, and its other leaks are not")
  func mendedPackage() throws {
    let pair = try PairCase.read("Real")
    let directory = try TemporaryDirectory()
    func record(_ program: String, _ name: String) throws -> String {
      let trace = "\(directory.path)/\(name).trace"
      let recording = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program]).run()
      try #require(recording.end == .exit(0), "\(recording.errorOutput)")
      return trace
    }
    let programs = try RealPackage.programs()
    let before = try record(programs + "/before", "before"), after = try record(programs + "/after", "after")
    for comparison in pair.comparisons {
      #expect(DiffComparison.mismatches(comparison, try PairRecordings.diff([before], [after])) == [])
      #expect(
        DiffComparison.mismatches(DiffComparison.mirrored(comparison), try PairRecordings.diff([after], [before])) == []
      )
    }
  }
}

/// The executables of Tests/Corpus/Pairs/Real.
private enum RealPackage {
  private static let sources = PairCase.directory + "/Real"
  private static let cache = BuildProducts.packageRoot + "/.build/e2e-programs/real"
  private static let toolchain = BuildProducts.toolchain + "/swift"

  /// Returns the directory with the executables `before` and `after`. The directory is named for their sources. Builds
  /// the executables if they do not exist, and fetches the package if needed.
  ///
  /// Both are built from one copy of the package, so that files that the mend does not change are compiled once.
  static func programs() throws -> String { try BuildLock.withLock(for: cache, build) }

  private static func build() throws -> String {
    var key = FingerprintOfBytes()
    for name in ["Package.swift", "Sources/settings/main.swift", "mend"] {
      key.add([UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(sources)/\(name)"))))
    }
    let kept = "\(cache)/\(key.text)"
    if access(kept, F_OK) == 0 { return kept }
    let unfinished = "\(kept).\(getpid())", copy = unfinished + "/TOMLKit"
    try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
    let commands = "cp -R \"$0\" \"$1\" && chmod -R u+w \"$1\""
    try check(Command(["/bin/sh", "-c", commands, try fetched(), copy]))
    try build(of: copy, in: unfinished, as: "before")
    try check(Command(["\(sources)/mend", copy]))
    try build(of: copy, in: unfinished, as: "after")
    try FileManager.default.removeItem(atPath: unfinished + "/build")
    guard rename(unfinished, kept) == 0 else { throw CommandFailure("rename: \(String(cString: strerror(errno)))") }
    return kept
  }

  /// Returns the checkout of the package as it is published.
  private static func fetched() throws -> String {
    let scratch = cache + "/fetched", checkout = scratch + "/checkouts/TOMLKit"
    if access(checkout + "/Package.swift", F_OK) == 0 { return checkout }
    let command = Command([toolchain, "package", "resolve", "--package-path", sources, "--scratch-path", scratch])
    let outcome = try command.run()
    guard outcome.end == .exit(0), access(checkout + "/Package.swift", F_OK) == 0 else {
      let end = outcome.timedOut ? "no answer in \(Int(command.timeLimit)) s" : "\(outcome.end)"
      throw CommandFailure(
        "The package that this test is about could not be fetched, which needs the network: \(end)\n\(outcome.output)\(outcome.errorOutput)"
      )
    }
    return checkout
  }

  private static func build(of copy: String, in directory: String, as name: String) throws {
    var command = Command([
      toolchain, "build", "--package-path", sources, "--scratch-path", directory + "/build", "--product", "settings",
      "--jobs", "2", "--disable-index-store",
    ])
    command.environment["TOMLKIT_PATH"] = copy
    try check(command)
    command.arguments.append("--show-bin-path")
    let product = try check(command).trimmingCharacters(in: .whitespacesAndNewlines) + "/settings"
    try FileManager.default.copyItem(atPath: product, toPath: "\(directory)/\(name)")
  }

  @discardableResult private static func check(_ command: Command) throws -> String {
    let outcome = try command.run()
    guard outcome.end == .exit(0) else {
      throw CommandFailure("\(command.arguments[0]) …\n\(outcome.output)\(outcome.errorOutput)")
    }
    return outcome.output
  }
}
