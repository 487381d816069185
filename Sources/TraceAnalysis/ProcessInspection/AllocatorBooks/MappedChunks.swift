// Blocks that are mappings of their own.

/// Large blocks, which malloc maps. Nothing lists them: their heads are found by their shape, page by page.
struct MappedChunks {
  private(set) var chunks: [ChunkWalk.Chunk] = []
  /// There was more memory than is searched.
  private(set) var isIncomplete = false

  private let window: MemoryWindow

  /// - Parameter taken: Memory of arenas, in order and without overlaps.
  init(in memory: any ProcessMemory, besides taken: [Range<UInt64>]) {
    window = MemoryWindow(memory, capacity: 1 << 16)
    var index = 0
    var left = InspectionLimits.mappedChunkSearchBytes
    for mapping in memory.mappings
    where mapping.isPrivateAnonymous && mapping.isReadable && !Self.kernelsOwn.contains(mapping.kernelName) {
      let end = mapping.range.upperBound
      var begin = mapping.range.lowerBound
      while index < taken.count, taken[index].upperBound <= begin { index += 1 }
      while begin < end, index < taken.count, taken[index].lowerBound < end {
        if taken[index].lowerBound > begin { search(begin..<taken[index].lowerBound, memory, &left) }
        begin = taken[index].upperBound
        if begin < end { index += 1 }
      }
      if begin < end { search(begin..<end, memory, &left) }
    }
    isIncomplete = left == 0
  }

  /// Memory that malloc never has.
  private static let kernelsOwn: Set<String> = ["[heap]", "[stack]", "[vdso]", "[vvar]", "[vsyscall]"]

  private mutating func search(_ range: Range<UInt64>, _ memory: any ProcessMemory, _ left: inout UInt64) {
    // A chunk goes on over pages that were never written to.
    var next = range.lowerBound
    for written in memory.writtenRanges(in: range) {
      guard var page = max(written.lowerBound, next).roundedUp(to: MemoryWindow.pageSize) else { return }
      while page < written.upperBound {
        guard left >= MemoryWindow.pageSize else {
          left = 0
          return
        }
        left -= MemoryWindow.pageSize
        if let chunk = chunk(inPage: page, range) {
          chunks.append(chunk)
          next = chunk.address + chunk.size
          page = next
        } else {
          page += MemoryWindow.pageSize
        }
      }
    }
  }

  /// Where in a page the head of a mapped chunk may stand: the block behind it is aligned to a power of two.
  private static let offsets: [UInt64] = [0, 16, 48, 112, 240, 496, 1008, 2032, 4080]

  private func chunk(inPage page: UInt64, _ range: Range<UInt64>) -> ChunkWalk.Chunk? {
    for offset in Self.offsets {
      let address = page + offset
      guard let before = window.word(at: address), let head = window.word(at: address + GlibcLayout.chunkSize) else {
        return nil
      }
      let size = head & ~GlibcLayout.flags
      // What was cut off for the alignment reaches back to the mapping's beginning, less than a page for most.
      guard head & GlibcLayout.flags == GlibcLayout.isMapped, before & 15 == 0,
        before == offset || (offset == 4080 && before & 4095 == 4080 && before <= address - range.lowerBound),
        size >= GlibcLayout.leastChunk, size <= range.upperBound - address,
        (before &+ size) & (MemoryWindow.pageSize - 1) == 0
      else { continue }
      return ChunkWalk.Chunk(address: address, size: size)
    }
    return nil
  }
}
