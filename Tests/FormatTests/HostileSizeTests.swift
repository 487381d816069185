import Testing
import TraceTestSupport

@testable import TraceReading

/// Makes a chunk with arbitrary header fields and correct checksums.
func forgedChunk(
  kind: ChunkKind, thread: UInt32 = 1, sequence: UInt32 = 0, compression: UInt8, payload: [UInt8], rawSize: UInt32,
  firstTime: UInt64 = 0,
  eventCount: UInt64 = 0
) -> [UInt8] {
  let chunk = TraceChunk(
    kind: kind, thread: thread, sequence: sequence, firstTime: firstTime, lastTime: firstTime, eventCount: eventCount,
    compression: compression, storedSize: UInt32(payload.count), rawSize: rawSize, place: .trace(FileOffset(0)))
  var bytes = chunk.encodedHeader(payloadChecksum: payload.withUnsafeBytes { checksum($0) }) + payload
  bytes += Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
  return bytes
}

@Suite struct HostileSizeTests {
  private func kinds(_ chunk: [UInt8]) throws -> [TraceDiagnostic.Kind] {
    let reader = try TraceReader(bytes: TraceWriter().bytes + chunk)
    _ = CollectedEvents.of(reader)
    return reader.diagnostics.first.map(\.kind)
  }

  @Test func rawSizesBeyondTheLimitAreRefused() throws {
    for size in [UInt32(64 << 20) + 1, .max] {
      let found = try kinds(forgedChunk(kind: .events, compression: 1, payload: [1, 2, 3, 4], rawSize: size))
      #expect(found == [.implausibleSize(claimed: ByteCount(UInt64(size)), justified: ByteCount(4 * 32768))])
    }
  }

  @Test func rawSizesTooLargeForThePayloadAreRefused() throws {
    let found = try kinds(forgedChunk(kind: .definitions, compression: 1, payload: [1, 2, 3, 4], rawSize: 1 << 20))
    #expect(found == [.implausibleSize(claimed: ByteCount(1 << 20), justified: ByteCount(4 * 32768))])
  }

  @Test func plainPayloadOfTheWrongSizeIsReported() throws {
    let found = try kinds(forgedChunk(kind: .events, compression: 0, payload: [1, 2, 3, 4], rawSize: 5))
    #expect(found.count == 1)
  }

  @Test func payloadWithoutAZstdFrameIsReported() throws {
    let found = try kinds(forgedChunk(kind: .events, compression: 1, payload: Array("not a frame".utf8), rawSize: 10))
    guard case .undecompressable = found.first else {
      Issue.record("\(found)")
      return
    }
  }

  @Test func unknownCompressionsAreReportedAndUnknownKindsIgnored() throws {
    #expect(try kinds(forgedChunk(kind: .events, compression: 9, payload: [1], rawSize: 1)) == [.unknownCompression(9)])
    #expect(try kinds(forgedChunk(kind: .unknown(77), compression: 9, payload: [1], rawSize: 1)) == [])
  }

  @Test func simultaneousLargeClaimsOfThreadsAreRefused() throws {
    // Each thread has one event far in the future, and 1 MiB after it that compresses to almost nothing. So all
    // threads' chunks have to be open at the same time.
    let encoder = EventEncoder(stacks: StackTree())
    encoder.begin(firstTime: 0)
    encoder.advance(to: 1 << 40)
    encoder.append(TraceEvent(operation: .free, address: 0x10))
    var writer = TraceWriter()
    for thread in 1...400 as ClosedRange<UInt32> {
      try writer.append(
        kind: .events, thread: thread, payload: encoder.payload + Array(repeating: 0, count: 1 << 20), eventCount: 1)
    }
    #expect(writer.bytes.count < 100_000)
    let reader = try TraceReader(bytes: writer.bytes, policy: ReadingPolicy(isUntrusted: true))
    let events = CollectedEvents.of(reader)
    let refused = reader.diagnostics.first.filter { if case .beyondFileSize = $0.kind { true } else { false } }.count
    #expect(events.count + refused == 400)
    let budget = ReadingLimits(fileSize: UInt64(writer.bytes.count)).eventBytes
    #expect(events.count << 20 < budget && events.count > 10)
  }

  @Test func largeSequenceGapIsOneDiagnostic() throws {
    var writer = TraceWriter()
    try writer.append(kind: .events, thread: 3, payload: [], sequence: 2)
    try writer.append(kind: .events, thread: 3, payload: [], sequence: .max)
    let reader = try TraceReader(bytes: writer.bytes)
    #expect(
      reader.diagnostics.first.map(\.kind) == [
        .missingChunks(thread: 3, kind: .events, sequences: 0...1),
        .missingChunks(thread: 3, kind: .events, sequences: 3...(.max - 1)),
      ])
  }

  @Test func diagnosticsAreCountedAndKeptUpToALimit() throws {
    var bytes = TraceWriter().bytes
    for index in 0..<3000 as Range<UInt32> {
      bytes += forgedChunk(kind: .events, thread: 1, sequence: index, compression: 9, payload: [1], rawSize: 1)
    }
    let reader = try TraceReader(bytes: bytes)
    _ = CollectedEvents.of(reader)
    #expect(reader.diagnostics.count == 3000 && reader.diagnostics.first.count == TraceDiagnostics.limit)
  }
}
