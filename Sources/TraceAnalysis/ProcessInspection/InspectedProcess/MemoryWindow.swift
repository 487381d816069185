// Words of a process's memory, read in pieces.

import TraceReading

/// A piece of memory that moves to where it is read: reading forward costs one call for many words.
///
/// Owns its buffer. Not to be shared between threads.
final class MemoryWindow {
  /// Bytes of one page.
  static let pageSize: UInt64 = 4096

  private let memory: any ProcessMemory
  private let buffer: UnsafeMutableRawBufferPointer
  private var start: UInt64 = 0
  private var known: UInt64 = 0

  /// - Parameter capacity: Bytes to read at once; a multiple of the page.
  init(_ memory: any ProcessMemory, capacity: Int) {
    precondition(capacity > 0 && capacity % Int(Self.pageSize) == 0)
    self.memory = memory
    buffer = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// The 8 bytes at an address; nil if they are not known, or the address is no multiple of 8.
  func word(at address: UInt64) -> UInt64? {
    guard address & 7 == 0 else { return nil }
    let offset = address &- start
    if address >= start, offset < known, known - offset >= 8 { return load(offset) }
    start = address & ~(Self.pageSize - 1)
    known = UInt64(memory.read(RuntimeAddress(start), into: buffer))
    let moved = address - start
    return moved < known && known - moved >= 8 ? load(moved) : nil
  }

  private func load(_ offset: UInt64) -> UInt64 {
    UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self))
  }
}

extension UInt64 {
  /// The next multiple of a power of two; nil beyond the last.
  func roundedUp(to unit: UInt64) -> UInt64? {
    let (sum, overflow) = addingReportingOverflow(unit - 1)
    return overflow ? nil : sum & ~(unit - 1)
  }
}
