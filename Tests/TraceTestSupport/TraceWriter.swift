// Writes traces as the recorder does, for tests and for tools that make traces.

import CTraceFormat

@testable import TraceReading

/// Builds the bytes of a trace in memory, chunk by chunk. Not thread-safe.
package struct TraceWriter {
  package typealias Compression = SealedChunk.Compression

  /// The bytes of the trace so far.
  package private(set) var bytes: [UInt8]
  private let header: TraceHeader
  private var sequences: [UInt64: UInt32] = [:]

  /// Begins a trace with an empty status block.
  package init(header: TraceHeader = TraceHeader()) {
    self.header = header
    bytes = header.encoded()
    bytes.append(contentsOf: repeatElement(0, count: Int(LT_TRACE_HEADER_SIZE) - bytes.count))
  }

  /// Returns the next sequence number for a thread's chunks of one kind.
  private mutating func nextSequence(_ kind: ChunkKind, _ thread: UInt32) -> UInt32 {
    let key = UInt64(thread) << 16 | UInt64(kind.rawValue)
    let sequence = sequences[key, default: 0]
    sequences[key] = sequence &+ 1
    return sequence
  }

  /// Appends a chunk with the thread's next sequence number, or with the given one.
  package mutating func append(
    kind: ChunkKind, thread: UInt32, payload: [UInt8], sequence: UInt32? = nil, firstTime: UInt64 = 0,
    lastTime: UInt64 = 0,
    eventCount: UInt64 = 0, compression: Compression = .zstd
  ) throws(TraceFormatError) {
    if let sequence { sequences[UInt64(thread) << 16 | UInt64(kind.rawValue)] = sequence &+ 1 }
    let number = sequence ?? nextSequence(kind, thread)
    var chunk = TraceChunk(
      kind: kind, thread: thread, sequence: number, firstTime: firstTime, lastTime: lastTime, eventCount: eventCount,
      compression: 0,
      storedSize: 0, rawSize: UInt32(payload.count), place: .trace(FileOffset(0)))
    bytes.append(contentsOf: try SealedChunk.encode(&chunk, payload: payload, compression: compression))
  }

  /// Appends an encoder's payload as a chunk of `thread`.
  package mutating func append(
    _ encoder: EventEncoder, thread: UInt32, firstTime: UInt64, compression: Compression = .zstd
  ) throws(TraceFormatError) {
    try append(
      kind: .events, thread: thread, payload: encoder.payload, firstTime: firstTime, lastTime: encoder.time,
      eventCount: encoder.eventCount,
      compression: compression)
  }

  /// Appends definitions as one chunk.
  package mutating func append(
    _ definitions: [Definition], thread: UInt32 = 0, compression: Compression = .zstd
  ) throws(TraceFormatError) {
    try append(kind: .definitions, thread: thread, payload: definitions.flatMap(\.encoded), compression: compression)
  }

  /// Appends a heap image in parts of `pagesPerPart` pages each, and the image's end record.
  package mutating func append(
    _ snapshot: TraceSnapshot, words: [(address: UInt64, value: UInt64)], pagesPerPart: Int = 1024,
    compression: Compression = .zstd
  ) throws(TraceFormatError) {
    func put(_ kind: ChunkKind, _ payload: [UInt8]) throws(TraceFormatError) {
      try append(
        kind: kind, thread: 0, payload: payload, firstTime: snapshot.time, lastTime: snapshot.time,
        compression: compression)
    }
    try put(.snapshot, snapshot.encoded())
    let pages = Dictionary(grouping: words, by: { $0.address >> 12 }).sorted { $0.key < $1.key }
    var part: UInt32 = 0
    var rest = pages[...]
    while !rest.isEmpty {
      var payload = ByteBuilder()
      payload.bytes = rawBytes(of: lt_memory_part(snapshot: snapshot.number, part: part))
      var lastPage: UInt64 = 0
      var lastValue: UInt64 = 0
      for (page, words) in rest.prefix(pagesPerPart) {
        payload.varint(page - lastPage)
        lastPage = page
        var bitmap = [UInt8](repeating: 0, count: 64)
        for word in words { bitmap[Int(word.address >> 3 & 511) / 8] |= 1 << UInt8(word.address >> 3 & 7) }
        payload.bytes += bitmap
        for word in words.sorted(by: { $0.address < $1.address }) {
          payload.zigzag(Int64(bitPattern: word.value &- lastValue))
          lastValue = word.value
        }
      }
      try put(.memory, payload.bytes)
      rest = rest.dropFirst(pagesPerPart)
      part += 1
    }
    if let end = snapshot.end {
      try put(
        .snapshotEnd,
        rawBytes(
          of: lt_snapshot_end(
            number: snapshot.number, error: end.error, partCount: part, unreadablePages: end.unreadablePages,
            pageCount: UInt64(pages.count),
            wordCount: UInt64(words.count),
            capturedBytes: end.capturedBytes, pauseNanoseconds: end.pauseNanoseconds,
            totalNanoseconds: end.totalNanoseconds)))
    }
  }

  /// Appends the closing record.
  package mutating func append(_ closing: TraceClosing) throws(TraceFormatError) {
    try append(kind: .closing, thread: 0, payload: closing.encoded(), compression: .none)
  }
}
