// Builds small programs for the tests, and runs other tools on them.

import Foundation
import TraceReading

struct ToolFailure: Error, CustomStringConvertible {
  var description: String
}

/// Runs the programs of the toolchain and of binutils.
enum Tool {
  /// The directory of `swiftc`, after following symbolic links. Other tools of the same toolchain are in this
  /// directory.
  static let toolchain: String? = searchPath("swiftc").map {
    URL(fileURLWithPath: $0).resolvingSymlinksInPath().deletingLastPathComponent().path
  }

  static func searchPath(_ name: String) -> String? {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Returns the path of a tool. The toolchain's own copy is preferred, because only that copy is as new as the
  /// compiler.
  static func find(_ name: String) throws -> String {
    if let toolchain, FileManager.default.isExecutableFile(atPath: toolchain + "/" + name) {
      return toolchain + "/" + name
    }
    guard let path = searchPath(name) else { throw ToolFailure(description: "\(name) is not installed") }
    return path
  }

  /// Runs a tool until it ends, and returns its standard output. If the tool fails, throws its messages.
  @discardableResult
  static func run(_ name: String, _ arguments: [String], input: String = "", in directory: String? = nil) throws
    -> String
  {
    let files = try TemporaryDirectory()
    try input.write(toFile: files.path("in"), atomically: false, encoding: .utf8)
    for file in ["out", "err"] { try files.write("", to: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try find(name))
    process.arguments = arguments
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    // Files are simpler than pipes: no thread has to read one pipe while the tool fills another.
    process.standardInput = FileHandle(forReadingAtPath: files.path("in"))
    process.standardOutput = FileHandle(forWritingAtPath: files.path("out"))
    process.standardError = FileHandle(forWritingAtPath: files.path("err"))
    try process.run()
    process.waitUntilExit()
    let output = try String(decoding: Data(contentsOf: URL(fileURLWithPath: files.path("out"))), as: UTF8.self)
    guard process.terminationStatus == 0 else {
      let complaint = try String(decoding: Data(contentsOf: URL(fileURLWithPath: files.path("err"))), as: UTF8.self)
      throw ToolFailure(description: "\(name) \(arguments.joined(separator: " ")): \(complaint)")
    }
    return output
  }
}

/// A temporary directory, which is removed with the last reference to this object.
final class TemporaryDirectory: Sendable {
  let root: String

  init() throws {
    root = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/symbolication-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func path(_ name: String) -> String { root + "/" + name }

  /// Writes a file, and creates the directories above it.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    try makeDirectory(URL(fileURLWithPath: path(name)).deletingLastPathComponent().path)
    try text.write(toFile: path(name), atomically: false, encoding: .utf8)
    return path(name)
  }

  /// Copies a file into the directory, and creates the directories above it.
  @discardableResult
  func copy(_ source: String, to name: String) throws -> String {
    try makeDirectory(URL(fileURLWithPath: path(name)).deletingLastPathComponent().path)
    try FileManager.default.copyItem(atPath: source, toPath: path(name))
    return path(name)
  }

  private func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }
}

/// A program that was compiled for a test.
struct ProgramFixture: Sendable {
  var path: String
  var buildID: [UInt8]
  /// Link addresses of the functions, by name.
  var functions: [String: UInt64]
  private let directory: TemporaryDirectory

  /// Compiles `source` with `compiler`. Every program gets a build ID, unless the arguments say otherwise.
  init(_ compiler: String, _ arguments: [String], source: String, fileName: String, output: String = "program") throws {
    directory = try TemporaryDirectory()
    let file = try directory.write(source, to: fileName)
    path = directory.path(output)
    let linker = compiler == "swiftc" ? ["-Xlinker", "--build-id=sha1"] : ["-Wl,--build-id=sha1"]
    try Tool.run(compiler, linker + arguments + ["-o", path, file], in: directory.root)
    (buildID, functions) = try Self.read(path)
  }

  private static func read(_ path: String) throws -> ([UInt8], [String: UInt64]) {
    var functions: [String: UInt64] = [:]
    for line in try Tool.run("nm", [path]).split(separator: "\n") {
      let fields = line.split(separator: " ")
      if fields.count == 3, "tTwW".contains(fields[1]) { functions[String(fields[2])] = UInt64(fields[0], radix: 16) }
    }
    var buildID: [UInt8] = []
    for line in try Tool.run("readelf", ["-n", path]).split(separator: "\n") where line.contains("Build ID:") {
      let digits = Array(line.split(separator: " ").last ?? "")
      buildID = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(digits[$0...$0 + 1]), radix: 16)
      }
    }
    return (buildID, functions)
  }

  static let loadBias: UInt64 = 0x5555_5000_0000

  /// Returns the program's image as in a process that loaded it.
  func image(path: String? = nil, buildID: [UInt8]? = nil) -> LoadedImage {
    LoadedImage(
      path: path ?? self.path, buildID: buildID ?? self.buildID, loadBias: Self.loadBias,
      range: RuntimeAddress(Self.loadBias)..<RuntimeAddress(Self.loadBias + 0x1000_0000))
  }

  /// Returns the address that a function had in the process.
  func address(of function: String, plus offset: UInt64 = 0) throws -> RuntimeAddress {
    guard let address = functions[function] else { throw ToolFailure(description: "no function \(function)") }
    return RuntimeAddress(address + offset + Self.loadBias)
  }

  /// Returns the link addresses of the code section.
  func text() throws -> Range<UInt64> { try Self.text(of: path) }

  static func text(of path: String) throws -> Range<UInt64> {
    for line in try Tool.run("readelf", ["-SW", path]).split(separator: "\n") {
      let fields = line.split(whereSeparator: { " []".contains($0) })
      guard let name = fields.firstIndex(of: ".text"), fields.count > name + 4 else { continue }
      guard let start = UInt64(fields[name + 2], radix: 16), let size = UInt64(fields[name + 4], radix: 16) else {
        continue
      }
      return start..<start + size
    }
    throw ToolFailure(description: "no .text in \(path)")
  }

  /// Writes the program's debug information to `debugFile`. Writes a copy without debug information and symbols to
  /// `stripped`.
  func split(stripped: String, debugFile: String) throws {
    try Tool.run("objcopy", ["--only-keep-debug", path, debugFile])
    try Tool.run("strip", ["--strip-all", "-o", stripped, path])
  }
}

extension FrameKey {
  static func exact(_ address: RuntimeAddress) -> FrameKey { FrameKey(address: address, isExact: true, isAsync: false) }
  static func returnAddress(_ address: RuntimeAddress) -> FrameKey {
    FrameKey(address: address, isExact: false, isAsync: false)
  }
}
