// Parts of files that a symbolicator reads only when it needs them.

import CElfutils
import Foundation
import Testing

@testable import TraceReading
@testable import TraceSymbolication

@Suite struct LazyFileTests {
  /// Files with other paths. Notes which paths are read.
  private final class Files: SymbolFileAccess {
    private let files: [String: String]
    private(set) var asked: [String] = []
    /// - Parameter files: the paths of real files, by the paths that programs know.
    init(_ files: [String: String]) { self.files = files }
    func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents? {
      asked.append(path)
      guard let file = files[path] else { return nil }
      return try LocalSymbolFiles().contents(ofFile: file)
    }
  }

  /// The path of a file with debug information that several files share.
  private static let shared = "/srv/shared.debug"

  /// Returns the path of a copy of a program whose debug information has parts in another file.
  private func program(_ program: ProgramFixture, in directory: TemporaryDirectory) throws -> String {
    let link = Data(Self.shared.utf8) + [0] + Data(repeating: 0xAB, count: 20)
    let section = directory.path("link")
    try link.write(to: URL(fileURLWithPath: section))
    let copy = directory.path("program")
    try Tool.run("objcopy", ["--add-section", ".gnu_debugaltlink=\(section)", program.path, copy])
    return copy
  }

  @Test(
    "Debug information is read for lines, and not for names alone",
    arguments: ["/usr/lib/libswiftCore.so", "/srv/program"])
  func debugInformation(path: String) throws {
    let directory = try TemporaryDirectory()
    let program = try SharedProgram.swiftDebug.get()
    let files = Files([path: try self.program(program, in: directory)])
    let image = program.image(path: path)
    let symbolicator = Symbolicator(images: [image], access: files, readsLinesOfPlatform: false)
    #expect(files.asked.isEmpty)
    let name = try #require(program.functions.keys.sorted().first { $0.hasPrefix("$s") && $0.hasSuffix("F") })
    #expect(try symbolicator.address(ofFunction: name, in: image) == program.address(of: name))
    #expect(files.asked.contains(path) && !files.asked.contains(Self.shared))
    _ = try symbolicator.frames(for: .exact(program.address(of: name)), in: image)
    #expect(files.asked.contains(Self.shared) == !path.hasPrefix("/usr/lib"))
  }

  @Test("An image without a frame is not opened") func unused() throws {
    let program = try SharedProgram.swiftDebug.get()
    let files = Files(["/srv/first": program.path, "/srv/second": program.path])
    let first = program.image(path: "/srv/first")
    var second = program.image(path: "/srv/second")
    second.loadBias += 0x1000_0000
    second.range = RuntimeAddress(second.loadBias)..<RuntimeAddress(second.loadBias + 0x1000_0000)
    let symbolicator = Symbolicator(images: [first, second], access: files)
    let name = try #require(program.functions.keys.sorted().first { $0.hasPrefix("$s") && $0.hasSuffix("F") })
    _ = try symbolicator.frames(for: .exact(program.address(of: name)), in: first)
    #expect(Set(files.asked) == ["/srv/first"])
  }
}
