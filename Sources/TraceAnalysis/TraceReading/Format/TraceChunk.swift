// A chunk of a trace: its kind, its place, and the sizes in its header.

import CTraceFormat

package enum ChunkKind: Hashable, Sendable {
  case definitions, events, closing
  /// The beginning, the pages, and the end of a heap image.
  case snapshot, memory, snapshotEnd
  /// The list of blocks at an image, besides the events.
  case blocks
  /// The space of chunks that the recorder deleted. Its payload is meaningless.
  case void
  /// Parts of the program's files for the look-up of names, and the list of these files.
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
  /// The number of the thread that wrote the chunk, from 1; 0 for the process.
  package var thread: UInt32
  /// The number of the chunk among the chunks of this thread and kind, from 0.
  package var sequence: UInt32
  /// Ticks.
  package var firstTime: UInt64
  package var lastTime: UInt64
  /// The number of events in the chunk, by its header.
  package var eventCount: UInt64
  /// 0: none. 1: zstd. Payloads with other values cannot be read.
  package var compression: UInt8
  package var storedSize: UInt32
  package var rawSize: UInt32
  /// The place of the header in the trace, or of the slot in the live file.
  package var place: TraceDiagnostic.Place
  /// The index of the payload among the payloads of the live file; nil for a chunk of the trace.
  var livePayload: Int?
  /// True if the payload is not read, because the trace would exceed the limits for its size.
  var isRefused = false
}

extension TraceChunk {
  /// The thread number of chunks that list an image's blocks.
  static let threadOfLists = UInt32(LT_THREAD_OF_LISTS)
  static let headerSize = MemoryLayout<lt_chunk_header>.size
  static let maximumRawSize = UInt64(LT_CHUNK_MAX_RAW)

  /// Returns the largest size that a payload of `storedSize` bytes can decompress to. A zstd block of 128 KiB takes at
  /// least 4 bytes. A loop that retains and releases one object comes close to this, because it is recorded as equal
  /// bytes. So no payload of a recorder is refused. There are further limits for all chunks together (`ReadingLimits`),
  /// for chunks that are open at the same time (`EventMerger`), and for the definitions that are kept
  /// (`DefinitionCollector`).
  static func justifiedRawSize(storedSize: UInt32) -> UInt64 {
    min(maximumRawSize, UInt64(storedSize) * 32768)
  }

  /// The most bytes that the payload can take when it is read.
  var plausibleRawSize: UInt64 { min(UInt64(rawSize), Self.justifiedRawSize(storedSize: storedSize)) }

  /// Decodes 56 bytes. Nil if they are not a chunk header with a sound checksum.
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
