// The memory of another process, from any source.

import TraceReading

/// Memory of a process at one moment: of a stopped process, of a copy, or from a core file.
///
/// Its contents are untrusted. For one thread at a time.
package protocol ProcessMemory {
  /// In order of their addresses, without overlaps, below `RuntimeAddress.limit`.
  var mappings: [MemoryMapping] { get }

  /// Copies bytes from an address on. Returns the number of known bytes before the first unknown one.
  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Int

  /// The parts of a range that may have been written to, in order. The rest reads as zeros, and reading it may cost the
  /// process memory.
  func writtenRanges(in range: Range<UInt64>) -> [Range<UInt64>]

  /// The same memory for unwinding; valid as long as this object is.
  var unwoundMemory: UnwoundMemory { get }
}

extension ProcessMemory {
  package var unwoundMemory: UnwoundMemory { .kept([]) }

  package func writtenRanges(in range: Range<UInt64>) -> [Range<UInt64>] { range.isEmpty ? [] : [range] }

  /// The bytes from an address on; fewer than `count` if some are unknown.
  package func bytes(at address: UInt64, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = read(RuntimeAddress(address), into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
