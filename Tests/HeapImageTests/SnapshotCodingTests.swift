import TestRequirements
import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import TraceReading

/// Returns the image of a trace's only snapshot, and the diagnostics about the image.
func image(
  _ words: [(address: UInt64, value: UInt64)], pagesPerPart: Int = 1024,
  snapshot: TraceSnapshot = TraceSnapshot(time: 8)
) throws
  -> (image: HeapImage, found: [TraceDiagnostic])
{
  var writer = TraceWriter()
  try writer.append(snapshot, words: words, pagesPerPart: pagesPerPart)
  let reader = try TraceReader(bytes: writer.bytes)
  let read = try #require(reader.snapshots.first)
  var diagnostics = TraceDiagnostics()
  return (HeapImage(read, in: reader, diagnostics: &diagnostics), diagnostics.first)
}

@Suite struct SnapshotCodingTests {
  /// Returns words of a random process. Some pages are full, and some have few words. The pages are close together or
  /// far apart.
  private func words(_ random: inout SeededRandom) -> [UInt64: UInt64] {
    var words: [UInt64: UInt64] = [:]
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      let first: UInt64 =
        switch random.next() % 4 {
        case 0: random.next() >> 12
        case 1: random.next() % 64
        case 2: (1 << 52) - 1 - random.next() % 8
        default: 0x7_F000_0000 + random.next() % 32
        }
      for page in first..<min(first + UInt64.random(in: 1...5, using: &random), 1 << 52) {
        for _ in 0..<Int.random(in: 1...(random.oneIn(4) ? 600 : 12), using: &random) {
          let address = page << 12 | (random.next() % 512) << 3
          words[address] = random.oneIn(2) ? random.next() : 0x7F00_0000_0000 + random.next() % 4096
        }
      }
    }
    return words
  }

  @Test(arguments: TestTier.seeds(0..<300))
  func imagesRoundTrip(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let words = words(&random)
    let (image, found) = try image(
      words.map { ($0.key, $0.value) }, pagesPerPart: Int.random(in: 1...8, using: &random))
    #expect(found.isEmpty && image.isWhole)
    #expect(image.wordCount == words.count)
    #expect(image.pageCount == Set(words.keys.map { $0 >> 12 }).count)
    let addresses = words.keys.sorted()
    for address in addresses {
      #expect(image.word(at: address) == words[address])
      #expect(image.word(at: address ^ 8) == words[address ^ 8])
      #expect(image.word(at: address ^ 4096) == words[address ^ 4096])
    }
    for _ in 0..<20 {
      let bounds = (0..<2).map { _ -> UInt64 in
        random.oneIn(5) ? random.next() : (addresses.randomElement(using: &random) ?? 0) &+ random.next() % 5000 &- 2500
      }.sorted()
      let range = bounds[0]..<bounds[1]
      var seen: [UInt64] = []
      image.forEachWord(in: range) { address, value in
        seen.append(address)
        #expect(value == words[address])
      }
      let expected = addresses.filter { range.contains($0) }
      #expect(seen == expected)
      #expect(image.firstWord(in: range) == expected.first)
    }
  }

  @Test func edgesOfTheAddressSpaceAreValid() throws {
    let last = UInt64.max - 7
    let (image, _) = try image([(0, 5), (last, 7)])
    #expect(image.word(at: 0) == 5 && image.word(at: last) == 7)
    var seen: [UInt64] = []
    image.forEachWord(in: 0..<UInt64.max) { address, _ in seen.append(address) }
    #expect(seen == [0, last])
    for lower in last + 1...UInt64.max {
      image.forEachWord(in: lower..<UInt64.max) { _, _ in Issue.record("no word begins there") }
      #expect(image.firstWord(in: lower..<UInt64.max) == nil)
    }
    image.forEachWord(in: 1..<7) { _, _ in Issue.record("no word begins there") }
  }

  @Test(arguments: [false, true]) func frameRoundTrips(isArm64: Bool) throws {
    let registers = (1..<UInt64(isArm64 ? 32 : 3)).map { $0 << 40 }
    let threads = [
      SnapshotThread(
        osThread: 7, stackPointer: 0x7000_0000, threadPointer: 0x7000_8000, instructionPointer: 0x4000,
        registers: registers, isSelf: true),
      SnapshotThread(osThread: 8, stackPointer: nil, threadPointer: 0, isWaiting: true),
    ]
    let kinds: [MemoryRegion.Kind] = [.anonymous, .programBreak, .mainStack, .file, .shared, .recorder, .other(77)]
    let regions = kinds.enumerated().map { index, kind in
      MemoryRegion(
        range: UInt64(index + 1) << 20..<UInt64(index + 2) << 20, kind: kind, isWritable: index % 2 == 0,
        isExecutable: index % 3 == 0,
        isCaptured: index % 4 != 0)
    }
    for reason in [
      SnapshotReason.exit, .signal, .request, .call, .expectation, .round, .interval, .size, .limit, .other(99),
    ] {
      var snapshot = TraceSnapshot(
        number: 3, reason: reason, time: 80, monotonic: 99, isFrozen: reason != .call, staticTLSSize: 4096,
        threads: threads,
        regions: regions, label: "nach dem Lauf ✓",
        end: .init(capturedBytes: 5, pauseNanoseconds: 6, totalNanoseconds: 7))
      snapshot.isListed = reason == .size
      snapshot.isArm64 = isArm64
      var writer = TraceWriter()
      try writer.append(snapshot, words: [(8, 8)])
      var read = try #require(try TraceReader(bytes: writer.bytes).snapshots.first)
      #expect(read.isWhole)
      #expect(
        read.end
          == .init(partCount: 1, pageCount: 1, wordCount: 1, capturedBytes: 5, pauseNanoseconds: 6, totalNanoseconds: 7)
      )
      read.end = snapshot.end
      read.memoryChunks = []
      #expect(read == snapshot)
    }
  }
}
