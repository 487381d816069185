// The blocks of a process, read from the metadata of glibc's allocator.

import CHeapScan
import CTraceFormat
import TraceReading

/// A block that malloc returned and that was not freed.
package struct AllocatedBlock: Hashable, Sendable {
  /// The address that malloc returned.
  package var address: UInt64
  /// Bytes that the program may use: at least the bytes that it requested (`malloc_usable_size`).
  var usableSize: UInt64
}

/// The contents of glibc's allocator, read from its metadata in memory. The process must stay stopped during the read.
/// Threads may be stopped inside the allocator.
///
/// Only the initialiser reads the memory.
package struct GlibcHeap: Sendable {
  /// An arena and its memory. Sizes are sizes of chunks, including their headers.
  package struct Arena: Hashable, Sendable {
    package var address: UInt64
    /// libc's main arena, which uses the program's break.
    package var isMain: Bool
    /// Bytes that the arena got from the kernel, by its own count.
    var systemBytes: UInt64
    /// The number of live blocks. `blockBytes`: their bytes.
    package var blocks: UInt64
    var blockBytes: UInt64
    /// Freed bytes in bins. `fastBytes`: freed bytes in fast bins. `cachedBytes`: freed bytes in the caches of threads.
    package var freeBytes: UInt64
    var fastBytes: UInt64
    var cachedBytes: UInt64
    /// Free bytes at the arena's end: the top chunk.
    var topBytes: UInt64
    /// Whole resident pages of free chunks and of the top, which `malloc_trim` returns to the kernel.
    var freePageBytes: UInt64
    /// The chunk that must be freed before the arena can shrink; nil if there is none.
    package var pin: Pin?
  }

  /// The chunk before the free end of an arena.
  package struct Pin: Hashable, Sendable {
    package enum Use: UInt64, Hashable, Sendable { case block = 1, cached, fast, cache }
    /// The block's address, as malloc returned it.
    package var address: UInt64
    package var bytes: UInt64
    package var use: Use
  }

  /// The live blocks in order of addresses, without repeats.
  package private(set) var blocks: [AllocatedBlock] = []
  /// The arenas of all libcs of the process, main arenas first.
  package private(set) var arenas: [Arena] = []
  /// The allocator's figures as a record of a trace, with the time 0; nil if there is no block.
  package private(set) var record: AllocatorRecord?
  /// Freed bytes in the lists of arenas, or in no list.
  package private(set) var freeBytes: UInt64 = 0
  /// The number of freed blocks in the caches of threads. `cachedBytes`: their bytes.
  private(set) var cachedBlocks = 0
  private(set) var cachedBytes: UInt64 = 0
  /// The number of thread caches that were recognised.
  private(set) var threadCaches = 0
  /// True if no thread cache was found although this release of glibc has thread caches. Freed blocks in the caches
  /// then count as live.
  private(set) var areCachesUnread = false
  /// The number of freed blocks in fast bins. `fastBytes`: their bytes.
  private(set) var fastBlocks = 0
  private(set) var fastBytes: UInt64 = 0
  /// The number of blocks that are separate mappings. `mappedBytes`: their bytes. `mappedBlocksByCount`: their number
  /// according to the allocator's own counter; nil if the counter was not found.
  private(set) var mappedBlocks = 0
  private(set) var mappedBytes: UInt64 = 0
  private(set) var mappedBlocksByCount: Int?
  /// glibc returns an arena's free end to the kernel if it has at least this size; nil if the limit is not known.
  private(set) var trimThreshold: UInt64?
  /// The number of places where a chunk does not lead to the next one. `skippedBytes`: the bytes that were skipped
  /// there.
  private(set) var breaks = 0
  private(set) var skippedBytes: UInt64 = 0
  /// Whether some memory of the allocator was not found.
  package private(set) var isIncomplete = false

  /// Reads the metadata. Returns nil if the process has no allocator of glibc, or has not used it.
  ///
  /// - Parameter threads: All threads of the process. May be empty. The memory of an empty thread cache then counts as
  ///   a live block.
  /// - Complexity: Linear in the memory of the allocator, which is read twice, and in the pages of anonymous memory.
  package init?(in memory: any ProcessMemory, threads: [InspectedThread] = []) {
    self.init(AllocatorMemory(memory, threads: threads))
  }

  /// Reads the metadata from memory that other allocators' readers may share.
  init?(_ source: AllocatorMemory) {
    let heap = UnsafeMutablePointer<lt_glibc_heap>.allocate(capacity: 1)
    heap.initialize(to: lt_glibc_heap())
    defer {
      lt_glibc_heap_free(heap)
      heap.deallocate()
    }
    guard lt_glibc_heap_find(heap, source.metadata) else { return nil }
    withUnsafeMutablePointer(to: &blocks) { blocks in
      lt_glibc_heap_walk(
        heap,
        { context, address, size in
          context!.assumingMemoryBound(to: [AllocatedBlock].self).pointee.append(
            AllocatedBlock(address: address, usableSize: size))
        }, blocks)
    }
    takeFigures(heap.pointee)
    withExtendedLifetime(source) {}
  }

  /// Returns the reason why no heap was found, in words that fit after a colon; nil if there is a heap.
  ///
  /// - Complexity: Equal to the initialiser's.
  package static func failure(in memory: any ProcessMemory) -> String? {
    let source = AllocatorMemory(memory, threads: [])
    let heap = UnsafeMutablePointer<lt_glibc_heap>.allocate(capacity: 1)
    heap.initialize(to: lt_glibc_heap())
    defer {
      lt_glibc_heap_free(heap)
      heap.deallocate()
    }
    guard !lt_glibc_heap_find(heap, source.metadata) else { return nil }
    withExtendedLifetime(source) {}
    return lt_metadata_failure_text(heap.pointee.failure).map { String(cString: $0) }
  }

  private mutating func takeFigures(_ heap: lt_glibc_heap) {
    withUnsafePointer(to: heap) { heap in
      record = AllocatorRecord(lt_glibc_heap_figures(heap))
      for index in 0..<UInt64(heap.pointee.arenas.count) {
        guard let arena = lt_glibc_heap_arena(heap, index)?.pointee else { break }
        arenas.append(Arena(arena))
        freeBytes &+= arena.freeBytes
        cachedBlocks += Int(arena.cached)
        cachedBytes &+= arena.cachedBytes
        fastBlocks += Int(arena.fast)
        fastBytes &+= arena.fastBytes
      }
    }
    threadCaches = Int(heap.caches)
    areCachesUnread = heap.areCachesUnread
    mappedBlocks = Int(heap.mapped)
    mappedBytes = heap.mappedBytes
    mappedBlocksByCount = heap.mappedByCount == UInt64.max ? nil : Int(heap.mappedByCount)
    if heap.parameters.address != 0 { trimThreshold = heap.parameters.trimThreshold }
    breaks = Int(heap.breaks)
    skippedBytes = heap.skippedBytes
    isIncomplete = heap.isIncomplete
  }
}

extension GlibcHeap.Arena {
  fileprivate init(_ arena: lt_glibc_arena) {
    self.init(
      address: arena.address, isMain: arena.address == arena.main, systemBytes: arena.systemBytes,
      blocks: arena.inUse, blockBytes: arena.inUseBytes, freeBytes: arena.freeBytes, fastBytes: arena.fastBytes,
      cachedBytes: arena.cachedBytes, topBytes: arena.topBytes, freePageBytes: arena.freePageBytes,
      pin: GlibcHeap.Pin.Use(rawValue: arena.pinUse).map {
        GlibcHeap.Pin(address: arena.pin, bytes: arena.pinBytes, use: $0)
      })
  }
}
