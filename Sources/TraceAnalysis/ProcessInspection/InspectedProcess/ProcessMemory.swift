// The memory of another process, wherever it comes from.

import TraceReading

/// Memory of a process as it was at one moment: of one that stands still, of a copy, or of a core file.
///
/// Nothing in it is to be trusted. For one thread at a time.
package protocol ProcessMemory {
  /// In order of their addresses, without overlaps, below `RuntimeAddress.limit`.
  var mappings: [MemoryMapping] { get }

  /// Copies bytes from an address on. Returns how many of them are known before the first that is not.
  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Int

  /// The parts of a range that may have been written to, in order. All else in it reads as zeros, and reading it may
  /// cost the process memory.
  func writtenRanges(in range: Range<UInt64>) -> [Range<UInt64>]

  /// The same memory for unwinding; valid as long as this object is.
  var unwoundMemory: UnwoundMemory { get }
}

extension ProcessMemory {
  package var unwoundMemory: UnwoundMemory { .kept([]) }

  package func writtenRanges(in range: Range<UInt64>) -> [Range<UInt64>] { range.isEmpty ? [] : [range] }

  /// The bytes from an address on; fewer than `count` where memory is not known.
  package func bytes(at address: UInt64, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = read(RuntimeAddress(address), into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
