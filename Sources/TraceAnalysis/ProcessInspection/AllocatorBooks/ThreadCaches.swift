// What threads keep of what was freed.

/// The caches of threads, and the chunks in them. A cache is itself a chunk that no call of malloc gave out.
struct ThreadCaches {
  /// Chunks of the caches themselves.
  private(set) var caches: Set<UInt64> = []
  /// Chunks in them.
  private(set) var cached: Set<UInt64> = []

  private let memory: any ProcessMemory
  private let window: MemoryWindow
  private let lists: FreeLists
  private let sizes: ChunkSizes

  /// - Parameters:
  ///   - candidates: Chunks in use that have a cache's size.
  ///   - threads: Those that the process had; may be empty, and then a cache in which nothing is stays unknown.
  init(candidates: [UInt64], sizes: ChunkSizes, threads: [InspectedThread], in memory: any ProcessMemory) {
    self.memory = memory
    self.sizes = sizes
    window = MemoryWindow(memory, capacity: 4096)
    lists = FreeLists(memory)
    var empty: Set<UInt64> = []
    for chunk in candidates {
      guard let contents = contents(of: chunk) else { continue }
      if contents.isEmpty {
        empty.insert(chunk)
      } else {
        caches.insert(chunk)
        cached.formUnion(contents)
      }
    }
    // Zeros may be anybody's: a thread has to refer to them where other threads refer to their caches.
    for chunk in referred(to: empty, by: threads) { caches.insert(chunk) }
  }

  /// The chunks in a cache; nil if the chunk has not its shape.
  private func contents(of chunk: UInt64) -> [UInt64]? {
    let counts = chunk + GlibcLayout.chunkMemory
    let firsts = counts + 2 * GlibcLayout.cacheBins
    var contents: [UInt64] = []
    var keys: Set<UInt64> = []
    for bin in 0..<GlibcLayout.cacheBins {
      guard let four = window.word(at: counts + bin / 4 * 8), let first = window.word(at: firsts + bin * 8) else {
        return nil
      }
      let count = Int(truncatingIfNeeded: four >> (bin % 4 * 16) & 0xFFFF)
      if first == 0, count <= 1 { continue }
      guard first != 0, first & 15 == 0 else { return nil }
      // The thread may be about to count one that it has put in or taken out.
      let list = lists.list(from: first, link: 0, most: count + 1) {
        $0 >= GlibcLayout.chunkMemory
          && sizes[$0 - GlibcLayout.chunkMemory] == GlibcLayout.cachedChunkSize(bin: bin)
      }
      guard list.isWhole, list.entries.count + 1 >= count else { return nil }
      for entry in list.entries {
        contents.append(entry - GlibcLayout.chunkMemory)
        // One that is being put in or taken out has its key not yet, or not any more.
        if let key = elsewhereWord(entry + GlibcLayout.cacheKey) { keys.insert(key) }
      }
    }
    guard contents.isEmpty || keys.count <= 2 else { return nil }
    return contents
  }

  private func elsewhereWord(_ address: UInt64) -> UInt64? {
    let bytes = memory.bytes(at: address, count: 8)
    return bytes.count == 8 ? bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) } : nil
  }

  /// Those of some chunks that threads refer to at the distance from their thread pointers where most refer to caches.
  private func referred(to empty: Set<UInt64>, by threads: [InspectedThread]) -> [UInt64] {
    var votes: [UInt64: Int] = [:]
    var places: [UInt64: [UInt64]] = [:]
    for thread in threads where thread.threadPointer > InspectionLimits.threadLocalBytes {
      var distance: UInt64 = 8
      while distance <= InspectionLimits.threadLocalBytes {
        guard let word = window.word(at: (thread.threadPointer & ~7) - distance) else { break }
        if word >= GlibcLayout.chunkMemory {
          let chunk = word - GlibcLayout.chunkMemory
          if caches.contains(chunk) { votes[distance, default: 0] += 1 }
          if empty.contains(chunk) { places[distance, default: []].append(chunk) }
        }
        distance += 8
      }
    }
    guard let best = votes.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return [] }
    return places[best.key] ?? []
  }
}

/// Sizes of chunks by their addresses, in order.
struct ChunkSizes {
  private let chunks: [ChunkWalk.Chunk]

  /// - Parameter chunks: In order of addresses.
  init(_ chunks: [ChunkWalk.Chunk]) { self.chunks = chunks }

  /// The size of the chunk that begins at an address; nil if none does. O(log n)
  subscript(address: UInt64) -> UInt64? {
    var low = 0
    var high = chunks.count
    while low < high {
      let middle = (low + high) / 2
      if chunks[middle].address < address { low = middle + 1 } else { high = middle }
    }
    return low < chunks.count && chunks[low].address == address ? chunks[low].size : nil
  }
}
