// Files that are cut short or altered give fewer results, but never crash the reader.

import Foundation
import Testing
import TraceReading
import TraceSymbolication

@Suite struct DamagedFileTests {
  /// Returns the same file for every path.
  final class Memory: SymbolFileAccess {
    var bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
    func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents? {
      path == "/program" ? SymbolFileContents(bytes) : nil
    }
  }

  struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  let program: ProgramFixture
  let original: [UInt8]
  let addresses: [UInt64]

  init() throws {
    program = try SharedProgram.cOptimised.get()
    original = Array(try Data(contentsOf: URL(fileURLWithPath: program.path)))
    let text = try program.text()
    addresses = Array(stride(from: text.lowerBound, to: text.upperBound, by: 7)) + [0, 1, .max]
  }

  /// Looks up many addresses in the file. Returns how many of them have a name.
  func named(_ bytes: [UInt8]) throws -> Int {
    let image = LoadedImage(path: "/program", buildID: [], loadBias: 0, range: RuntimeAddress(0)..<RuntimeAddress(.max))
    let symbolicator = Symbolicator(images: [image], access: Memory(bytes))
    var named = 0
    for address in addresses {
      let frames = symbolicator.frames(for: .exact(RuntimeAddress(address)), in: image)
      try #require(!frames.isEmpty)
      if frames.contains(where: \.isNamed) { named += 1 }
    }
    return named
  }

  @Test func wholeFileNamesMostAddresses() throws {
    #expect(try named(original) > addresses.count / 2)
  }

  @Test func truncatedFileNeverCrashesTheReader() throws {
    let whole = try named(original)
    for length in stride(from: 0, to: original.count, by: max(1, original.count / 150)) {
      #expect(try named(Array(original.prefix(length))) <= whole)
    }
    for length in 0..<130 { #expect(try named(Array(original.prefix(length))) == 0) }
  }

  @Test func alteredBytesNeverCrashTheReader() throws {
    var random = Random(state: 1)
    for _ in 0..<300 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      #expect(try named(bytes) <= addresses.count)
    }
  }

  @Test func alteredHeadersAndDebugSectionsNeverCrashTheReader() throws {
    // The damage is where it has the most effect: in the first and last part of the file, and everywhere after the
    // code.
    var random = Random(state: 2)
    let ranges = [0..<1024, original.count * 2 / 3..<original.count, original.count - 4096..<original.count]
    for round in 0..<300 {
      var bytes = original
      let range = ranges[round % ranges.count]
      for _ in 0..<Int.random(in: 1...200, using: &random) {
        bytes[Int.random(in: range, using: &random)] = [0, 0xff, 0x7f, 0x80, UInt8.random(in: 0...255, using: &random)]
          .randomElement(using: &random)!
      }
      #expect(try named(bytes) <= addresses.count)
    }
  }
}
