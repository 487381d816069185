// Encoding chunks for a file.

import CTraceFormat
import CZstd

/// Encodes chunks in the form that they have in a file.
package enum SealedChunk {
  package enum Compression: Hashable, Sendable { case none, zstd }

  /// Returns the header, the stored payload, and zeros up to the next multiple of 8. Sets the chunk's sizes and
  /// compression.
  static func encode(
    _ chunk: inout TraceChunk, payload: [UInt8], compression: Compression
  ) throws(TraceFormatError) -> [UInt8] {
    var stored = payload
    chunk.compression = 0
    if compression == .zstd {
      stored = try compressed(payload)
      chunk.compression = 1
    }
    chunk.rawSize = UInt32(payload.count)
    chunk.storedSize = UInt32(stored.count)
    var result = chunk.encodedHeader(payloadChecksum: stored.withUnsafeBytes { checksum($0) })
    result.append(contentsOf: stored)
    let alignment = Int(LT_CHUNK_ALIGNMENT)
    result.append(contentsOf: repeatElement(0, count: (alignment - result.count % alignment) % alignment))
    return result
  }

  private static func compressed(_ payload: [UInt8]) throws(TraceFormatError) -> [UInt8] {
    let bound = ZSTD_compressBound(payload.count)
    var failure: String?
    let result = [UInt8](unsafeUninitializedCapacity: bound) { buffer, initialized in
      let count = payload.withUnsafeBytes {
        ZSTD_compress(buffer.baseAddress, buffer.count, $0.baseAddress, $0.count, 3)
      }
      if ZSTD_isError(count) != 0 {
        failure = String(cString: ZSTD_getErrorName(count))
        initialized = 0
      } else {
        initialized = count
      }
    }
    if let failure { throw .compressionFailed(reason: failure) }
    return result
  }
}
