import Testing

@testable import RunDiff
@testable import TraceReading
@testable import TraceSymbolication

/// A comparison shows a remark once, even if several runs have it.
@Suite struct RunRemarkTests {
  private func run(_ path: String, _ remarks: String...) -> RunDigest {
    var digest = DigestBuilder().digest
    (digest.path, digest.remarks) = (path, remarks)
    return digest
  }

  private func remarks(_ old: [RunDigest], _ new: [RunDigest]) throws -> [String] {
    try RunComparison.report(old: old, new: new).remarks
  }

  @Test func remarkOfAllRunsAppearsOnceWithoutPaths() throws {
    #expect(try remarks([run("/a.trace", "stripped")], [run("/b.trace", "stripped", "stripped")]) == ["stripped"])
    #expect(try remarks([run("/a.trace", "x"), run("/b.trace", "x")], [run("/c.trace", "x")]) == ["x"])
  }

  @Test func remarkOfSomeRunsNamesThem() throws {
    #expect(try remarks([run("/a.trace", "stripped")], [run("/b.trace")]) == ["old: stripped"])
    #expect(
      try remarks(
        [run("/t/a.trace", "x", "y"), run("/t/b.trace", "y")], [run("/t/c.trace", "z", "x"), run("/t/d.trace", "x")])
        == ["old (a.trace), new: x", "old: y", "new (c.trace): z"])
    let many = (0..<6).map { run("/\($0).trace", "x") } + [run("/last.trace")]
    #expect(try remarks(many, [run("/new.trace")]) == ["old (0.trace, 1.trace, 2.trace and 3 more): x"])
  }

  @Test func workIsWrittenInWords() {
    let side = DiffSide(
      program: "/bin/app", runs: [.init(path: "a", events: 10, work: 1200), .init(path: "b", events: 12, work: 1180)])
    #expect(DiffWords.work(side, .scope("request")) == "scope \"request\" ran 1,200, 1,180 times")
    #expect(DiffWords.work(side, .events) == nil && DiffWords.work(side, .run) == nil)
  }

  @Test func unreadableFileErrorIsWrittenInWords() {
    #expect("\(SymbolFileError.notELF(offset: FileOffset(4096)))" == "it is no sound ELF file (byte 4,096)")
    #expect("\(SymbolFileError.notARegularFile)" == "it is no regular file")
    #expect("\(SymbolFileError.system(errno: 13))" == "Permission denied")
  }
}
