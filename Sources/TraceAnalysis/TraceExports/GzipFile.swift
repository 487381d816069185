// Compression in gzip's format, by zlib.

import CZlib

enum GzipFile {
  /// Returns the bytes of a gzip file. Deterministic: the file contains no name and no time.
  /// - Returns: nil if zlib runs out of memory.
  static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    guard
      deflateInit2_(
        &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    var result: [UInt8] = []
    var input = bytes
    return input.withUnsafeMutableBufferPointer { input -> [UInt8]? in
      var taken = 0
      while true {
        let part = min(input.count - taken, portion)
        stream.next_in = input.baseAddress.map { $0 + taken }
        stream.avail_in = UInt32(part)
        taken += part
        let isLast = taken == input.count
        var status = Z_OK
        repeat {
          let room = [UInt8](unsafeUninitializedCapacity: portion) { buffer, count in
            stream.next_out = buffer.baseAddress
            stream.avail_out = UInt32(portion)
            status = deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH)
            count = portion - Int(stream.avail_out)
          }
          result += room
        } while status == Z_OK && (stream.avail_out == 0 || stream.avail_in > 0)
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { return nil }
        if isLast { return status == Z_STREAM_END ? result : nil }
      }
    }
  }

  /// 15 selects the largest window; adding 16 selects gzip's header and trailer.
  private static let windowBits: Int32 = 15 + 16
  /// zlib's default.
  private static let memoryLevel: Int32 = 8
  /// Number of bytes that zlib gets at a time, and size of its output buffer.
  private static let portion = 1 << 18
}
