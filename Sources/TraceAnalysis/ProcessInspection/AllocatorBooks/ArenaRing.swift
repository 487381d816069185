// The list of all arenas of one libc.

/// The arenas, which are linked in a ring that begins with the main one.
struct ArenaRing {
  /// The main arena first.
  let arenas: [UInt64]
  /// The ring leads back to the main arena. If not, there may be more arenas than these.
  let isClosed: Bool

  init(main: UInt64, _ window: MemoryWindow) {
    var arenas = [main]
    var seen: Set<UInt64> = [main]
    var isClosed = false
    while arenas.count < InspectionLimits.arenas {
      guard let next = window.word(at: arenas[arenas.count - 1] + GlibcLayout.nextArena) else { break }
      if next == main {
        isClosed = true
        break
      }
      guard Self.isArena(next, window), seen.insert(next).inserted else { break }
      arenas.append(next)
    }
    (self.arenas, self.isClosed) = (arenas, isClosed)
  }

  /// An arena that is not the main one stands behind the head of its first heap, which refers to it.
  static func firstHeap(of arena: UInt64) -> UInt64 { arena & ~(MemoryWindow.pageSize - 1) }

  private static func isArena(_ arena: UInt64, _ window: MemoryWindow) -> Bool {
    let heap = firstHeap(of: arena)
    return arena < UInt64.max - 2 * GlibcLayout.arenaSize && GlibcLayout.heapInfoSizes.contains(arena - heap)
      && window.word(at: heap + GlibcLayout.heapArena) == arena
  }
}
