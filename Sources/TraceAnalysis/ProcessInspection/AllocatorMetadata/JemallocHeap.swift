// The blocks of a process, read from the metadata of jemalloc.

import CHeapScan
import TraceReading

/// The blocks of jemalloc 5.1 to 5.3, read from its metadata in memory. The process must stay stopped during the read.
///
/// Only the initialiser reads the memory.
package struct JemallocHeap: Sendable {
  /// The live blocks in order of addresses, without repeats.
  package private(set) var blocks: [AllocatedBlock] = []
  /// The allocator's figures as a record of a trace, with the time 0; nil if there is no block.
  package private(set) var record: AllocatorRecord?
  /// The number of freed blocks in the caches of threads. `cachedBytes`: their bytes.
  private(set) var cachedBlocks = 0
  private(set) var cachedBytes: UInt64 = 0
  /// The number of thread caches that were recognised.
  private(set) var threadCaches = 0
  /// Free bytes in pages that also have live blocks.
  private(set) var slabFreeBytes: UInt64 = 0
  /// Bytes of freed pages that were not returned to the kernel. `muzzyBytes`: bytes of freed pages that the kernel may
  /// take back.
  private(set) var dirtyBytes: UInt64 = 0
  private(set) var muzzyBytes: UInt64 = 0
  /// True if contradictory records were left out, or if there was too little memory to read all of them.
  package private(set) var isIncomplete = false

  /// Reads the metadata. Returns nil if the process has no jemalloc with a known layout, or has not used it.
  ///
  /// - Parameter threads: All threads of the process. Blocks in the cache of any other thread count as live.
  /// - Complexity: Linear in the data of loaded images, the extents and the regions of slabs.
  package init?(in memory: any ProcessMemory, threads: [InspectedThread] = []) {
    self.init(AllocatorMemory(memory, threads: threads))
  }

  /// Reads the metadata from memory that other allocators' readers may share.
  init?(_ source: AllocatorMemory) {
    let heap = UnsafeMutablePointer<lt_jemalloc_heap>.allocate(capacity: 1)
    heap.initialize(to: lt_jemalloc_heap())
    defer {
      lt_jemalloc_heap_free(heap)
      heap.deallocate()
    }
    guard lt_jemalloc_heap_find(heap, source.metadata) else { return nil }
    withUnsafeMutablePointer(to: &blocks) { blocks in
      lt_jemalloc_heap_walk(
        heap,
        { context, address, size in
          context!.assumingMemoryBound(to: [AllocatedBlock].self).pointee.append(
            AllocatedBlock(address: address, usableSize: size))
        }, blocks)
    }
    let found = heap.pointee
    record = AllocatorRecord(lt_jemalloc_heap_figures(heap))
    cachedBlocks = Int(found.cached)
    cachedBytes = found.cachedBytes
    threadCaches = Int(found.caches)
    slabFreeBytes = found.slabFreeBytes
    dirtyBytes = found.dirtyBytes
    muzzyBytes = found.muzzyBytes
    isIncomplete = found.isShort || found.oddExtents > 0
    withExtendedLifetime(source) {}
  }
}
