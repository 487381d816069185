// Builds small programs for the tests, and asks other tools about them.

import Foundation
import TraceReading

struct ToolFailure: Error, CustomStringConvertible {
  var description: String
}

/// Runs the programs of the toolchain and of binutils.
enum Tool {
  /// The directory of `swiftc`, with symbolic links followed. Other tools of the same toolchain are beside it.
  static let toolchain: String? = searchPath("swiftc").map {
    URL(fileURLWithPath: $0).resolvingSymlinksInPath().deletingLastPathComponent().path
  }

  static func searchPath(_ name: String) -> String? {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// The toolchain's own copy comes before others: only that is as new as the compiler.
  static func find(_ name: String) throws -> String {
    if let toolchain, FileManager.default.isExecutableFile(atPath: toolchain + "/" + name) {
      return toolchain + "/" + name
    }
    guard let path = searchPath(name) else { throw ToolFailure(description: "\(name) is not installed") }
    return path
  }

  /// Runs a tool to its end and returns its standard output. If it fails, throws its messages.
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
    // Files and not pipes: no thread has to read one while the other fills.
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

/// A directory that goes away with its last reference.
final class TemporaryDirectory: Sendable {
  let root: String

  init() throws {
    root = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/symbolication-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func path(_ name: String) -> String { root + "/" + name }

  /// Writes a file, with the directories above it.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    try makeDirectory(URL(fileURLWithPath: path(name)).deletingLastPathComponent().path)
    try text.write(toFile: path(name), atomically: false, encoding: .utf8)
    return path(name)
  }

  /// Copies a file into the directory, with the directories above it.
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

  /// The program as a process would have loaded it.
  func image(path: String? = nil, buildID: [UInt8]? = nil) -> LoadedImage {
    LoadedImage(
      path: path ?? self.path, buildID: buildID ?? self.buildID, loadBias: Self.loadBias,
      range: RuntimeAddress(Self.loadBias)..<RuntimeAddress(Self.loadBias + 0x1000_0000))
  }

  /// The address of a function as it was in the process.
  func address(of function: String, plus offset: UInt64 = 0) throws -> RuntimeAddress {
    guard let address = functions[function] else { throw ToolFailure(description: "no function \(function)") }
    return RuntimeAddress(address + offset + Self.loadBias)
  }

  /// The link addresses of the section that holds the code.
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

  /// Puts the debug information of the program into `file` and takes it, and all symbols, out of a copy at `stripped`.
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
