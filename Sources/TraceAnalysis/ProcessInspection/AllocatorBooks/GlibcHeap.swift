// The blocks of a process by its allocator's own account.

/// A block that malloc gave out and that was not freed.
package struct AllocatedBlock: Hashable, Sendable {
  /// As malloc returned it.
  package var address: UInt64
  /// Bytes that the program may use: at least what it asked for (`malloc_usable_size`).
  package var usableSize: UInt64
}

/// What glibc's allocator has, read from its books in memory. The process is to stand still meanwhile; threads may stand
/// inside the allocator.
///
/// A value; only its initialiser reads the memory.
package struct GlibcHeap: Sendable {
  /// In order of their addresses, each once.
  package private(set) var blocks: [AllocatedBlock] = []
  /// Arenas of all libcs that the process has.
  package private(set) var arenaCount = 0
  /// Freed bytes that wait in lists of arenas, or in none.
  package private(set) var freeBytes: UInt64 = 0
  /// Freed blocks in the caches of threads, and their bytes.
  package private(set) var cachedBlocks = 0
  package private(set) var cachedBytes: UInt64 = 0
  /// Caches of threads that were recognised.
  package private(set) var threadCaches = 0
  /// Freed blocks in fast bins, and their bytes.
  package private(set) var fastBlocks = 0
  package private(set) var fastBytes: UInt64 = 0
  /// Blocks that are mappings of their own.
  package private(set) var mappedBlocks = 0
  /// Places where a chunk does not lead to the next, and the bytes that were left out there.
  package private(set) var breaks = 0
  package private(set) var skippedBytes: UInt64 = 0
  /// Some memory of the allocator was not found.
  package private(set) var isIncomplete = false

  /// Reads the books. Nil if the process has no allocator of glibc's, or one that has not been used.
  ///
  /// - Parameter threads: All of the process; may be empty, and then an empty cache counts as a block.
  /// - Complexity: Linear in the memory of the allocator, and the pages of anonymous memory.
  package init?(in memory: any ProcessMemory, threads: [InspectedThread] = []) {
    let window = MemoryWindow(memory, capacity: 4096)
    var walk = ChunkWalk(memory)
    var taken: [Range<UInt64>] = []
    var arenas: [UInt64] = []
    for main in MainArenaSearch(memory).addresses() {
      for arena in ArenaRing(main: main, window).arenas {
        let pieces = HeapPieces(of: arena, isMain: arena == main, in: memory, window)
        for piece in pieces.pieces {
          walk.walk(piece, isMain: arena == main)
          taken.append(Self.memoryTaken(by: piece, pieces.top, isMain: arena == main, window))
        }
        if pieces.isIncomplete { isIncomplete = true }
        arenas.append(arena)
      }
    }
    guard !arenas.isEmpty else { return nil }
    arenaCount = arenas.count
    freeBytes = walk.freeBytes
    (breaks, skippedBytes) = (walk.breaks, walk.skippedBytes)
    var inUse = walk.inUse
    if !zip(inUse, inUse.dropFirst()).allSatisfy({ $0.address < $1.address }) {
      inUse.sort { $0.address < $1.address }
      var last: UInt64?
      inUse.removeAll { chunk in
        defer { last = chunk.address }
        return chunk.address == last
      }
    }
    let sizes = ChunkSizes(inUse)
    let caches = ThreadCaches(
      candidates: inUse.lazy.filter { $0.size == GlibcLayout.cacheChunk }.map(\.address), sizes: sizes,
      threads: threads, in: memory)
    let fast = Self.fastChunks(of: arenas, sizes, window, memory)
    threadCaches = caches.caches.count
    let mapped = MappedChunks(in: memory, besides: Self.joined(taken))
    if mapped.isIncomplete { isIncomplete = true }
    mappedBlocks = mapped.chunks.count
    blocks.reserveCapacity(inUse.count + mapped.chunks.count)
    for chunk in inUse {
      if caches.cached.contains(chunk.address) {
        cachedBlocks += 1
        cachedBytes += chunk.size
      } else if fast.contains(chunk.address) {
        fastBlocks += 1
        fastBytes += chunk.size
      } else if !caches.caches.contains(chunk.address) {
        // The last word of a block is the first of the next chunk.
        blocks.append(
          AllocatedBlock(address: chunk.address + GlibcLayout.chunkMemory, usableSize: chunk.size - 8))
      }
    }
    for chunk in mapped.chunks {
      blocks.append(AllocatedBlock(address: chunk.address + GlibcLayout.chunkMemory, usableSize: chunk.size - 16))
    }
    blocks.sort { $0.address < $1.address }
  }

  private static func fastChunks(
    of arenas: [UInt64], _ sizes: ChunkSizes, _ window: MemoryWindow, _ memory: any ProcessMemory
  ) -> Set<UInt64> {
    let lists = FreeLists(memory)
    var found: Set<UInt64> = []
    for arena in arenas {
      for bin in 0..<GlibcLayout.fastbinCount {
        guard let first = window.word(at: arena + GlibcLayout.fastbins + 8 * bin), first != 0 else { continue }
        let list = lists.list(from: first, link: GlibcLayout.chunkMemory, most: .max) {
          sizes[$0] == GlibcLayout.fastChunkSize(bin: bin)
        }
        found.formUnion(list.entries)
      }
    }
    return found
  }

  /// From a piece's first page to the end of what may be mapped behind its last chunk.
  private static func memoryTaken(
    by piece: HeapPiece, _ top: UInt64?, isMain: Bool, _ window: MemoryWindow
  ) -> Range<UInt64> {
    var end = piece.end
    if piece.end == top, let head = window.word(at: end &+ GlibcLayout.chunkSize) {
      let (sum, overflow) = end.addingReportingOverflow(head & ~GlibcLayout.flags)
      if !overflow { end = sum }
    }
    let page = MemoryWindow.pageSize
    return piece.start & ~(page - 1)..<(end.roundedUp(to: page) ?? end)
  }

  private static func joined(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
    var joined: [Range<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, last.upperBound >= range.lowerBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }
}
