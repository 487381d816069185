// The executables of a pair. Each is built in its own source tree, as from two checkouts.

import Foundation

/// One side of a pair, compiled in one variant.
struct PairProgram: Sendable {
  var pair: PairCase
  var side: PairSide
  var variant: PairVariant

  private static let cache = BuildProducts.packageRoot + "/.build/e2e-programs/pairs"
  private static let lock = NSLock()
  nonisolated(unsafe) private static var libraryFlags: Result<[String], any Error>?

  /// Returns the executable's path. Builds the executable unless one with the same sources and flags exists, and blocks
  /// until it is built.
  ///
  /// The source tree is beside the executable. Its paths are in the debug information.
  func path() throws -> String {
    let files = try sources()
    let compilation = pair.compilations[side]
    var arguments = [
      "\(BuildProducts.toolchain)/swiftc", "-\(variant.rawValue)", "-g", "-wmo", "-parse-as-library", "-module-name",
      compilation?.module ?? "app",
    ]
    if files.contains(where: { String(decoding: $0.contents, as: UTF8.self).contains("import LeakTrace\n") }) {
      arguments += try Self.flagsOfLibrary()
    }
    arguments += compilation?.flags ?? []
    var key = FingerprintOfBytes()
    for file in files {
      key.add(Array(file.path.utf8))
      key.add(file.contents)
    }
    for argument in arguments { key.add(Array(argument.utf8)) }
    let directory = "\(Self.cache)/\(pair.name).\(variant.rawValue).\(key.text)"
    return try BuildLock.withLock(for: directory) { try build(files, arguments, in: directory) }
  }

  private func build(_ files: [Source], _ arguments: [String], in directory: String) throws -> String {
    let product = "\(directory)/app"
    if access(product, X_OK) == 0 { return product }
    for file in files {
      let path = "\(directory)/Sources/\(file.path)"
      try FileManager.default.createDirectory(atPath: BuildProducts.parent(of: path), withIntermediateDirectories: true)
      try Data(file.contents).write(to: URL(fileURLWithPath: path))
    }
    let unfinished = "\(product).\(getpid()).\(side.rawValue)"
    var command = Command(arguments + files.map { "Sources/\($0.path)" } + ["-o", unfinished])
    command.directory = directory
    let outcome = try command.run()
    guard outcome.end == .exit(0) else {
      throw CommandFailure("\(pair.name) \(side.rawValue): \(outcome.output)\(outcome.errorOutput)")
    }
    guard rename(unfinished, product) == 0 else { throw CommandFailure("rename: \(String(cString: strerror(errno)))") }
    return product
  }

  private static func flagsOfLibrary() throws -> [String] {
    try lock.withLock {
      let flags = libraryFlags ?? Result { try LeakTraceLibrary.flags() }
      libraryFlags = flags
      return try flags.get()
    }
  }

  private struct Source {
    /// The path within the source tree.
    var path: String
    var contents: [UInt8]
  }

  /// Returns the sources shared by all pairs, those shared by both sides, and the side's own.
  private func sources() throws -> [Source] {
    var result: [String: [UInt8]] = [:]
    for folder in ["Shared", "\(pair.name)/both", "\(pair.name)/\(side.rawValue)"] {
      let directory = "\(PairCase.directory)/\(folder)"
      for name in FileManager.default.enumerator(atPath: directory)?.allObjects as? [String] ?? []
      where name.hasSuffix(".swift") {
        result[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)")))
      }
    }
    return result.map { Source(path: $0.key, contents: $0.value) }.sorted { $0.path < $1.path }
  }
}
