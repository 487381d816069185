// Programs that the tests record, compiled when they are first asked for.

import Foundation

/// A program of Tests/Programs, compiled one way.
struct TestProgram: Sendable {
  let name: String
  /// Names of files in Tests/Programs, or of directories there, all of whose Swift files are meant.
  let sources: [String]
  let flags: [String]

  /// Optimised, dynamically linked, with the toolchain's compiler for the kind of source.
  init(_ source: String, flags: [String] = []) {
    name = String(source.split(separator: ".")[0])
    sources = [source]
    self.flags = flags
  }

  /// Optimised Swift of several directories.
  init(named name: String, sources: [String], flags: [String] = []) {
    self.name = name
    self.sources = sources
    self.flags = flags
  }

  private static let directory = BuildProducts.packageRoot + "/Tests/Programs"
  private static let cache = BuildProducts.packageRoot + "/.build/e2e-programs"

  /// The path of the executable, built unless one of the same sources, flags and compiler is there already.
  ///
  /// Blocks while another thread compiles the same. Two processes may both compile; each then moves a whole file into place.
  func path() throws -> String {
    let files = try sources.flatMap(Self.files)
    var key = FingerprintOfBytes()
    for file in files {
      key.add(Array(file.utf8))
      key.add([UInt8](try Data(contentsOf: URL(fileURLWithPath: file))))
    }
    let arguments = try compilerArguments(files)
    for argument in arguments { key.add(Array(argument.utf8)) }
    let directory = "\(Self.cache)/\(key.text)"
    // `%n` and messages show the program's file name, so the program has a directory of its own.
    let product = "\(directory)/\(name)"
    return try BuildLock.withLock(for: product) {
      if access(product, F_OK) == 0 { return product }
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let unfinished = "\(product).\(getpid())"
      var command = Command(arguments + ["-o", unfinished])
      command.directory = directory
      let outcome = try command.run()
      guard outcome.end == .exit(0) else {
        throw CommandFailure("\(arguments.joined(separator: " "))\n\(outcome.errorOutput)")
      }
      guard rename(unfinished, product) == 0 else {
        throw CommandFailure("rename: \(String(cString: strerror(errno)))")
      }
      return product
    }
  }

  /// A stripped copy of the executable: neither symbols nor debug information.
  func strippedPath() throws -> String {
    let whole = try path()
    let directory = BuildProducts.parent(of: whole) + "/stripped"
    let product = directory + "/" + whole.split(separator: "/").last!
    return try BuildLock.withLock(for: product) {
      if access(product, F_OK) == 0 { return product }
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let unfinished = "\(product).\(getpid())"
      let outcome = try Command([BuildProducts.toolchain + "/llvm-objcopy", "--strip-all", whole, unfinished]).run()
      guard outcome.end == .exit(0) else { throw CommandFailure(outcome.errorOutput) }
      guard rename(unfinished, product) == 0 else {
        throw CommandFailure("rename: \(String(cString: strerror(errno)))")
      }
      return product
    }
  }

  /// Without built-ins: a compiler that knows malloc removes calls whose blocks are not used.
  private func compilerArguments(_ files: [String]) throws -> [String] {
    switch files[0].split(separator: ".").last {
    case "c":
      return [BuildProducts.toolchain + "/clang", "-O1", "-g", "-fno-builtin", "-Wall", "-Wextra", "-Werror"] + files
        + ["-lpthread", "-ldl"] + flags
    case "cpp":
      return [
        BuildProducts.toolchain + "/clang++", "-std=c++17", "-O1", "-g", "-fno-builtin",
        "-fno-assume-sane-operator-new",
      ] + files + flags
    default:
      let text = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
      let library = text.contains { $0.contains("@main") } && files.count == 1 ? ["-parse-as-library"] : []
      let optimisation = flags.contains("-Onone") ? [] : ["-O"]
      return [BuildProducts.toolchain + "/swiftc", "-g", "-j", "2"] + optimisation + library + files + flags
    }
  }

  private static func files(of source: String) throws -> [String] {
    let path = "\(directory)/\(source)"
    guard !source.contains(".") else { return [path] }
    return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".swift") }.sorted()
      .map { "\(path)/\($0)" }
  }
}

/// FNV-1a over several byte strings; enough to tell one's own sources apart.
struct FingerprintOfBytes {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes + Array("#\(bytes.count)".utf8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  var text: String {
    let digits = String(state, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
