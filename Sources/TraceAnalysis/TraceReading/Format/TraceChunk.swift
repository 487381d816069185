// A chunk of a trace: its writer, its place, and the contents that it claims.

import CTraceFormat

package enum ChunkKind: Hashable, Sendable {
  case definitions, events, closing
  /// A heap image: its beginning, its pages, its end.
  case snapshot, memory, snapshotEnd
  /// The blocks that there were at an image, beside the events.
  case blocks
  /// Space that held chunks which were taken back. Its payload means nothing.
  case void
  /// Parts of files that names are read from, and the list of those files.
  case fileParts, names
  case unknown(UInt16)

  init(rawValue: UInt16) {
    switch Int(rawValue) {
    case Int(LT_CHUNK_DEFINITIONS): self = .definitions
    case Int(LT_CHUNK_EVENTS): self = .events
    case Int(LT_CHUNK_CLOSING): self = .closing
    case Int(LT_CHUNK_SNAPSHOT): self = .snapshot
    case Int(LT_CHUNK_MEMORY): self = .memory
    case Int(LT_CHUNK_SNAPSHOT_END): self = .snapshotEnd
    case Int(LT_CHUNK_BLOCKS): self = .blocks
    case Int(LT_CHUNK_VOID): self = .void
    case Int(LT_CHUNK_FILE_PARTS): self = .fileParts
    case Int(LT_CHUNK_NAMES): self = .names
    default: self = .unknown(rawValue)
    }
  }

  var rawValue: UInt16 {
    switch self {
    case .definitions: UInt16(LT_CHUNK_DEFINITIONS)
    case .events: UInt16(LT_CHUNK_EVENTS)
    case .closing: UInt16(LT_CHUNK_CLOSING)
    case .snapshot: UInt16(LT_CHUNK_SNAPSHOT)
    case .memory: UInt16(LT_CHUNK_MEMORY)
    case .snapshotEnd: UInt16(LT_CHUNK_SNAPSHOT_END)
    case .blocks: UInt16(LT_CHUNK_BLOCKS)
    case .void: UInt16(LT_CHUNK_VOID)
    case .fileParts: UInt16(LT_CHUNK_FILE_PARTS)
    case .names: UInt16(LT_CHUNK_NAMES)
    case .unknown(let n): n
    }
  }

  package var name: String {
    switch self {
    case .definitions: "definitions"
    case .events: "events"
    case .closing: "closing"
    case .snapshot: "snapshot"
    case .memory: "memory"
    case .snapshotEnd: "snapshot end"
    case .blocks: "blocks"
    case .void: "void"
    case .fileParts: "file parts"
    case .names: "names"
    case .unknown(let n): "kind \(n)"
    }
  }
}

/// A chunk whose header and stored payload have sound checksums, or a payload of the live file.
package struct TraceChunk: Hashable, Sendable {
  package var kind: ChunkKind
  /// The writing thread's number, from 1; 0 for the process.
  package var thread: UInt32
  /// Counts the chunks of this thread and kind.
  package var sequence: UInt32
  /// Ticks.
  package var firstTime: UInt64
  package var lastTime: UInt64
  /// The count in its header.
  package var eventCount: UInt64
  /// 0 none, 1 zstd; others cannot be read.
  package var compression: UInt8
  package var storedSize: UInt32
  package var rawSize: UInt32
  /// The place of the header in the trace, or of the slot in the live file.
  package var place: TraceDiagnostic.Place
  /// Index into the payloads kept from the live file.
  var livePayload: Int?
  /// Its payload is not read: with it, the trace would exceed the limits for its file's size.
  var isRefused = false
}

extension TraceChunk {
  /// The thread number of lists of blocks.
  static let threadOfLists = UInt32(LT_THREAD_OF_LISTS)
  static let headerSize = MemoryLayout<lt_chunk_header>.size
  static let maximumRawSize = UInt64(LT_CHUNK_MAX_RAW)

  /// Returns the most that a payload of `storedSize` bytes can decompress to: a zstd block of 128 KiB takes 4 bytes at
  /// least, and a loop that retains and releases one object is recorded as a row of equal bytes, which comes close to
  /// that. So nothing honest is refused. Other limits hold for all chunks together (`ReadingLimits`), for those open at
  /// a time (`EventMerger`), and for the definitions kept (`DefinitionCollector`).
  static func justifiedRawSize(storedSize: UInt32) -> UInt64 {
    min(maximumRawSize, UInt64(storedSize) * 32768)
  }

  /// Bytes that its payload may take when it is read.
  var plausibleRawSize: UInt64 { min(UInt64(rawSize), Self.justifiedRawSize(storedSize: storedSize)) }

  /// Nil unless the 56 bytes are a header with a sound checksum.
  init?(header bytes: UnsafeRawPointer, offset: UInt64) {
    let raw = bytes.loadUnaligned(as: lt_chunk_header.self)
    guard raw.magic == UInt32(LT_CHUNK_MAGIC) else { return nil }
    guard checksum(UnsafeRawBufferPointer(start: bytes, count: 52)) == raw.headerChecksum else { return nil }
    kind = ChunkKind(rawValue: raw.kind)
    thread = raw.thread
    sequence = raw.sequence
    firstTime = raw.firstTime
    lastTime = raw.lastTime
    eventCount = raw.eventCount
    compression = raw.compression
    storedSize = raw.storedSize
    rawSize = raw.rawSize
    place = .trace(FileOffset(offset))
  }

  /// The 56 bytes before a payload with the given checksum.
  func encodedHeader(payloadChecksum: UInt32) -> [UInt8] {
    var raw = lt_chunk_header()
    raw.magic = UInt32(LT_CHUNK_MAGIC)
    raw.kind = kind.rawValue
    raw.compression = compression
    raw.storedSize = storedSize
    raw.rawSize = rawSize
    raw.thread = thread
    raw.sequence = sequence
    raw.firstTime = firstTime
    raw.lastTime = lastTime
    raw.eventCount = eventCount
    raw.payloadChecksum = payloadChecksum
    raw.headerChecksum = withUnsafeBytes(of: raw) { checksum(UnsafeRawBufferPointer(rebasing: $0[0..<52])) }
    return rawBytes(of: raw)
  }
}
