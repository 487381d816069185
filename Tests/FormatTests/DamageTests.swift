import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

/// Reads all contents of a trace, as a command does.
@discardableResult
func readAll(
  _ bytes: [UInt8], live: [UInt8]? = nil, in tree: StackTree = StackTree()
) -> (events: [TraceEvent], diagnostics: Int)? {
  guard let reader = try? TraceReader(bytes: bytes, liveBytes: live) else { return nil }
  let events = CollectedEvents.of(reader, in: tree)
  for stack in 0..<min(50, reader.definitions.stacks.nodeCount) {
    _ = reader.definitions.stacks.path(of: StackID(UInt32(stack)))
  }
  let walker = ChunkWalker(reader)
  for index in reader.chunks.indices {
    walker.definitions(inChunk: index) { _, _ in }
    _ = walker.events(inChunk: index) { _ in }
    _ = walker.closing(inChunk: index)
  }
  return (events, reader.diagnostics.count)
}

/// Returns a small trace of two threads that contains every kind of record.
func sampleTrace(compression: TraceWriter.Compression, seed: UInt64 = 1) throws -> [UInt8] {
  var heap = RandomHeap(seed: seed)
  heap.threads = 2
  heap.events = 120
  heap.sites = 4
  heap.liveBlocks = 20
  var (builder, _) = heap.build()
  builder.definitions += [
    .memory(MemorySample(time: 900, resident: 5000, recorder: 1000, peakResident: 6000)),
    .clock(ClockSample(time: 1, monotonic: 1)),
    .process(ProcessRecord(executable: "/app", flags: 1)), .pause(PauseRecord(begins: true, time: 5)),
    .thread(ThreadRecord(thread: 1, osThread: 77, time: 800)), .warning("careful"),
    .imageUnloaded(first: RuntimeAddress(0x40_0000), end: RuntimeAddress(0x50_0000), time: 10),
  ]
  builder.eventsPerChunk = 30
  builder.compression = compression
  builder.closing = TraceClosing(reason: .exit, waitStatus: 0, time: 5000, eventCount: 120)
  return try builder.bytes()
}

@Suite struct DamageTests {
  @Test(arguments: [TraceWriter.Compression.none, .zstd])
  func traceCutAtAnyByteKeepsAPrefixOfEachThread(compression: TraceWriter.Compression) throws {
    let bytes = try sampleTrace(compression: compression)
    let tree = StackTree()
    let whole = try #require(readAll(bytes, in: tree))
    #expect(whole.events.count == 120 && whole.diagnostics == 0)
    var all: [UInt32: [TraceEvent]] = [:]
    for event in whole.events { all[event.thread, default: []].append(event.content) }
    var most = 0
    for length in 0..<bytes.count {
      guard let part = readAll(Array(bytes.prefix(length)), in: tree) else {
        #expect(length < 4096)
        continue
      }
      #expect(length >= 4096)
      for thread in all.keys {
        let events = part.events.filter { $0.thread == thread }.map(\.content)
        #expect(events == Array(all[thread]!.prefix(events.count)))
      }
      #expect(part.events.count >= most)
      most = part.events.count
    }
    #expect(most == 120)
  }

  @Test func truncatedHeaderIsReported() throws {
    let bytes = try sampleTrace(compression: .none)
    #expect(throws: TraceFormatError.truncatedHeader(size: ByteCount(100))) {
      try TraceReader(bytes: Array(bytes.prefix(100)))
    }
    #expect(throws: TraceFormatError.truncatedHeader(size: ByteCount(4095))) {
      try TraceReader(bytes: Array(bytes.prefix(4095)))
    }
    #expect(throws: TraceFormatError.notATrace(firstBytes: [])) { try TraceReader(bytes: []) }
  }

  @Test(arguments: TestTier.seeds(0..<20))
  func flippedBitsNeverCrashTheReader(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let bytes = try sampleTrace(compression: seed % 2 == 0 ? .none : .zstd)
    for _ in 0..<200 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        damaged[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8(random.next() % 8)
      }
      if let result = readAll(damaged) { #expect(result.events.count <= 120) }
    }
  }

  /// Makes changes that checksums do not detect, as a forger can: inside payloads, with new headers.
  @Test(arguments: TestTier.seeds(0..<20))
  func flippedBitsUnderValidChecksumsNeverCrashTheReader(seed: UInt64) throws {
    var random = SeededRandom(seed: seed &+ 1000)
    let reader = try TraceReader(bytes: sampleTrace(compression: .none, seed: seed))
    let buffer = PayloadBuffer()
    for _ in 0..<100 {
      var writer = TraceWriter(header: reader.header)
      for chunk in reader.chunks {
        #expect(reader.loader.load(chunk, into: buffer) == nil)
        var payload = Array(buffer.bytes)
        for _ in 0..<Int.random(in: 0...5, using: &random) where !payload.isEmpty {
          payload[Int.random(in: payload.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
        }
        try writer.append(
          kind: chunk.kind, thread: chunk.thread, payload: payload, sequence: chunk.sequence,
          firstTime: chunk.firstTime,
          lastTime: chunk.lastTime, eventCount: chunk.eventCount, compression: random.oneIn(2) ? .none : .zstd)
      }
      #expect(readAll(writer.bytes) != nil)
    }
  }

  @Test func damagedChunkIsSkippedAndReportedWithItsOffset() throws {
    let bytes = try sampleTrace(compression: .none)
    let reader = try TraceReader(bytes: bytes)
    let victim = try #require(reader.chunks.firstIndex { $0.kind == .events && $0.thread == 1 })
    guard case .trace(let offset) = reader.chunks[victim].place else { return }
    var damaged = bytes
    damaged[Int(offset.rawValue) + 60] ^= 4
    let result = try TraceReader(bytes: damaged)
    #expect(result.chunks.count == reader.chunks.count - 1)
    let places = result.diagnostics.first.map(\.place)
    #expect(places.contains(.trace(offset)))
    #expect(
      result.diagnostics.first.contains {
        $0.kind == .missingChunks(thread: 1, kind: .events, sequences: 0...0)
      })
  }

  @Test func traceThatEndsInsideAChunkIsReportedAsTruncated() throws {
    let bytes = try sampleTrace(compression: .none)
    for chunk in try TraceReader(bytes: bytes).chunks {
      guard case .trace(let offset) = chunk.place else { continue }
      let payload = Int(offset.rawValue) + TraceChunk.headerSize
      let result = try TraceReader(bytes: Array(bytes.prefix(payload + 1)))
      let expected = ByteCount(UInt64(chunk.storedSize))
      #expect(
        result.diagnostics.first.contains {
          $0.kind == .truncatedChunk(present: ByteCount(1), expected: expected) && $0.place == .trace(offset)
        })
    }
  }

  @Test func damagedChunkHeaderIsSkipped() throws {
    let bytes = try sampleTrace(compression: .zstd)
    let reader = try TraceReader(bytes: bytes)
    for (index, chunk) in reader.chunks.enumerated() {
      guard case .trace(let offset) = chunk.place else { continue }
      // The stored size is made huge.
      var damaged = bytes
      for byte in 8..<12 { damaged[Int(offset.rawValue) + byte] = 0xFF }
      let result = try TraceReader(bytes: damaged)
      #expect(result.chunks.count == reader.chunks.count - 1, "chunk \(index)")
      #expect(
        result.diagnostics.first.contains {
          if case .unreadableBytes = $0.kind { $0.place == .trace(offset) } else { false }
        })
    }
  }

  @Test func gapsOfZerosAreNotDamage() throws {
    let bytes = try sampleTrace(compression: .none)
    let first =
      Array(bytes.prefix(4096)) + Array(repeating: 0, count: 4096) + Array(bytes.dropFirst(4096))
      + Array(repeating: 0, count: 100)
    let result = try #require(readAll(first))
    #expect(result.events.count == 120 && result.diagnostics == 0)
  }

  @Test(arguments: [0, 4096, 16384, 65536] as [UInt32])
  func pageSizeOfTheTracedProgramIsRead(pageSize: UInt32) throws {
    var header = TraceHeader()
    header.pageSize = pageSize
    #expect(try TraceHeader(decoding: header.encoded()).pageSize == (pageSize == 0 ? 4096 : pageSize))
  }

  @Test(arguments: [1, 3, 4095, 8192, 32768, 65537, 1 << 30, .max] as [UInt32])
  func impossiblePageSizesAreRefused(pageSize: UInt32) throws {
    var header = TraceHeader()
    header.pageSize = pageSize
    #expect(
      throws: TraceFormatError.implausibleHeader(field: "pageSize", value: UInt64(pageSize), offset: FileOffset(20))
    ) {
      try TraceHeader(decoding: header.encoded())
    }
  }

  @Test func otherFilesAreRefused() throws {
    var bytes = try sampleTrace(compression: .none)
    #expect(throws: TraceFormatError.notATrace(firstBytes: Array("hello wo".utf8))) {
      try TraceReader(bytes: Array("hello world".utf8))
    }
    #expect(throws: TraceFormatError.isLiveFile) { try TraceReader(bytes: LiveFileBuilder(traceID: 1).bytes) }
    let version = TraceHeader().version
    // The newest version is for recordings that delete old images.
    let newest = version + 2
    bytes[8] += 3
    #expect(throws: TraceFormatError.newerVersion(found: newest + 1, known: newest)) { try TraceReader(bytes: bytes) }
    bytes[8] -= 3
    var older = TraceHeader()
    older.version = version - 1
    #expect(throws: TraceFormatError.olderVersion(found: version - 1, oldest: version)) {
      try TraceHeader(decoding: older.encoded())
    }
    bytes[40] ^= 1
    #expect {
      try TraceReader(bytes: bytes)
    } throws: { error in
      if case TraceFormatError.damagedHeader = error { true } else { false }
    }
  }
}
