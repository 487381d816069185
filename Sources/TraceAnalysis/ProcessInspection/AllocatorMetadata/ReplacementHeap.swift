// The blocks of a process, read from the metadata of an allocator that replaces the C library's allocator.

import CHeapScan
import TraceReading

/// The blocks of tcmalloc or mimalloc, read from its metadata in memory. The process must stay stopped during the read.
///
/// Only the initialiser reads the memory.
package struct ReplacementHeap: Sendable {
  /// The live blocks in order of addresses, without repeats.
  package private(set) var blocks: [AllocatedBlock] = []
  /// The allocator's figures as a record of a trace, with the time 0; nil if there is no block.
  package private(set) var record: AllocatorRecord?
  /// True if some blocks may be missing. Either contradictory records were left out, or there was too little memory for
  /// all records, or only one of several copies of the allocator was read.
  package private(set) var isIncomplete = false
  /// Sentences about facts that could not be determined.
  package private(set) var remarks: [String] = []

  /// Reads the metadata of tcmalloc, or of mimalloc if the process has no tcmalloc. Returns nil if the process has
  /// neither allocator with a known layout.
  ///
  /// - Parameter threads: All threads of the process.
  /// - Complexity: Linear in the data of loaded images and in the blocks.
  package init?(in memory: any ProcessMemory, threads: [InspectedThread] = []) {
    self.init(AllocatorMemory(memory, threads: threads))
  }

  /// Reads the metadata from memory that other allocators' readers may share.
  init?(_ source: AllocatorMemory) {
    guard readTcmalloc(source.metadata) || readMimalloc(source.metadata) else { return nil }
    withExtendedLifetime(source) {}
  }

  private static func append(_ context: UnsafeMutableRawPointer?, _ address: UInt64, _ size: UInt64) {
    context!.assumingMemoryBound(to: [AllocatedBlock].self).pointee.append(
      AllocatedBlock(address: address, usableSize: size))
  }

  private mutating func readTcmalloc(_ metadata: UnsafePointer<lt_allocator_memory>) -> Bool {
    let heap = UnsafeMutablePointer<lt_tcmalloc_heap>.allocate(capacity: 1)
    heap.initialize(to: lt_tcmalloc_heap())
    defer {
      lt_tcmalloc_heap_free(heap)
      heap.deallocate()
    }
    guard lt_tcmalloc_heap_find(heap, metadata) else { return false }
    withUnsafeMutablePointer(to: &blocks) { lt_tcmalloc_heap_walk(heap, { Self.append($0, $1, $2) }, $0) }
    record = AllocatorRecord(lt_tcmalloc_heap_figures(heap))
    isIncomplete = lt_tcmalloc_heap_is_incomplete(heap)
    return true
  }

  private mutating func readMimalloc(_ metadata: UnsafePointer<lt_allocator_memory>) -> Bool {
    let heap = UnsafeMutablePointer<lt_mimalloc_heap>.allocate(capacity: 1)
    heap.initialize(to: lt_mimalloc_heap())
    defer {
      lt_mimalloc_heap_free(heap)
      heap.deallocate()
    }
    guard lt_mimalloc_heap_find(heap, metadata) else { return false }
    withUnsafeMutablePointer(to: &blocks) { lt_mimalloc_heap_walk(heap, { Self.append($0, $1, $2) }, $0) }
    record = AllocatorRecord(lt_mimalloc_heap_figures(heap))
    isIncomplete = heap.pointee.isShort || heap.pointee.oddPages > 0
    if heap.pointee.allocators > 1 {
      remarks.append("the process has \(heap.pointee.allocators) copies of mimalloc, and the blocks of one were read")
      isIncomplete = true
    }
    return true
  }
}
