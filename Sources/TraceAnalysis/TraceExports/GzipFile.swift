// Compression as gzip does it, by zlib.

import CZlib

enum GzipFile {
  /// The bytes as a gzip file has them. Deterministic: no name and no time is in it.
  /// - Returns: nil if zlib has no memory left.
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

  /// 15 for the largest window, and 16 for the header and trailer of gzip.
  private static let windowBits: Int32 = 15 + 16
  /// zlib's default.
  private static let memoryLevel: Int32 = 8
  /// Bytes that zlib is given, and takes room for, at a time.
  private static let portion = 1 << 18
}
