// Programs that the tests record. Each is compiled at its first use.

import Foundation

/// A program of Tests/Programs, with certain flags.
struct TestProgram: Sendable {
  let name: String
  /// The names of files in Tests/Programs, or of directories there. A directory means all of its Swift files.
  let sources: [String]
  let flags: [String]

  /// A program that is optimised and dynamically linked. The toolchain's compiler for the kind of source compiles it.
  init(_ source: String, flags: [String] = []) {
    name = String(source.split(separator: ".")[0])
    sources = [source]
    self.flags = flags
  }

  /// An optimised Swift program whose sources are in several directories.
  init(named name: String, sources: [String], flags: [String] = []) {
    self.name = name
    self.sources = sources
    self.flags = flags
  }

  private static let directory = BuildProducts.packageRoot + "/Tests/Programs"
  private static let cache = BuildProducts.packageRoot + "/.build/e2e-programs"

  /// Returns the path of the executable. Builds the executable unless one with the same sources, flags and compiler
  /// exists.
  ///
  /// Blocks while another thread compiles the same program. Two processes may both compile it; each then moves a
  /// complete file into place.
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
    // The program gets its own directory, because `%n` and messages show its file name.
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

  /// Returns the path of a stripped copy of the executable, without symbols and debug information.
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

  /// Disables built-ins for C and C++: a compiler that knows malloc removes calls whose blocks are not used.
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

/// FNV-1a over several byte strings. It is good enough for distinguishing the project's own sources.
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
