// Reads numbers of unwind tables from the memory of a traced process.

import TraceReading

/// The unwind tables cannot be used: a byte is unknown, or the tables are damaged.
struct UnwindFailure: Error {}

/// Reads numbers one after another from the memory of a traced process. Reading throws at `end` and at unknown bytes.
struct UnwindCursor {
  typealias Read = (RuntimeAddress, UnsafeMutableRawBufferPointer) -> Bool

  let read: Read
  var address: UInt64
  let end: UInt64

  var isAtEnd: Bool { address >= end }

  mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) throws(UnwindFailure) -> Number {
    let size = UInt64(MemoryLayout<Number>.size)
    guard address <= end, end - address >= size else { throw UnwindFailure() }
    var value: Number = 0
    guard withUnsafeMutableBytes(of: &value, { read(RuntimeAddress(address), $0) }) else { throw UnwindFailure() }
    address += size
    return Number(littleEndian: value)
  }

  /// Reads an unsigned LEB128 number. Bits above the 64th are dropped.
  mutating func unsigned() throws(UnwindFailure) -> UInt64 { try leb128().value }

  /// Reads a signed LEB128 number.
  mutating func signed() throws(UnwindFailure) -> Int64 {
    let (value, bits, isNegative) = try leb128()
    return Int64(bitPattern: isNegative && bits < 64 ? value | ~0 << bits : value)
  }

  private mutating func leb128() throws(UnwindFailure) -> (value: UInt64, bits: UInt64, isNegative: Bool) {
    var value: UInt64 = 0
    var bits: UInt64 = 0
    while true {
      let byte = try number(UInt8.self)
      value |= UInt64(byte & 0x7F) << bits
      bits += 7
      if byte & 0x80 == 0 { return (value, bits, byte & 0x40 != 0) }
      guard bits <= Self.mostBits else { throw UnwindFailure() }
    }
  }

  private static let mostBits: UInt64 = 140

  /// Reads an address that is encoded as in `.eh_frame`. Nil if the encoding says that there is none. `base`: the
  /// address that some encodings count from. Source: Linux Standard Base 5.0, "DWARF Exception Header Encoding".
  mutating func pointer(encoding: UInt8, base: UInt64 = 0) throws(UnwindFailure) -> UInt64? {
    if encoding == 0xFF { return nil }
    let place = address
    let value: UInt64 =
      switch encoding & 0x0F {
      case 0x00, 0x04, 0x0C: try number(UInt64.self)
      case 0x01: try unsigned()
      case 0x02: UInt64(try number(UInt16.self))
      case 0x03: UInt64(try number(UInt32.self))
      case 0x09: UInt64(bitPattern: try signed())
      case 0x0A: UInt64(bitPattern: Int64(try number(Int16.self)))
      case 0x0B: UInt64(bitPattern: Int64(try number(Int32.self)))
      default: throw UnwindFailure()
      }
    // Bit 7 says that the value is the address of the address. No table of a linker has such an entry where code is.
    switch encoding & 0xF0 {
    case 0x00: return value
    case 0x10: return place &+ value
    case 0x30: return base &+ value
    default: throw UnwindFailure()
    }
  }

  mutating func skip(_ count: UInt64) throws(UnwindFailure) {
    guard address <= end, count <= end - address else { throw UnwindFailure() }
    address += count
  }
}
