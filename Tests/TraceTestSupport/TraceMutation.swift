// Makes traces with wrong contents, but correct checksums.

import CTraceFormat

@testable import TraceReading

/// Changes the contents of a trace under its checksums: splits chunks into records, changes, repeats, moves and drops
/// some of the records, and seals the chunks again. The same seed and input make the same trace.
package struct TraceMutation {
  private var random: SeededRandom

  package init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private struct Part {
    var chunk: TraceChunk
    var payload: [UInt8]
  }

  /// Returns a changed trace. Throws if the bytes are not a trace.
  package mutating func mutated(_ bytes: [UInt8]) throws -> [UInt8] {
    let reader = try TraceReader(bytes: bytes)
    let buffer = PayloadBuffer()
    var parts: [Part] = []
    for chunk in reader.chunks.prefix(Self.chunkLimit) where reader.loader.load(chunk, into: buffer) == nil {
      parts.append(Part(chunk: chunk, payload: Array(buffer.bytes)))
    }
    for _ in 0..<1 + below(4) where !parts.isEmpty { change(&parts) }
    var writer = TraceWriter(header: changed(reader.header))
    for part in parts where part.payload.count <= Self.payloadLimit {
      try writer.append(
        kind: part.chunk.kind, thread: part.chunk.thread, payload: part.payload, sequence: part.chunk.sequence,
        firstTime: part.chunk.firstTime,
        lastTime: part.chunk.lastTime, eventCount: part.chunk.eventCount, compression: random.oneIn(4) ? .none : .zstd)
    }
    return writer.bytes
  }

  private static let chunkLimit = 500
  /// The largest payload in bytes. Real recorders write at most this much into a chunk. The limit also keeps traces
  /// with many repetitions quick to read.
  private static let payloadLimit = 4 << 20

  private mutating func below(_ count: Int) -> Int { count <= 0 ? 0 : Int(random.next() % UInt64(count)) }

  /// Returns a number that may cause errors, or one that may be valid.
  private mutating func number() -> UInt64 {
    switch below(8) {
    case 0: 0
    case 1: .max
    case 2: UInt64(1) << UInt64(below(64))
    case 3: UInt64(1) << UInt64(below(64)) &- 1
    case 4: UInt64(Int64.max) &+ UInt64(below(3))
    case 5: UInt64(below(256))
    case 6: 0x5000_0000_0000 + UInt64(below(1 << 20)) * 8
    default: random.next()
    }
  }

  private mutating func changed(_ header: TraceHeader) -> TraceHeader {
    guard random.oneIn(8) else { return header }
    var header = header
    switch below(4) {
    case 0: header.ticksPerSecond = number()
    case 1: header.startTime = number()
    case 2: header.referenceCounting = [.withStacks, .countsOnly, .off, .unknown(9)][below(4)]
    default: header.processID = UInt32(truncatingIfNeeded: number())
    }
    return header
  }

  // MARK: Chunks

  private mutating func change(_ parts: inout [Part]) {
    let index = below(parts.count)
    switch below(12) {
    case 0: parts.remove(at: index)
    case 1:
      var copy = parts[index]
      copy.chunk.sequence &+= 1
      parts.insert(copy, at: below(parts.count + 1))
    case 2: parts.swapAt(index, below(parts.count))
    case 3: parts[index].chunk.firstTime = number()
    case 4: parts[index].chunk.thread = UInt32(truncatingIfNeeded: number())
    case 5: parts[index].chunk.sequence = UInt32(truncatingIfNeeded: number())
    case 6: parts[index].chunk.eventCount = number()
    default:
      switch parts[index].chunk.kind {
      case .definitions:
        changeRecords(&parts[index].payload, boundaries: Self.definitionBoundaries(parts[index].payload))
      case .events: changeRecords(&parts[index].payload, boundaries: Self.eventBoundaries(parts[index]))
      default: changeFields(&parts[index].payload)
      }
    }
  }

  /// Returns the offsets of the records in a definitions payload.
  private static func definitionBoundaries(_ payload: [UInt8]) -> [Int] {
    payload.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return [] }
      var cursor = ByteCursor(start, count: bytes.count)
      var boundaries: [Int] = []
      while cursor.remaining > 0 {
        boundaries.append(cursor.position - start)
        guard cursor.byte() != nil, let length = cursor.varint(), cursor.part(length) != nil else { break }
      }
      return boundaries
    }
  }

  /// Returns the offsets of the events in a part.
  private static func eventBoundaries(_ part: Part) -> [Int] {
    let buffer = PayloadBuffer()
    buffer.resize(part.payload.count)
    for (index, byte) in part.payload.enumerated() { buffer.start[index] = byte }
    let stacks = StackTree()
    var decoder = EventDecoder(stacks: stacks, marks: MarkTable(), referenceCounting: .withStacks, wanting: .none)
    defer { decoder.deallocate() }
    decoder.begin(buffer, firstTime: 0)
    var event = TraceEvent()
    var boundaries = [0]
    while case .event = decoder.next(&event), boundaries.count < 1 << 16 { boundaries.append(decoder.offset) }
    return boundaries
  }

  // MARK: Records

  private mutating func changeRecords(_ payload: inout [UInt8], boundaries: [Int]) {
    guard !boundaries.isEmpty, !payload.isEmpty else { return }
    let ends = boundaries + [payload.count]
    let first = below(boundaries.count)
    let last = min(boundaries.count - 1, first + below(8))
    let range =
      min(ends[first], payload.count)..<max(min(ends[first], payload.count), min(ends[last + 1], payload.count))
    switch below(7) {
    case 0: payload.removeSubrange(range)
    case 1:
      // A record is repeated very often, which shows whether it costs more than its bytes.
      let record = payload[range]
      guard !record.isEmpty else { return }
      let times = min(1 << below(17), Self.payloadLimit / record.count)
      payload.insert(contentsOf: Array((0..<times).map { _ in record }.joined()), at: range.upperBound)
    case 2: payload.insert(contentsOf: payload[range], at: boundaries[below(boundaries.count)])
    case 3:
      // A number replaces a byte in the record.
      guard !range.isEmpty else { return }
      var varint = ByteBuilder()
      varint.varint(number())
      let place = range.lowerBound + below(range.count)
      payload.replaceSubrange(place..<min(place + 1, payload.count), with: varint.bytes)
    case 4: payload.insert(contentsOf: pushes(), at: range.lowerBound)
    case 5: payload.removeLast(below(payload.count))
    default:
      guard !range.isEmpty else { return }
      payload[range.lowerBound + below(range.count)] = UInt8(truncatingIfNeeded: random.next())
    }
  }

  /// Returns events with explicit stack changes of all sizes.
  private mutating func pushes() -> [UInt8] {
    var bytes = ByteBuilder()
    for _ in 0...below(20) {
      bytes.byte([2, 1, 24, 36, 16][below(5)])
      bytes.byte(UInt8(below(64)))
      bytes.varint(UInt64(below(4)))
      let count = 1 << below(21)
      bytes.varint(UInt64(count))
      bytes.varint(UInt64(LT_TOKEN_LITERAL))
      bytes.zigzag(Int64(truncatingIfNeeded: number()))
      if count > 1 {
        bytes.varint(UInt64(LT_TOKEN_COPY))
        bytes.varint(UInt64(count - 1))
      }
    }
    return bytes.bytes
  }

  /// Changes a field of a struct, or a number after it.
  private mutating func changeFields(_ payload: inout [UInt8]) {
    guard payload.count >= 8 else { return }
    switch below(4) {
    case 0:
      let value = number()
      let place = below(payload.count / 8) * 8
      withUnsafeBytes(of: value.littleEndian) { payload.replaceSubrange(place..<place + 8, with: $0) }
    case 1:
      let value = UInt32(truncatingIfNeeded: number())
      let place = below(payload.count / 4) * 4
      withUnsafeBytes(of: value.littleEndian) { payload.replaceSubrange(place..<place + 4, with: $0) }
    case 2: payload.removeLast(below(payload.count))
    default: payload[below(payload.count)] = UInt8(truncatingIfNeeded: random.next())
    }
  }
}
