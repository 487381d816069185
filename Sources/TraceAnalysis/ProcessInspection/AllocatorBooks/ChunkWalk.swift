// From chunk to chunk through a heap.

/// Goes through pieces of heaps, and keeps the chunks that are in use by their neighbours' account. Those in thread
/// caches and fast bins are among them.
struct ChunkWalk {
  struct Chunk: Hashable, Sendable {
    var address: UInt64
    var size: UInt64
  }

  private(set) var inUse: [Chunk] = []
  private(set) var freeBytes: UInt64 = 0
  /// Places where one chunk does not lead to the next: a thread is about to change it, somebody else has moved the
  /// break, or the heap is damaged.
  private(set) var breaks = 0
  /// Bytes from such a place to the next chunk that was found.
  private(set) var skippedBytes: UInt64 = 0

  private let window: MemoryWindow
  /// For chunks that may turn out to be none, so that `window` stays where it is.
  private let probe: MemoryWindow
  private var searchLeft = InspectionLimits.resynchronisationBytes

  init(_ memory: any ProcessMemory) {
    window = MemoryWindow(memory, capacity: 1 << 20)
    probe = MemoryWindow(memory, capacity: 1 << 14)
  }

  /// - Parameter isMain: Of the arena; chunks of others are marked.
  mutating func walk(_ piece: HeapPiece, isMain: Bool) {
    var at = piece.start
    while at < piece.end {
      guard let chunk = chunk(at: at, end: piece.end, window) else {
        let isEnd = isFencepost(at, end: piece.end)
        if !isEnd { breaks += 1 }
        // Memory of others, or nothing, is behind fenceposts.
        guard let next = resynchronised(after: at, piece.end, isMain: isMain) else {
          if !isEnd { skippedBytes &+= piece.end - at }
          return
        }
        skippedBytes &+= next - at
        at = next
        continue
      }
      if !chunk.isInUse {
        freeBytes &+= chunk.size
      } else if chunk.isMarked == !isMain {
        inUse.append(Chunk(address: at, size: chunk.size))
      }
      at += chunk.size
    }
  }

  private struct Found {
    var size: UInt64
    var isInUse: Bool
    var isMarked: Bool
  }

  /// The chunk at an address below `end`; nil if what stands there is none.
  private func chunk(at address: UInt64, end: UInt64, _ window: MemoryWindow) -> Found? {
    guard end - address >= GlibcLayout.leastChunk, let head = window.word(at: address + GlibcLayout.chunkSize) else {
      return nil
    }
    let size = head & ~GlibcLayout.flags
    guard size >= GlibcLayout.leastChunk, size & (GlibcLayout.alignment - 1) == 0, size <= end - address,
      head & GlibcLayout.isMapped == 0, address + size < UInt64.max - 16,
      let next = window.word(at: address + size + GlibcLayout.chunkSize)
    else { return nil }
    return Found(
      size: size, isInUse: next & GlibcLayout.previousInUse != 0, isMarked: head & GlibcLayout.notMainArena != 0)
  }

  /// The last chunk of a piece: 16 bytes, behind which another such one stands, or one of 0 bytes.
  private func isFencepost(_ address: UInt64, end: UInt64) -> Bool {
    guard end - address >= 2 * GlibcLayout.fencepost,
      let head = window.word(at: address + GlibcLayout.chunkSize),
      let next = window.word(at: address + GlibcLayout.fencepost + GlibcLayout.chunkSize)
    else { return false }
    return head & ~GlibcLayout.flags == GlibcLayout.fencepost && next & ~GlibcLayout.flags <= GlibcLayout.fencepost
  }

  /// As many chunks in a row are no coincidence.
  private static let convincingChunks = 12

  /// The next address from which chunks follow each other; nil if there is none up to the end.
  private mutating func resynchronised(after address: UInt64, _ end: UInt64, isMain: Bool) -> UInt64? {
    var at = address + GlibcLayout.alignment
    var missingPages = 0
    while at < end, end - at >= GlibcLayout.leastChunk, searchLeft >= GlibcLayout.alignment {
      searchLeft -= GlibcLayout.alignment
      guard let head = window.word(at: at + GlibcLayout.chunkSize) else {
        missingPages += 1
        guard missingPages < InspectionLimits.missingPages,
          let next = (at + GlibcLayout.alignment).roundedUp(to: MemoryWindow.pageSize)
        else { return nil }
        at = next
        continue
      }
      if head >= GlibcLayout.leastChunk, isConvincing(at, end) { return at }
      at += GlibcLayout.alignment
    }
    return nil
  }

  private func isConvincing(_ address: UInt64, _ end: UInt64) -> Bool {
    var at = address
    for _ in 0..<Self.convincingChunks {
      guard let chunk = chunk(at: at, end: end, probe) else { return false }
      // A free chunk's size stands in the next one, too.
      if !chunk.isInUse, probe.word(at: at + chunk.size) != chunk.size { return false }
      at += chunk.size
      if at == end { return true }
    }
    return true
  }
}
