// Images of memory that is full of references to the same address.

import CTraceFormat
import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import TraceReading

@Suite struct EqualWordsTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func pagesOfEqualWordsAreReadLikeOthers(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var words: [(address: UInt64, value: UInt64)] = []
    for page in 0..<24 as Range<UInt64> {
      let isUniform = random.oneIn(2)
      let common = random.next() >> 16
      for index in 0..<512 as Range<UInt64> where random.oneIn(1 + seed % 3) {
        words.append(
          (0x5000_0000_0000 + page * (1 + seed % 2) * 4096 + index * 8, isUniform ? common : random.next() >> 16))
      }
    }
    var writer = TraceWriter()
    try writer.append(TraceSnapshot(time: 8), words: words, pagesPerPart: 5)
    let reader = try TraceReader(bytes: writer.bytes)
    var diagnostics = TraceDiagnostics()
    let image = HeapImage(reader.snapshots[0], in: reader, diagnostics: &diagnostics)
    let expected = HeapImage(words: words)
    #expect(diagnostics.isEmpty && image.isWhole && image.wordCount == words.count, "seed \(seed)")
    for _ in 0..<200 {
      let from = 0x5000_0000_0000 + random.next() % (50 * 4096)
      let range = from..<from + random.next() % 20_000
      var found: [UInt64] = []
      var wanted: [UInt64] = []
      image.forEachWord(in: range) { found += [$0, $1] }
      expected.forEachWord(in: range) { wanted += [$0, $1] }
      #expect(found == wanted, "seed \(seed)")
      #expect(image.word(at: from & ~7) == expected.word(at: from & ~7), "seed \(seed)")
      #expect(image.firstWord(in: range) == expected.firstWord(in: range), "seed \(seed)")
    }
  }

  @Test func smallFileWithManyEqualWordsIsAWholeImage() throws {
    let pages = 70_000
    var payload = ByteBuilder()
    payload.bytes = rawBytes(of: lt_memory_part(snapshot: 1, part: 0))
    for page in 0..<pages {
      payload.varint(page == 0 ? 0x5_0000_0000 : 1)
      payload.bytes += [UInt8](repeating: 0xFF, count: 64)
      payload.zigzag(page == 0 ? 0x1234_5670 : 0)
      payload.bytes += [UInt8](repeating: 0, count: 511)
    }
    var writer = TraceWriter()
    let snapshot = TraceSnapshot(time: 8)
    let end = lt_snapshot_end(
      number: 1, error: 0, partCount: 1, unreadablePages: 0, pageCount: UInt64(pages), wordCount: UInt64(pages) * 512,
      capturedBytes: 0, pauseNanoseconds: 0,
      totalNanoseconds: 0)
    for (kind, bytes) in [
      (ChunkKind.snapshot, snapshot.encoded()), (.memory, payload.bytes), (.snapshotEnd, rawBytes(of: end)),
    ] {
      try writer.append(kind: kind, thread: 0, payload: bytes, firstTime: 8, lastTime: 8)
    }
    let reader = try TraceReader(bytes: writer.bytes)
    #expect(reader.fileSize.rawValue < 1 << 20)
    var diagnostics = TraceDiagnostics()
    // The limit is a hundredth of the memory that separately stored words would take.
    let image = HeapImage(
      reader.snapshots[0], in: reader, limit: MemoryLimit(ByteCount(16 << 20)), diagnostics: &diagnostics)
    #expect(diagnostics.isEmpty && image.isWhole && image.wordCount == pages * 512)
    #expect(image.word(at: 0x5_0000_0000 << 12 + 69_999 * 4096 + 8) == 0x1234_5670)
  }
}
