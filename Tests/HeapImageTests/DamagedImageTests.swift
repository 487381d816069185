import CTraceFormat
import TestRequirements
import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

/// Heap images with impossible contents, in chunks with correct checksums.
@Suite struct DamagedImageTests {
  private let object: UInt64 = 0x5000_0000_0000

  /// Returns a trace with two live blocks and these chunks of a heap image. The first block holds the second.
  private func reader(
    _ chunks: [(kind: ChunkKind, payload: [UInt8])], blocks: [(address: UInt64, size: UInt64)]? = nil,
    time: UInt64 = 800
  ) throws -> TraceReader {
    var builder = TraceBuilder()
    builder.image("/bin/app", 0x1000_0000..<0x1010_0000)
    for (index, block) in (blocks ?? [(object, 64), (object + 4096, 64)]).enumerated() {
      builder.event(
        .malloc, block.address, size: block.size, stack: builder.stack([0x1000_1000]), time: 8 + UInt64(index) * 8)
    }
    var writer = TraceWriter(header: builder.header)
    try writer.append(builder.definitions)
    let encoder = EventEncoder(stacks: builder.stacks, referenceCounting: builder.header.referenceCounting)
    encoder.begin(firstTime: 8)
    for event in builder.events[1] ?? [] { encoder.append(event) }
    try writer.append(encoder, thread: 1, firstTime: 8)
    for chunk in chunks {
      try writer.append(kind: chunk.kind, thread: 0, payload: chunk.payload, firstTime: time, lastTime: time)
    }
    // The size of the file limits the work.
    return try TraceReader(bytes: writer.bytes, policy: ReadingPolicy(isUntrusted: true))
  }

  private func head(_ change: (inout lt_snapshot) -> Void = { _ in }) -> [UInt8] {
    var head = lt_snapshot()
    head.number = 1
    head.reason = 1
    head.time = 800
    head.flags = 1
    change(&head)
    return rawBytes(of: head)
  }

  private func end(parts: UInt32, pages: UInt64, words: UInt64, error: Int32 = 0) -> [UInt8] {
    rawBytes(
      of: lt_snapshot_end(
        number: 1, error: error, partCount: parts, unreadablePages: 0, pageCount: pages, wordCount: words,
        capturedBytes: 0,
        pauseNanoseconds: 0,
        totalNanoseconds: 0))
  }

  /// Encodes pages with one word each, the first word of the page.
  private func part(_ number: UInt32, _ pages: [(page: UInt64, value: UInt64)], of snapshot: UInt32 = 1) -> [UInt8] {
    var bytes = ByteBuilder()
    bytes.bytes = rawBytes(of: lt_memory_part(snapshot: snapshot, part: number))
    var (page, value) = (UInt64(0), UInt64(0))
    for one in pages {
      bytes.varint(one.page &- page)
      bytes.bytes += [1] + [UInt8](repeating: 0, count: 63)
      bytes.zigzag(Int64(bitPattern: one.value &- value))
      (page, value) = (one.page, one.value)
    }
    return bytes.bytes
  }

  private func analysis(_ reader: TraceReader, limit: MemoryLimit? = nil) throws -> LeakAnalysis {
    let snapshot = try #require(reader.snapshots.first)
    final class NoLayouts: LayoutSource {
      func layout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout? { nil }
      func dependsOnInstance(_ metadata: RuntimeAddress) -> Bool { false }
      func metadataKind(at address: UInt64) -> UInt64? { nil }
      var problem: String? { nil }
    }
    return LeakAnalysis(
      reader, AllocationAnalysis(reader, snapshot: snapshot), snapshot: snapshot, naming: OffsetNaming(),
      layouts: NoLayouts(),
      imageLimit: limit)
  }

  private func isIncomplete(_ analysis: LeakAnalysis) -> Bool {
    analysis.model.diagnostics.first.contains { if case .incompleteSnapshot = $0.kind { true } else { false } }
      && analysis.remarks.contains { $0.contains("incomplete") }
  }

  private var firstPage: UInt64 { object >> 12 }

  @Test func validImageHasNoDiagnostics() throws {
    let found = try analysis(
      reader([
        (.snapshot, head()), (.memory, part(0, [(firstPage, object + 4096)])),
        (.snapshotEnd, end(parts: 1, pages: 1, words: 1)),
      ]))
    #expect(found.model.diagnostics.isEmpty && found.remarks.isEmpty)
    #expect(found.graph.graph.edgeCount == 1)
    #expect(found.findings().count == 1)
  }

  @Test func unfinishedImageIsReportedAndRead() throws {
    let snapshot: (kind: ChunkKind, payload: [UInt8]) = (.snapshot, head())
    let memory: (kind: ChunkKind, payload: [UInt8]) = (.memory, part(0, [(firstPage, object + 4096)]))
    for chunks in [
      [snapshot, memory], [snapshot, memory, (.snapshotEnd, end(parts: 2, pages: 1, words: 1))],
      [snapshot, memory, (.snapshotEnd, end(parts: 1, pages: 1, words: 1, error: 28))],
    ] {
      let reader = try reader(chunks)
      #expect(!reader.snapshots[0].isWhole)
      let found = try analysis(reader)
      #expect(isIncomplete(found))
      #expect(found.graph.graph.edgeCount == 1 && found.findings().isEmpty)
    }
    let none = try analysis(reader([snapshot]))
    #expect(isIncomplete(none) && none.graph.graph.edgeCount == 0)
  }

  @Test func missingDuplicateOrMisorderedPartsAreReported() throws {
    let parts = (0..<3).map { part(UInt32($0), [(firstPage + UInt64($0), object + 4096)]) }
    for order in [[0, 2], [0, 2, 2], [1, 0, 2], [0, 0, 1, 2], [2, 1, 0]] {
      let found = try analysis(
        reader(
          [(.snapshot, head())] + order.map { (.memory, parts[$0]) } + [
            (.snapshotEnd, end(parts: 3, pages: 3, words: 3))
          ]))
      #expect(isIncomplete(found), "\(order)")
    }
    // Parts with another image's number do not belong to this image.
    let other = try analysis(
      reader([
        (.snapshot, head()), (.memory, part(0, [(9, 9)], of: 2)), (.memory, parts[0]),
        (.snapshotEnd, end(parts: 1, pages: 1, words: 1)),
      ]))
    #expect(other.model.diagnostics.isEmpty && other.graph.image.wordCount == 1)
  }

  @Test func truncatedPagesAreReadUpToTheCut() throws {
    let sound = part(0, [(firstPage, object + 4096), (firstPage + 1, 5)])
    for count in 0..<sound.count {
      let found = try analysis(
        reader([
          (.snapshot, head()), (.memory, Array(sound.prefix(count))), (.snapshotEnd, end(parts: 1, pages: 2, words: 2)),
        ]))
      #expect(isIncomplete(found))
      #expect(found.graph.image.wordCount < 2)
    }
    // The pages are out of order, or equal, or beyond the address space.
    for pages in [
      [(firstPage, object), (firstPage - 1, object)], [(firstPage, object), (firstPage, object)],
      [(firstPage, object), (1 << 52, object)],
    ] as [[(page: UInt64, value: UInt64)]] {
      let found = try analysis(
        reader([(.snapshot, head()), (.memory, part(0, pages)), (.snapshotEnd, end(parts: 1, pages: 2, words: 2))]))
      #expect(found.model.diagnostics.first.contains { if case .damagedMemory = $0.kind { true } else { false } })
      #expect(found.graph.image.wordCount == 1 && isIncomplete(found))
    }
  }

  @Test func countsLargerThanThePayloadAreDamage() throws {
    let changes: [(inout lt_snapshot) -> Void] = [
      { $0.threadCount = 1 }, { $0.threadCount = .max }, { $0.regionCount = .max }, { $0.labelSize = .max },
      { ($0.threadCount, $0.regionCount, $0.labelSize) = (.max, .max, .max) },
    ]
    for change in changes {
      let reader = try reader([(.snapshot, head(change))])
      #expect(reader.snapshots.isEmpty && reader.diagnostics.first.map(\.kind) == [.damagedSnapshot])
    }
    for count in 0..<48 {
      #expect(
        try reader([(.snapshot, Array(head().prefix(count)))]).diagnostics.first.map(\.kind) == [.damagedSnapshot])
    }
    for count in 0..<56 {
      let reader = try reader([
        (.snapshot, head()), (.snapshotEnd, Array(end(parts: 0, pages: 0, words: 0).prefix(count))),
      ])
      #expect(reader.diagnostics.first.map(\.kind) == [.damagedSnapshot] && !reader.snapshots[0].isWhole)
    }
  }

  @Test func firstOfSeveralImagesWithOneNumberCounts() throws {
    let reader = try reader([
      (.snapshot, head { $0.monotonic = 1 }), (.snapshot, head { $0.monotonic = 2 }),
      (.snapshotEnd, end(parts: 0, pages: 0, words: 0)),
      (.snapshotEnd, end(parts: 9, pages: 9, words: 9)),
    ])
    #expect(reader.snapshots.map(\.monotonic) == [1])
    #expect(reader.snapshots[0].end?.partCount == 0 && reader.snapshots[0].isWhole)
  }

  @Test func overlappingOrEmptyRegionsAreSkipped() throws {
    var payload = head { $0.regionCount = 7 }
    let ranges: [(UInt64, UInt64)] = [
      (0x1000, 0x2000), (0x1800, 0x3000), (0x2000, 0x2000), (0x5000, 0x4000), (0x6000, 0x7000), (0x100, 0x200),
      (.max - 4096, .max),
    ]
    for (start, end) in ranges {
      payload += rawBytes(of: lt_snapshot_region(start: start, end: end, kind: 1, flags: 15))
    }
    #expect(try reader([(.snapshot, payload)]).snapshots[0].regions.map(\.range) == [0x1000..<0x2000, 0x6000..<0x7000])
  }

  /// Encodes pages from `first` on, whose words differ from each other, but compress to almost nothing.
  private func alternating(part number: UInt32, first: UInt64, pages: Int) -> [UInt8] {
    var bytes = ByteBuilder()
    bytes.bytes = rawBytes(of: lt_memory_part(snapshot: 1, part: number))
    for page in 0..<pages {
      bytes.varint(page == 0 ? first : 1)
      bytes.bytes += [UInt8](repeating: 0xFF, count: 64)
      for _ in 0..<256 { bytes.bytes += [2, 1] }
    }
    return bytes.bytes
  }

  @Test(.secondTier) func imageWithoutAnEndIsLimitedByFileSize() throws {
    var empty = ByteBuilder()
    empty.bytes = rawBytes(of: lt_memory_part(snapshot: 1, part: 0))
    for _ in 0..<900_000 { empty.bytes += [1] + [UInt8](repeating: 0, count: 64) }
    let full = (0..<2).map { alternating(part: UInt32($0), first: UInt64($0 * 40_000 + 1), pages: 40_000) }
    for payloads in [[empty.bytes, empty.bytes], full] {
      let reader = try reader([(.snapshot, head())] + payloads.map { (.memory, $0) })
      let found = try analysis(reader)
      #expect(found.graph.image.wordCount <= (256 << 20) / 8 + 32 * Int(reader.fileSize.rawValue))
      #expect(found.graph.image.pageCount <= (256 << 20) / 112 + 3 * Int(reader.fileSize.rawValue))
      #expect(isIncomplete(found))
    }
  }

  @Test func imageMemoryIsLimited() throws {
    let pages = 1000
    let chunks: [(kind: ChunkKind, payload: [UInt8])] = [
      (.snapshot, head()), (.memory, alternating(part: 0, first: firstPage, pages: pages)),
      (.snapshotEnd, end(parts: 1, pages: UInt64(pages), words: UInt64(pages) * 512)),
    ]
    let whole = try analysis(reader(chunks))
    #expect(whole.model.diagnostics.isEmpty && whole.graph.image.isWhole && whole.graph.image.wordCount == pages * 512)
    let limited = try analysis(reader(chunks), limit: MemoryLimit(ByteCount(1 << 20)))
    #expect(isIncomplete(limited) && limited.graph.image.wordCount <= 1 << 17)
    #expect(limited.model.diagnostics.first.contains { if case .overMemoryLimit = $0.kind { true } else { false } })
    #expect(limited.remarks.contains { $0.contains("--memory-limit") } && limited.findings().isEmpty)
  }

  @Test func wordsAndPagesBeyondTheEndRecordAreDamage() throws {
    for (pages, words) in [(1, 2), (2, 1), (0, 0)] as [(UInt64, UInt64)] {
      let found = try analysis(
        reader([
          (.snapshot, head()), (.memory, part(0, [(firstPage, object + 4096), (firstPage + 1, object)])),
          (.snapshotEnd, end(parts: 1, pages: pages, words: words)),
        ]))
      #expect(isIncomplete(found) && found.graph.image.wordCount <= 1)
      #expect(found.model.diagnostics.first.contains { if case .damagedMemory = $0.kind { true } else { false } })
    }
  }

  @Test func imageFramesAreLimitedByFileSize() throws {
    let threads = [UInt8](repeating: 0, count: 160 * 100_000)
    let reader = try reader(
      (1...20 as ClosedRange<UInt32>).map { number in
        (.snapshot, head { ($0.number, $0.threadCount) = (number, 100_000) } + threads)
      })
    let kept = reader.snapshots.reduce(0) { $0 + $1.threads.count }
    #expect(kept > 0 && kept * 160 <= 32 << 20 + 64 * reader.fileSize.rawValue)
    #expect(reader.diagnostics.first.contains { if case .implausibleSize = $0.kind { true } else { false } })
  }

  @Test func blocksOfImpossibleSizesAndAddressesAreReportedAsUsual() throws {
    let ends: [UInt64] = [
      1, 8, 4095, object - 1, object, object + 8, 1 << 63, .max - 8192, .max - 4096, .max - 4095, .max - 16, .max - 8,
      .max,
    ]
    for first in ends {
      for size in [0, 1, 16, 1 << 40, UInt64.max - 16, .max] {
        let reader = try reader(
          [
            (.snapshot, head { $0.staticTLSSize = .max }),
            (.memory, part(0, [(0, .max), (firstPage, first), (firstPage + 1, object), ((1 << 52) - 1, object)])),
            (.snapshotEnd, end(parts: 1, pages: 4, words: 4)),
          ],
          blocks: [(object + 4096, size), (first, .max), (object + 1, size)])
        let found = try analysis(reader)
        #expect(found.findings().reduce(0) { $0 + $1.instances } <= 3)
        _ = found.explain(.address(RuntimeAddress(first)), limit: 3)
        _ = found.explain(.type(NamePattern("malloc")), limit: 3)
      }
    }
  }
}
