// Decompressed payloads, in memory that is reused.

import CZstd

/// Owns bytes and, after them, `padding` zero bytes. So a decoder may read a whole record beyond the end before it
/// checks for the end. For one thread at a time.
package final class PayloadBuffer {
  /// The number of zero bytes. It exceeds the longest event record: a tag, an address code and five varints.
  package static let padding = 64

  package private(set) var start: UnsafeMutablePointer<UInt8>
  package private(set) var count = 0
  private(set) var capacity: Int

  package init() {
    capacity = Self.padding
    start = .allocate(capacity: capacity)
    start.initialize(repeating: 0, count: capacity)
  }

  deinit { start.deallocate() }

  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  /// Makes room for `count` bytes. Their content is undefined.
  func resize(_ count: Int) {
    if count + Self.padding > capacity {
      start.deallocate()
      capacity = count + Self.padding
      start = .allocate(capacity: capacity)
    }
    self.count = count
    (start + count).initialize(repeating: 0, count: Self.padding)
  }
}

/// Reads and decompresses the payloads of one trace. Reuses its buffers. For one thread at a time.
package final class PayloadLoader {
  private let source: ByteSource
  private let livePayloads: [LivePayload]
  private let context = ZSTD_createDCtx()
  private let stored = PayloadBuffer()
  /// Called with each chunk of events before the chunk is read.
  var willLoadEvents: ((TraceChunk) -> Void)?

  init(source: ByteSource, livePayloads: [LivePayload]) {
    self.source = source
    self.livePayloads = livePayloads
  }

  deinit { ZSTD_freeDCtx(context) }

  /// Fills `buffer` with the payload of `chunk`. On failure the buffer is empty and the reason is returned.
  /// Allocates no more than `TraceChunk.justifiedRawSize`.
  package func load(_ chunk: TraceChunk, into buffer: PayloadBuffer) -> TraceDiagnostic.Kind? {
    if let willLoadEvents, chunk.kind == .events { willLoadEvents(chunk) }
    buffer.resize(0)
    if chunk.isRefused { return .beyondFileSize(claimed: ByteCount(chunk.plausibleRawSize)) }
    if let index = chunk.livePayload {
      let bytes = livePayloads[index].bytes
      buffer.resize(bytes.count)
      bytes.withUnsafeBytes {
        UnsafeMutableRawPointer(buffer.start).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
      }
      return nil
    }
    guard case .trace(let offset) = chunk.place else { return .undecompressable(reason: "it has no place in the file") }
    let payload = offset.rawValue + UInt64(TraceChunk.headerSize)
    switch chunk.compression {
    case 0:
      guard chunk.rawSize == chunk.storedSize else {
        return .undecompressable(
          reason: "it is stored plain in \(chunk.storedSize) bytes but said to be \(chunk.rawSize)")
      }
      guard UInt64(chunk.rawSize) <= TraceChunk.maximumRawSize else {
        return .implausibleSize(
          claimed: ByteCount(UInt64(chunk.rawSize)), justified: ByteCount(TraceChunk.maximumRawSize))
      }
      return read(Int(chunk.storedSize), at: payload, into: buffer)
    case 1:
      let justified = TraceChunk.justifiedRawSize(storedSize: chunk.storedSize)
      guard UInt64(chunk.rawSize) <= justified else {
        return .implausibleSize(claimed: ByteCount(UInt64(chunk.rawSize)), justified: ByteCount(justified))
      }
      if let failure = read(Int(chunk.storedSize), at: payload, into: stored) { return failure }
      let content = ZSTD_getFrameContentSize(stored.start, stored.count)
      // The two highest values mean "unknown" and "no frame".
      if content < UInt64.max - 1 && content != UInt64(chunk.rawSize) {
        return .undecompressable(reason: "its frame holds \(content) bytes but is said to hold \(chunk.rawSize)")
      }
      if content == UInt64.max - 1 { return .undecompressable(reason: "it is not a zstd frame") }
      buffer.resize(Int(chunk.rawSize))
      let result = ZSTD_decompressDCtx(context, buffer.start, buffer.count, stored.start, stored.count)
      if ZSTD_isError(result) != 0 {
        buffer.resize(0)
        return .undecompressable(reason: String(cString: ZSTD_getErrorName(result)))
      }
      if result != buffer.count {
        buffer.resize(0)
        return .undecompressable(reason: "it has \(result) bytes but is said to have \(chunk.rawSize)")
      }
      return nil
    default:
      return .unknownCompression(chunk.compression)
    }
  }

  private func read(_ count: Int, at offset: UInt64, into buffer: PayloadBuffer) -> TraceDiagnostic.Kind? {
    guard offset <= source.size, UInt64(count) <= source.size - offset else {
      return .undecompressable(reason: "it is cut off")
    }
    buffer.resize(count)
    let found = source.read(at: offset, into: UnsafeMutableRawBufferPointer(start: buffer.start, count: count))
    if found == count { return nil }
    buffer.resize(0)
    return .readFailed(errno: 5)
  }
}
