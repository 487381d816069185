// The corpus's executables, built once in each variant.

import Foundation
import TestRequirements
import Testing

/// A way of compiling the corpus.
enum CorpusVariant: String, Codable, CaseIterable, Sendable, CustomTestStringConvertible {
  case dynamicUnoptimised = "dynamic-Onone"
  case dynamicOptimised = "dynamic-O"
  case staticUnoptimised = "static-Onone"
  case staticOptimised = "static-O"
  /// Optimised, and linked to the runtime of an earlier Swift. This variant has only the programs that need no other
  /// libraries than that runtime's.
  case earlierRuntime = "swift-6.1.2"

  /// The variants that are tested.
  static let tested = TestTier.arguments([dynamicUnoptimised, dynamicOptimised], of: allCases)
  /// The tested variants that use the toolchain's own runtime.
  static let testedOwn = tested.filter { $0 != .earlierRuntime }

  /// The distance between the tested programs: with 4, one program in four is tested. The first tier tests every
  /// program in only one variant.
  var stride: Int { TestTier.isWhole || self == .dynamicOptimised ? 1 : 4 }

  var isOptimised: Bool { self != .dynamicUnoptimised && self != .staticUnoptimised }
  var isStatic: Bool { self == .staticUnoptimised || self == .staticOptimised }
  /// The variant whose expected findings apply.
  var expectations: CorpusVariant { self == .earlierRuntime ? .dynamicOptimised : self }
  var testDescription: String { rawValue }
}

enum CorpusProgram: String, Codable, Sendable {
  case corpus
  case nioCorpus = "nio-corpus"
  case scopes

  var variants: [CorpusVariant] {
    switch self {
    case .corpus: CorpusVariant.allCases
    case .scopes: CorpusVariant.allCases.filter { $0 != .earlierRuntime }
    // The packages of this program take long to build.
    case .nioCorpus: TestTier.arguments([], of: [.dynamicUnoptimised, .dynamicOptimised])
    }
  }

  /// The module's name, which its types' full names begin with.
  var module: String { rawValue.replacingOccurrences(of: "-", with: "_") }

  private static let cache = BuildProducts.packageRoot + "/.build/e2e-programs/corpus"
  private static let lock = NSLock()
  nonisolated(unsafe) private static var built: [String: Result<String, any Error>] = [:]

  /// Returns the path of the executable. Builds it at the first use, unless it is newer than all sources.
  ///
  /// Blocks until the executable is built.
  func path(_ variant: CorpusVariant) throws -> String {
    let key = "\(rawValue) \(variant.rawValue)"
    return try BuildLock.withLock(for: key) {
      let result = Self.lock.withLock { Self.built[key] } ?? Result { try build(variant) }
      Self.lock.withLock { Self.built[key] = result }
      return try result.get()
    }
  }

  private func build(_ variant: CorpusVariant) throws -> String {
    switch self {
    case .corpus: try compile(variant, folders: ["", "/Cases", "/CleanPrograms"])
    case .scopes: try compile(variant, folders: ["/Scopes", "/Scopes/Leaks", "/Scopes/Clean"])
    case .nioCorpus: try CorpusPackage.products(rawValue, isOptimised: variant.isOptimised) + "/" + rawValue
    }
  }

  private func compile(_ variant: CorpusVariant, folders: [String]) throws -> String {
    var sources = try folders.flatMap { folder in
      let directory = CorpusCase.directory + folder
      return try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".swift") }.sorted()
        .map { "\(directory)/\($0)" }
    }
    let compiler = BuildProducts.toolchain + "/swiftc"
    let directory = "\(Self.cache)/\(variant.rawValue)"
    if variant == .earlierRuntime { sources = try EarlierRuntimeCorpus.sources(of: sources, in: directory) }
    let product = "\(directory)/\(rawValue)"
    // Removing a source changes its folder's date. Changing the way of compiling changes this file's date.
    let inputs =
      sources.filter { $0.hasPrefix(CorpusCase.directory) } + [compiler, #filePath]
      + folders.map { CorpusCase.directory + $0 }
    if let date = Self.date(product), inputs.allSatisfy({ Self.date($0).map { $0 < date } ?? false }) { return product }

    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let unfinished = "\(product).\(getpid())"
    // Without optimisation, compiling the module as a whole gives equal code in a third of the time. With optimisation,
    // the compiler would inline calls between files, and closures would lose their lines.
    let unit = variant.isOptimised ? ["-O", "-j", "2"] : ["-Onone", "-wmo"]
    var arguments = [compiler, "-g", "-module-name", module] + unit
    if variant == .earlierRuntime {
      arguments += ["-no-toolchain-stdlib-rpath", "-Xlinker", "-rpath=\(try PythonServer.runtime())"]
    }
    if variant.isStatic { arguments += ["-static-stdlib", "-D", "STATIC_STDLIB"] }
    var command = Command(arguments + sources + ["-o", unfinished])
    command.directory = directory
    try Self.check(command)
    guard rename(unfinished, product) == 0 else { throw CommandFailure("rename: \(String(cString: strerror(errno)))") }
    return product
  }

  @discardableResult private static func check(_ command: Command) throws -> String {
    let outcome = try command.run()
    guard outcome.end == .exit(0) else {
      throw CommandFailure(
        "\(command.arguments.prefix(8).joined(separator: " ")) …\n\(outcome.output)\(outcome.errorOutput)")
    }
    return outcome.output
  }

  private static func date(_ path: String) -> Date? {
    try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
  }
}
