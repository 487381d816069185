// Layouts of glibc's allocator.

/// Offsets and sizes in bytes of glibc 2.31 to 2.41 on 64-bit machines (malloc/malloc.c, malloc/arena.c). 2.42 changes
/// the thread caches.
enum GlibcLayout {
  /// Of `malloc_state`.
  static let fastbins: UInt64 = 0x10
  static let fastbinCount: UInt64 = 10
  static let top: UInt64 = 0x60
  static let bins: UInt64 = 0x70
  /// Pairs of words: a bin's first and last chunk.
  static let binPairs: UInt64 = 127
  static let nextArena: UInt64 = 0x870
  static let systemMemory: UInt64 = 0x888
  static let arenaSize: UInt64 = 0x898

  /// Of `heap_info`, which stands before the chunks of each heap of an arena that is not the main one.
  static let heapArena: UInt64 = 0
  static let previousHeap: UInt64 = 8
  static let heapSize: UInt64 = 16
  /// 0x20 up to 2.34, 0x30 since.
  static let heapInfoSizes: ClosedRange<UInt64> = 0x20...0x100
  /// Heaps begin at multiples of this without tunables; with huge pages it is another power of two.
  static let usualHeapAlignment: UInt64 = 64 << 20
  static let heapAlignmentShifts = 20...32

  /// Of a chunk: the size of the one before, its own size with flags, then the program's memory.
  static let chunkSize: UInt64 = 8
  static let chunkMemory: UInt64 = 16
  static let alignment: UInt64 = 16
  static let leastChunk: UInt64 = 32
  static let flags: UInt64 = 7
  static let previousInUse: UInt64 = 1
  static let isMapped: UInt64 = 2
  static let notMainArena: UInt64 = 4
  /// A chunk that is none: two of them end a piece of a heap that does not go on.
  static let fencepost: UInt64 = 16

  /// A thread cache: 64 counts of 16 bits, 64 first entries.
  static let cacheBins: UInt64 = 64
  static let cacheSize: UInt64 = 0x280
  static let cacheChunk: UInt64 = 0x290
  /// Of a cached block: its key, behind the next one's address.
  static let cacheKey: UInt64 = 8
  static func cachedChunkSize(bin: UInt64) -> UInt64 { leastChunk + 16 * bin }
  static func fastChunkSize(bin: UInt64) -> UInt64 { leastChunk + 16 * bin }
}

extension UInt64 {
  /// The next multiple of a power of two; nil beyond the last.
  func roundedUp(to unit: UInt64) -> UInt64? {
    let (sum, overflow) = addingReportingOverflow(unit - 1)
    return overflow ? nil : sum & ~(unit - 1)
  }
}
