// Finding the sound chunks of a trace file, even after damage.

import CTraceFormat

/// Visits a file's chunks once from front to back, and verifies every checksum. Linear in the file. Keeps only a window
/// of the file in memory.
struct ChunkScanner {
  private let source: ByteSource
  private var window = [UInt8](repeating: 0, count: 1 << 18)
  private var windowStart: UInt64 = 0
  private var windowCount = 0
  private(set) var chunks: [TraceChunk] = []
  private(set) var diagnostics: [TraceDiagnostic] = []
  private(set) var voidCount = 0
  /// Chunks with a sound header but an incomplete or damaged payload, by the index of their diagnostic.
  private(set) var torn: [Int: TraceChunk] = [:]

  /// The number of further payload bytes that may be checksummed without finding a sound chunk. Damaged chunks may
  /// overlap, so the total may exceed the file's size.
  private var spareBytes: UInt64

  init(source: ByteSource, damageLimit: UInt64) { (self.source, spareBytes) = (source, damageLimit) }

  mutating func scan() {
    let alignment = UInt64(LT_CHUNK_ALIGNMENT)
    var offset = UInt64(LT_TRACE_HEADER_SIZE)
    var damageStart: UInt64?
    func endOfDamage(_ here: UInt64, _ diagnostics: inout [TraceDiagnostic]) {
      guard let start = damageStart else { return }
      damageStart = nil
      // A hostile file must not fill the memory with diagnostics. `TraceDiagnostics` keeps at most `limit` of them.
      guard diagnostics.count <= TraceDiagnostics.limit else { return }
      diagnostics.append(.init(.unreadableBytes(skipped: ByteCount(here - start)), at: .trace(FileOffset(start))))
    }
    while offset < source.size {
      let rest = source.size - offset
      guard rest >= 8 else {
        if damageStart == nil, !isZero(at: offset, count: Int(rest)) { damageStart = offset }
        break
      }
      guard load(offset, 8) else {
        diagnostics.append(.init(.readFailed(errno: 5), at: .trace(FileOffset(offset))))
        break
      }
      let word = word(at: offset)
      if word == 0 {
        // Zeros are a gap between chunks, or a part of the current damage.
        offset += alignment
        continue
      }
      guard UInt32(truncatingIfNeeded: word) == UInt32(LT_CHUNK_MAGIC) else {
        if damageStart == nil { damageStart = offset }
        offset += alignment
        continue
      }
      guard rest >= UInt64(TraceChunk.headerSize), load(offset, TraceChunk.headerSize) else {
        endOfDamage(offset, &diagnostics)
        if diagnostics.count <= TraceDiagnostics.limit {
          diagnostics.append(
            .init(
              .truncatedChunk(present: ByteCount(rest), expected: ByteCount(UInt64(TraceChunk.headerSize))),
              at: .trace(FileOffset(offset))))
        }
        return
      }
      let start = Int(offset - windowStart)
      let header = window.withUnsafeBytes { bytes -> (TraceChunk, UInt32)? in
        let pointer = bytes.baseAddress! + start
        guard let chunk = TraceChunk(header: pointer, offset: offset) else { return nil }
        return (chunk, pointer.loadUnaligned(fromByteOffset: 48, as: UInt32.self))
      }
      guard let (chunk, expected) = header else {
        if damageStart == nil { damageStart = offset }
        offset += alignment
        continue
      }
      endOfDamage(offset, &diagnostics)
      let payload = offset + UInt64(TraceChunk.headerSize)
      if chunk.kind == .void {
        voidCount += 1
        let end = payload + UInt64(chunk.storedSize)
        offset = end + (alignment - end % alignment) % alignment
        continue
      }
      let present = source.size - payload
      let mayRemark = diagnostics.count <= TraceDiagnostics.limit
      if present < UInt64(chunk.storedSize) {
        if mayRemark {
          torn[diagnostics.count] = chunk
          diagnostics.append(
            .init(
              .truncatedChunk(present: ByteCount(present), expected: ByteCount(UInt64(chunk.storedSize))),
              at: .trace(FileOffset(offset))))
        }
        // The header is sound, so the bytes after it are its torn payload. But there may also be a later chunk among
        // them.
        offset = payload
        damageStart = nil
        skipToNextSoundHeader(&offset)
        continue
      }
      guard UInt64(chunk.storedSize) <= spareBytes else {
        damageStart = offset
        break
      }
      let found = payloadChecksum(at: payload, count: UInt64(chunk.storedSize))
      if found != expected { spareBytes -= UInt64(chunk.storedSize) }
      if found == expected {
        chunks.append(chunk)
        let end = payload + UInt64(chunk.storedSize)
        offset = end + (alignment - end % alignment) % alignment
      } else {
        if mayRemark {
          torn[diagnostics.count] = chunk
          diagnostics.append(.init(.damagedPayload(expected: expected, found: found), at: .trace(FileOffset(offset))))
        }
        // Either some bytes of the payload are wrong, or some are missing. In the latter case, the next header is
        // inside the stated length, so search from the payload's start.
        offset = payload
        skipToNextSoundHeader(&offset)
      }
    }
    endOfDamage(source.size, &diagnostics)
  }

  /// Moves `offset` to the next sound header or the end.
  private mutating func skipToNextSoundHeader(_ offset: inout UInt64) {
    let size = UInt64(TraceChunk.headerSize)
    while offset < source.size, source.size - offset >= size {
      guard load(offset, TraceChunk.headerSize) else { break }
      let isHeader = window.withUnsafeBytes { bytes in
        TraceChunk(header: bytes.baseAddress! + Int(offset - windowStart), offset: offset) != nil
      }
      if isHeader { return }
      offset += UInt64(LT_CHUNK_ALIGNMENT)
    }
    offset = source.size
  }

  /// Loads `count` bytes from `offset` on into the window. Returns false if the source has fewer.
  private mutating func load(_ offset: UInt64, _ count: Int) -> Bool {
    if offset >= windowStart, offset - windowStart <= UInt64(windowCount),
      UInt64(windowCount) - (offset - windowStart) >= UInt64(count)
    {
      return true
    }
    windowStart = offset
    windowCount = window.withUnsafeMutableBytes { source.read(at: offset, into: $0) }
    return windowCount >= count
  }

  private func word(at offset: UInt64) -> UInt64 {
    window.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: Int(offset - windowStart), as: UInt64.self) }
  }

  private mutating func isZero(at offset: UInt64, count: Int) -> Bool {
    guard load(offset, count) else { return true }
    let start = Int(offset - windowStart)
    return window[start..<start + count].allSatisfy { $0 == 0 }
  }

  private mutating func payloadChecksum(at offset: UInt64, count: UInt64) -> UInt32 {
    var sum: UInt32 = 0
    var position = offset
    var rest = count
    while rest > 0 {
      guard load(position, 1) else { return ~sum }
      let start = Int(position - windowStart)
      let step = min(windowCount - start, Int(rest))
      sum = window.withUnsafeBytes {
        checksum(UnsafeRawBufferPointer(rebasing: $0[start..<start + step]), continuing: sum)
      }
      position += UInt64(step)
      rest -= UInt64(step)
    }
    return sum
  }
}
