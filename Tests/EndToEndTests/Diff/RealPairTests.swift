// A package with a known leak, as it is published and mended, under a program that uses it.

import Foundation
import Testing

@Suite(.serialized, .enabled(if: BuildProducts.preloadLibraryExists)) struct RealPairTests {
  @Test("Of a package whose C strings were never freed, mending that is reported, and what else it leaks is not") func mendedPackage() throws {
    let pair = try PairCase.read("Real")
    let directory = try TemporaryDirectory()
    func record(_ program: String, _ name: String) throws -> String {
      let trace = "\(directory.path)/\(name).trace"
      let recording = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program]).run()
      try #require(recording.end == .exit(0), "\(recording.errorOutput)")
      return trace
    }
    let before = try record(RealPackage.published(), "before"), after = try record(RealPackage.mended(), "after")
    for comparison in pair.comparisons {
      #expect(DiffComparison.mismatches(comparison, try PairRecordings.diff([before], [after])) == [])
      #expect(DiffComparison.mismatches(DiffComparison.mirrored(comparison), try PairRecordings.diff([after], [before])) == [])
    }
  }
}

/// The executables of Tests/Corpus/Pairs/Real.
private enum RealPackage {
  private static let sources = PairCase.directory + "/Real"
  private static let cache = BuildProducts.packageRoot + "/.build/e2e-programs/real"
  private static let publishedScratch = cache + "/published"

  /// With the package as it is published.
  static func published() throws -> String { try build(publishedScratch) { _ in } }

  /// With a copy of it, mended by our script.
  static func mended() throws -> String {
    _ = try published()
    let script = "\(sources)/mend"
    var key = FingerprintOfBytes()
    key.add([UInt8](try Data(contentsOf: URL(fileURLWithPath: script))))
    let copy = "\(cache)/\(key.text)/TOMLKit"
    if access(copy, F_OK) != 0 {
      let unfinished = "\(cache)/\(key.text).\(getpid())"
      try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
      let commands = "cp -r \"$0\" \"$1/TOMLKit\" && chmod -R u+w \"$1\" && \"$2\" \"$1/TOMLKit\""
      try check(Command(["/bin/sh", "-c", commands, publishedScratch + "/checkouts/TOMLKit", unfinished, script]))
      guard rename(unfinished, "\(cache)/\(key.text)") == 0 else { throw CommandFailure("rename: \(String(cString: strerror(errno)))") }
    }
    return try build("\(cache)/mended") { $0.environment["TOMLKIT_PATH"] = copy }
  }

  private static func build(_ scratch: String, adjust: (inout Command) -> Void) throws -> String {
    var command = Command([BuildProducts.toolchain + "/swift", "build", "--package-path", sources, "--scratch-path", scratch, "--jobs", "2"])
    command.timeLimit = 900
    adjust(&command)
    try check(command)
    command.arguments.append("--show-bin-path")
    return try check(command).trimmingCharacters(in: .whitespacesAndNewlines) + "/settings"
  }

  @discardableResult private static func check(_ command: Command) throws -> String {
    let outcome = try command.run()
    guard outcome.end == .exit(0) else { throw CommandFailure("\(command.arguments[0]) …\n\(outcome.output)\(outcome.errorOutput)") }
    return outcome.output
  }
}
