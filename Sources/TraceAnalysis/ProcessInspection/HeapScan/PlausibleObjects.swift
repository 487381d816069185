// Finds objects of a process whose allocator's metadata cannot be read.

import CHeapScan
import TraceReading

/// Finds Swift objects by their first words: a pointer to metadata, and the counts of a live object.
///
/// A result may be a freed object whose beginning has not been overwritten. The counts show whether an object was
/// deinitialised; such objects are left out.
enum PlausibleObjects {
  /// Objects begin at multiples of this number, since allocators align blocks for any type.
  private static let alignment: UInt64 = 16
  /// Maximum size in bytes of an object whose end is unknown.
  private static let largestUnknown: UInt64 = 1 << 20
  /// Maximum number of bytes to search.
  private static let searchLimit: UInt64 = 1 << 36

  /// Returns the objects in order of addresses, without overlaps. Linear in the resident private memory.
  static func blocks(
    in memory: any ProcessMemory, threads: [InspectedThread], _ types: ObjectTypes
  ) -> [ListedBlock] {
    let window = MemoryWindow(memory, capacity: 1 << 18)
    var found: [ListedBlock] = []
    var left = searchLimit
    for mapping in memory.mappings
    where mapping.isPrivateAnonymous && mapping.isReadable && mapping.isWritable && !mapping.kernelName.hasPrefix("[s")
      && !threads.contains(where: { isStack(mapping, of: $0) })
    {
      for range in memory.writtenRanges(in: mapping.range) {
        var at = range.lowerBound
        while at < range.upperBound, range.upperBound - at >= alignment, left >= alignment {
          left -= alignment
          defer { at += alignment }
          guard let first = window.word(at: at), first != 0, let second = window.word(at: at + 8) else { continue }
          let type = types.type(first: first, second: second, size: range.upperBound - at)
          guard type != 0, isAlive(second, memory) else { continue }
          let room = min(mapping.range.upperBound - at, largestUnknown)
          finishLast(&found, before: at)
          found.append(ListedBlock(address: at, size: types.size(ofType: type, room: room), type: type))
        }
      }
    }
    return found
  }

  /// Ends an object of unknown size where the next one begins.
  private static func finishLast(_ found: inout [ListedBlock], before address: UInt64) {
    guard let last = found.last, last.address &+ last.size > address else { return }
    found[found.count - 1].size = address - last.address
  }

  private static func isStack(_ mapping: MemoryMapping, of thread: InspectedThread) -> Bool {
    mapping.range.contains(thread.stackPointer)
  }

  private static func isAlive(_ counts: UInt64, _ memory: any ProcessMemory) -> Bool {
    if lt_counts_are_immortal(counts) { return true }
    guard lt_counts_are_in_side_table(counts) else { return !lt_counts_are_deiniting(counts) }
    let bytes = memory.bytes(at: lt_side_table_of(counts) &+ UInt64(SWIFT_SIDE_TABLE_COUNTS), count: 8)
    return bytes.count == 8
      && !lt_counts_are_deiniting(
        bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) })
  }
}
