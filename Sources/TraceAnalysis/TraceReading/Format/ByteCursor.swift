// Reading fields from bytes, with a check of every bound.

/// A position in bytes that the caller keeps alive. A read that would pass the end returns nil and does not move the
/// position.
package struct ByteCursor {
  package private(set) var position: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>

  package init(_ start: UnsafePointer<UInt8>, count: Int) {
    position = start
    end = start + count
  }

  package var remaining: Int { end - position }

  mutating func byte() -> UInt8? {
    guard position < end else { return nil }
    defer { position += 1 }
    return position.pointee
  }

  /// Reads a LEB128 number of at most 10 bytes. Nil if it does not fit in 64 bits.
  package mutating func varint() -> UInt64? {
    var p = position
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while p < end {
      let byte = UInt64(p.pointee)
      p += 1
      if shift == 63 && byte > 1 { return nil }
      value |= (byte & 0x7F) &<< shift
      if byte < 0x80 {
        position = p
        return value
      }
      shift += 7
    }
    return nil
  }

  package mutating func zigzag() -> Int64? {
    guard let n = varint() else { return nil }
    return Int64(bitPattern: n >> 1) ^ -Int64(bitPattern: n & 1)
  }

  /// Returns a cursor over the next `count` bytes, and skips them.
  package mutating func part(_ count: UInt64) -> ByteCursor? {
    guard count <= UInt64(remaining) else { return nil }
    let part = ByteCursor(position, count: Int(count))
    position += Int(count)
    return part
  }

  /// The most bytes of a text. The longest text that a recorder writes is a path of PATH_MAX bytes; names of types have
  /// at most 1,023.
  static let textLimit: UInt64 = 4096

  /// Reads a varint length and then this number of bytes, at most `textLimit`.
  mutating func bytes() -> [UInt8]? {
    var copy = self
    guard let count = copy.varint(), count <= Self.textLimit, let part = copy.part(count) else { return nil }
    self = copy
    return Array(UnsafeBufferPointer(start: part.position, count: part.remaining))
  }

  /// Reads a varint length and then UTF-8 of at most `textLimit` bytes. Bytes that are not UTF-8 are replaced.
  mutating func string() -> String? {
    guard let bytes = bytes() else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Appends fields to bytes.
struct ByteBuilder {
  var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func zigzag(_ value: Int64) {
    varint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  mutating func string(_ value: String) {
    varint(UInt64(value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }

  mutating func blob(_ value: [UInt8]) {
    varint(UInt64(value.count))
    bytes.append(contentsOf: value)
  }
}
