// Reads words of a process's memory through a buffer.

import TraceReading

/// A buffer with a piece of a process's memory. A read of a word outside the piece refills the buffer from the start of
/// that word's page. So reading forward takes one call for many words.
///
/// Owns its buffer. For one thread at a time.
final class MemoryWindow {
  /// Bytes of the pages of heap images, and of the smallest page of any kernel.
  static let pageSize: UInt64 = 4096

  private let memory: any ProcessMemory
  private let buffer: UnsafeMutableRawBufferPointer
  private var start: UInt64 = 0
  private var known: UInt64 = 0

  /// - Parameter capacity: The buffer's size in bytes; a multiple of the page size.
  init(_ memory: any ProcessMemory, capacity: Int) {
    precondition(capacity > 0 && capacity % Int(Self.pageSize) == 0)
    self.memory = memory
    buffer = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Returns the 8 bytes at an address; nil if they are not known, or if the address is not a multiple of 8.
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
  /// Returns the number rounded up to a multiple of `unit`, a power of two; nil if the result does not fit.
  func roundedUp(to unit: UInt64) -> UInt64? {
    let (sum, overflow) = addingReportingOverflow(unit - 1)
    return overflow ? nil : sum & ~(unit - 1)
  }
}
