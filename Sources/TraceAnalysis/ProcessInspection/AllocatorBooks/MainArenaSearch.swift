// Main arenas of glibc by their shape.

/// Finds glibc's main arenas, without symbols: in libc's initialised data stand bins, most of them empty, and an empty
/// bin refers to itself.
struct MainArenaSearch {
  let memory: any ProcessMemory
  private let window: MemoryWindow
  private let elsewhere: MemoryWindow

  init(_ memory: any ProcessMemory) {
    self.memory = memory
    window = MemoryWindow(memory, capacity: 1 << 18)
    elsewhere = MemoryWindow(memory, capacity: 4096)
  }

  /// Addresses of main arenas, one for each libc: programs with several namespaces have several. O(initialised data)
  func addresses() -> [UInt64] {
    let data = memory.mappings.filter { $0.file != nil && $0.isReadable && $0.isWritable && !$0.isShared }
    let ofLibc = data.filter { isLibc($0.file!.name) }
    let found = addresses(in: ofLibc)
    // A program may have libc inside, or under another name.
    return found.isEmpty ? addresses(in: data) : found
  }

  private func isLibc(_ name: Substring) -> Bool { name.hasPrefix("libc.so") || name.hasPrefix("libc-2.") }

  private func addresses(in mappings: [MemoryMapping]) -> [UInt64] {
    var found: [UInt64] = []
    var left = InspectionLimits.arenaSearchBytes
    for mapping in mappings {
      for range in memory.writtenRanges(in: mapping.range) {
        let end = range.lowerBound + min(range.upperBound - range.lowerBound, left)
        left -= end - range.lowerBound
        search(range.lowerBound..<end, &found)
      }
    }
    return found
  }

  private func search(_ range: Range<UInt64>, _ found: inout [UInt64]) {
    var at = range.lowerBound
    while at < range.upperBound, range.upperBound - at >= 16, found.count < InspectionLimits.namespaces {
      if window.word(at: at) == at &- 16, window.word(at: at + 8) == at &- 16, let arena = arena(withEmptyBin: at) {
        found.append(arena)
        at = max(at, arena + GlibcLayout.arenaSize) & ~7
      } else {
        at += 8
      }
    }
  }

  /// The first empty bin is one of the first, but not always the very first.
  private func arena(withEmptyBin bin: UInt64) -> UInt64? {
    for index in 0..<GlibcLayout.binPairs {
      let (arena, underflow) = bin.subtractingReportingOverflow(GlibcLayout.bins + 16 * index)
      if underflow { return nil }
      if arena < UInt64.max - 2 * GlibcLayout.arenaSize, isMainArena(arena) { return arena }
    }
    return nil
  }

  /// A quarter of the bins is empty in every program, since few sizes of large chunks are free at once.
  private static let leastEmptyBins = 32

  private func isMainArena(_ arena: UInt64) -> Bool {
    var empty = 0
    for pair in 0..<GlibcLayout.binPairs {
      let bin = arena + GlibcLayout.bins + 16 * pair
      guard let first = window.word(at: bin), let last = window.word(at: bin + 8) else { return false }
      if first == bin - 16, last == bin - 16 {
        empty += 1
      } else if (first | last) & 15 != 0 || first == 0 || last == 0 {
        return false
      }
    }
    guard empty >= Self.leastEmptyBins, let top = window.word(at: arena + GlibcLayout.top), top & 15 == 0,
      top == arena + GlibcLayout.top || memory.mappings.mapping(at: top) != nil
    else { return false }
    return ArenaRing(main: arena, elsewhere).isClosed
  }
}
