// Units of debug information that name other files: split units of C, and units of Swift that name Clang modules.

import CElfutils
import Foundation
import Testing

@testable import TraceReading
@testable import TraceSymbolication

@Suite struct SplitUnitTests {
  /// Notes which files of some directories are opened, by this process or another one.
  private final class Watch {
    private let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    deinit { close(descriptor) }

    init(_ directories: Set<String>) {
      for directory in directories { #expect(inotify_add_watch(descriptor, directory, UInt32(IN_OPEN)) >= 0) }
    }

    /// Returns the names of the files that were opened since the last call.
    func opened() -> Set<String> {
      var names: Set<String> = []
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
      defer { buffer.deallocate() }
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return names }
        var at = 0
        while at + 16 <= count {
          let length = Int(buffer.load(fromByteOffset: at + 12, as: UInt32.self))
          names.insert(String(decoding: buffer[(at + 16)..<(at + 16 + length)].prefix { $0 != 0 }, as: UTF8.self))
          at += 16 + length
        }
      }
    }
  }

  /// Returns the paths of the files that a program's units name.
  private func namedFiles(_ program: ProgramFixture) throws -> [String] {
    let directory = URL(fileURLWithPath: program.path).deletingLastPathComponent()
    let lines = try Tool.run("readelf", ["--debug-dump=info", "-W", program.path]).split(separator: "\n")
    return Set(lines.filter { $0.contains("dwo_name") }.compactMap { $0.split(separator: " ").last.map(String.init) })
      .map { URL(fileURLWithPath: $0, relativeTo: directory).standardizedFileURL.path }
      .filter { FileManager.default.fileExists(atPath: $0) }
  }

  private func directories(_ files: [String]) -> Set<String> {
    Set(files.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path })
  }

  @Test("A function of a split unit has its line, and the file of the unit is not opened") func splitUnit() throws {
    let program = try ProgramFixture(
      "clang", ["-O0", "-g", "-gsplit-dwarf"], source: Programs.c, fileName: "sample.c")
    let files = try namedFiles(program)
    try #require(files.count == 1 && files[0].hasSuffix(".dwo"), "\(files)")
    let watch = Watch(directories(files))
    let image = program.image()
    let frames = try Symbolicator(images: [image]).frames(for: .exact(program.address(of: "twice")), in: image)
    let line = Programs.c.components(separatedBy: "\n").firstIndex { $0.contains("int twice(") }.map { $0 + 1 }
    #expect(frames.map(\.function) == ["twice"] && frames.map(\.line) == [line])
    #expect(frames[0].file?.hasSuffix("/sample.c") ?? false)
    // The program itself is opened, so the watch works.
    let opened = watch.opened()
    #expect(opened.contains("program") && opened.filter { $0.hasSuffix(".dwo") }.isEmpty, "\(opened)")
  }

  /// The source has the number of each await in a comment on its line.
  private static let waits = """
    import Glibc

    @inline(never)
    func twice(_ number: Int32) async -> Int32 {
      let first = abs(number)
      await Task.yield()  // await 0
      print(first)
      await Task.yield()  // await 1
      return first + abs(number)
    }

    @main
    struct Program {
      static func main() async { print(await twice(getpid())) }
    }

    """

  @Test("A part of an async function has the line of its await, and no Clang module is opened")
  func awaits() throws {
    let cache = try TemporaryDirectory()
    let program = try ProgramFixture(
      "swiftc", ["-parse-as-library", "-module-name", "waits", "-Onone", "-g", "-module-cache-path", cache.path("m")],
      source: Self.waits, fileName: "waits.swift")
    let modules = try namedFiles(program)
    try #require(!modules.isEmpty && modules.allSatisfy { $0.hasSuffix(".pcm") }, "\(modules)")
    let watch = Watch(directories(modules))
    let image = program.image()
    let symbolicator = Symbolicator(images: [image])
    for number in 0..<2 {
      // The part that follows the suspension begins with the line of the await.
      let part = try #require(program.functions.keys.first { $0.contains("twice") && $0.hasSuffix("TQ\(2 * number)_") })
      let line = Self.waits.components(separatedBy: "\n").firstIndex { $0.hasSuffix("await \(number)") }.map { $0 + 1 }
      let lines = try (UInt64(0)..<64).compactMap { offset in
        try symbolicator.frames(for: .exact(program.address(of: part, plus: offset)), in: image).last?.line
      }
      #expect(lines.first == line, "\(part): \(lines)")
    }
    #expect(watch.opened().isEmpty)
  }
}
