// The memory of another process, from any source.

import TraceReading
import TraceSymbolication

/// Memory of a process at one moment. The source is a stopped process, a copy of a process, or a core file.
///
/// The contents are untrusted. For one thread at a time.
package protocol ProcessMemory {
  /// The processor of the process.
  var processor: Processor { get }
  /// Bytes of a page of the process's memory, as its kernel has them.
  var pageSize: UInt64 { get }

  /// The mappings in order of addresses, without overlaps, below `RuntimeAddress.limit`.
  var mappings: [MemoryMapping] { get }

  /// Copies bytes from an address on, up to the first unknown byte. Returns the number of bytes copied.
  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Int

  /// Returns the parts of a range that may have been written to, in order. The other parts are zeros, or unmodified
  /// contents of files. Reading them may make the kernel allocate memory for the process.
  func writtenRanges(in range: Range<UInt64>) -> [Range<UInt64>]

  /// The memory in a form for unwinding, valid as long as this object exists.
  var unwoundMemory: UnwoundMemory { get }
}

extension ProcessMemory {
  package var processor: Processor { .own }
  package var pageSize: UInt64 { MemoryWindow.pageSize }

  package var unwoundMemory: UnwoundMemory { .kept([]) }

  package func writtenRanges(in range: Range<UInt64>) -> [Range<UInt64>] { range.isEmpty ? [] : [range] }

  /// Returns the bytes from an address on; fewer than `count` if some are unknown.
  package func bytes(at address: UInt64, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = read(RuntimeAddress(address), into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
