// The blocks of a process by the books of jemalloc.

import CHeapScan
import TraceReading

/// The blocks of jemalloc 5.1 to 5.3, read from its books in memory. The process must be stopped in the meantime.
///
/// A value; only its initialiser reads the memory.
package struct JemallocHeap: Sendable {
  /// In order of their addresses, each once.
  package private(set) var blocks: [AllocatedBlock] = []
  /// As a trace has it, at the time 0; nil if there is no block.
  package private(set) var record: AllocatorRecord?
  /// Freed blocks in the caches of threads, and their bytes.
  package private(set) var cachedBlocks = 0
  package private(set) var cachedBytes: UInt64 = 0
  /// Caches of threads that were recognised.
  package private(set) var threadCaches = 0
  /// Free parts of pages that have blocks, too.
  package private(set) var slabFreeBytes: UInt64 = 0
  /// Pages that were freed and are not given back yet, and those of them that the kernel may take.
  package private(set) var dirtyBytes: UInt64 = 0
  package private(set) var muzzyBytes: UInt64 = 0
  /// Records that contradict each other were left out, or memory for reading was short.
  package private(set) var isIncomplete = false

  /// Reads the books. Nil if the process has no jemalloc of a layout that is known, or one that has not been used.
  ///
  /// - Parameter threads: All of the process: what is in the cache of a thread that is not among them counts as given
  ///   out.
  /// - Complexity: Linear in the data of images, the extents and the regions of slabs.
  package init?(in memory: any ProcessMemory, threads: [InspectedThread] = []) {
    let source = AllocatorMemory(memory, threads: threads)
    let heap = UnsafeMutablePointer<lt_jemalloc_heap>.allocate(capacity: 1)
    heap.initialize(to: lt_jemalloc_heap())
    defer {
      lt_jemalloc_heap_free(heap)
      heap.deallocate()
    }
    guard lt_jemalloc_heap_find(heap, source.books) else { return nil }
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
