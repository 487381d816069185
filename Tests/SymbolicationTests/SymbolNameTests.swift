// Look-ups of symbols by name, and which parts of files a symbolicator reads.

import CElfutils
import Foundation
import Testing

@testable import TraceReading
@testable import TraceSymbolication

@Suite struct SymbolNameTests {
  private static func file(_ path: String) throws -> ElfFile {
    try ElfFile(path: path, contents: #require(try LocalSymbolFiles().contents(ofFile: path)))
  }

  @Test("Both ways to look up a name find each function at its address") func names() throws {
    let program = try SharedProgram.swiftOptimised.get()
    let file = try Self.file(program.path)
    let table = try #require(SymbolTable(file, sectionType: SHT_SYMTAB))
    let section = try #require(SymbolSection(file, type: SHT_SYMTAB))
    // `nm` lists some local names several times, with one address each.
    let counts = Dictionary(
      try Tool.run("nm", [program.path]).split(separator: "\n").compactMap { $0.split(separator: " ").last }
        .map { (String($0), 1) }, uniquingKeysWith: +)
    var found = 0
    for (name, address) in program.functions where counts[name] == 1 && name.hasPrefix("$s") {
      #expect(table.address(of: name)?.rawValue == address, "\(name)")
      #expect(section.address(of: name, .functions)?.rawValue == address, "\(name)")
      #expect(section.address(of: name, .variables) == nil, "\(name)")
      found += 1
    }
    #expect(found > 20)
    for name in ["", "$s", "$s4nameNotThere", String(repeating: "x", count: 10_000)] {
      #expect(table.address(of: name) == nil && section.address(of: name, .functions) == nil)
    }
  }

  @Test("An index finds the first of equal names, and all names of a crowded table") func index() throws {
    let words = (0..<500).map { "name \($0 % 300)" }
    let texts = words.map { strdup($0)! }
    defer { texts.forEach { free($0) } }
    let index = NameIndex(count: texts.count) { $0 % 7 == 6 ? nil : UnsafePointer(texts[$0]) }
    for (place, word) in words.enumerated() {
      let first = words.indices.first { words[$0] == word && $0 % 7 != 6 }
      let found = word.withCString { index.index(of: $0) { UnsafePointer(texts[$0]) } }
      #expect(found == first, "\(place)")
    }
    let empty = NameIndex(count: 0) { _ in nil }
    #expect("a".withCString { empty.index(of: $0) { _ in nil } } == nil)
  }

  @Test("Without the lines of the platform, its functions keep their names, and the program keeps its lines")
  func platform() throws {
    let program = try SharedProgram.swiftDebug.get()
    let name = try #require(program.functions.keys.sorted().first { $0.hasPrefix("$s") && $0.hasSuffix("F") })
    func frames(_ path: String, _ readsLines: Bool) throws -> [SourceFrame] {
      let image = program.image(path: path)
      return Symbolicator(images: [image], access: Renamed(program.path, as: path), readsLinesOfPlatform: readsLines)
        .frames(for: .exact(try program.address(of: name)), in: image)
    }
    let (platform, own) = ("/usr/lib/libswiftCore.so", "/srv/program")
    #expect(try frames(own, true) == frames(own, false) && frames(own, true).last?.line != nil)
    let (with, without) = (try frames(platform, true), try frames(platform, false))
    #expect(with.last?.line != nil && without.count == 1 && without[0].line == nil)
    #expect(with.last?.mangledName == without[0].mangledName && without[0].kind == .systemLibrary)
  }

  /// A file with another path.
  private struct Renamed: SymbolFileAccess {
    let (path, name): (String, String)
    init(_ path: String, as name: String) { (self.path, self.name) = (path, name) }
    func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents? {
      path == name ? try LocalSymbolFiles().contents(ofFile: self.path) : nil
    }
  }
}
