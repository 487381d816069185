import Glibc
import TestRequirements
import Testing

/// Inputs that the fuzzer kept. Each reaches code of the reader that the others do not reach, or once broke the reader
/// (`found-…`).
@Suite(.serialized) struct FuzzCorpusTests {
  private static let directory = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/FuzzCorpus"

  static let names: [String] = {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }()

  static func bytes(of name: String) throws -> [UInt8] {
    let file = try #require(fopen(directory + "/" + name, "r"), "\(name)")
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&part, 1, part.count, file)
      if count == 0 { return bytes }
      bytes += part.prefix(count)
    }
  }

  /// Returns the kB in a line of /proc/self/status.
  private static func status(_ field: String) throws -> Int {
    let file = try #require(fopen("/proc/self/status", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
      // A line has a name, a colon, a number and its unit.
      let bytes: [UInt8] = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      let words = String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace }
      if words.count > 1, words[0] == field + ":" { return Int(words[1]) ?? 0 }
    }
    return 0
  }

  @Test func corpusExistsAndIsSmall() throws {
    #expect(Self.names.count > 50)
    #expect(try Self.names.reduce(0) { $0 + (try Self.bytes(of: $1).count) } < 1 << 20)
  }

  /// One input in eight, or all with `scripts/test --whole`. Inputs that once broke the reader are always read.
  private static let read = TestTier.arguments(
    names.enumerated().filter { $0.offset % 8 == 0 || $0.element.hasPrefix("found-") }.map(\.element), of: names)

  @Test(arguments: read)
  func everyKeptInputIsReadToItsEnd(name: String) throws {
    let input = try #require(FuzzInput(try Self.bytes(of: name)))
    // Both passes must be equal, or the reader has used memory that was never written.
    #expect(input.readEverything() == input.readEverything())
  }

  /// Tests of other suites run at the same time, so the bound leaves room for them.
  @Test(.secondTier) func readingTheCorpusTakesLittleMemory() throws {
    let before = try Self.status("VmRSS")
    // Writing 5 resets the peak.
    let file = try #require(fopen("/proc/self/clear_refs", "w"))
    fputs("5", file)
    fclose(file)
    for name in Self.names { FuzzInput(try Self.bytes(of: name))?.readEverything() }
    #expect(try Self.status("VmHWM") - before < 700 << 10)
  }
}
