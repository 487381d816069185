// Where the chunks of an arena are.

import TraceReading

/// A range of memory that chunks fill without gaps, as a rule.
struct HeapPiece: Hashable, Sendable {
  /// The first chunk.
  var start: UInt64
  var end: UInt64
}

/// The pieces of memory that an arena has its chunks in.
struct HeapPieces {
  private(set) var pieces: [HeapPiece] = []
  /// Some piece was not found, or its bounds are not plausible.
  private(set) var isIncomplete = false
  /// The arena's first chunk that is free to its end; nil before the first allocation.
  private(set) var top: UInt64?

  private let memory: any ProcessMemory
  private let window: MemoryWindow

  /// - Parameter isMain: The arena is libc's own, which has the program's heap.
  init(of arena: UInt64, isMain: Bool, in memory: any ProcessMemory, _ window: MemoryWindow) {
    self.memory = memory
    self.window = window
    guard let top = window.word(at: arena + GlibcLayout.top), top & 15 == 0 else {
      isIncomplete = true
      return
    }
    // The word stands for an empty bin until there is memory.
    if top == arena + GlibcLayout.top { return }
    self.top = top
    if isMain { findMain(top) } else { findHeaps(of: arena, top) }
  }

  /// The program's break, or memory that was mapped because the break could not be moved.
  private mutating func findMain(_ top: UInt64) {
    var ranges: [Range<UInt64>] = []
    for mapping in memory.mappings where mapping.isPrivateAnonymous && mapping.isReadable {
      let isHeap = mapping.kernelName == "[heap]"
      // The kernel lists one heap as several mappings where their protection differs.
      if isHeap, let last = ranges.last, last.upperBound == mapping.range.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound..<mapping.range.upperBound
      } else if isHeap || mapping.range.contains(top) {
        ranges.append(mapping.range)
      }
    }
    for range in ranges { append(range.lowerBound, range.contains(top) ? top : range.upperBound) }
    if !ranges.contains(where: { $0.contains(top) }) { isIncomplete = true }
  }

  /// Heaps of a fixed greatest size; the newest has the top, each refers to the one before.
  private mutating func findHeaps(of arena: UInt64, _ top: UInt64) {
    let first = ArenaRing.firstHeap(of: arena)
    guard let newest = newestHeap(of: arena, top) else {
      isIncomplete = true
      return
    }
    let alignment = newest.alignment
    var heap = newest.heap
    var seen: Set<UInt64> = []
    while seen.count < InspectionLimits.heapsOfArena, seen.insert(heap).inserted {
      guard heap & (alignment - 1) == 0, heap < RuntimeAddress.limit,
        window.word(at: heap + GlibcLayout.heapArena) == arena,
        let previous = window.word(at: heap + GlibcLayout.previousHeap),
        let size = window.word(at: heap + GlibcLayout.heapSize)
      else { break }
      // Heaps that keep to this have no memory in common.
      guard size <= alignment else { break }
      let (end, overflow) = heap.addingReportingOverflow(size)
      guard !overflow else { break }
      let hasTop = top >= heap && top < end
      let start = heap == first ? arena + GlibcLayout.arenaSize : heap + (arena - first)
      append(start, hasTop ? top : end)
      if heap == first { return }
      heap = previous
    }
    isIncomplete = true
  }

  private func newestHeap(of arena: UInt64, _ top: UInt64) -> (heap: UInt64, alignment: UInt64)? {
    let others = GlibcLayout.heapAlignmentShifts.map { UInt64(1) << UInt64($0) }
    for alignment in [GlibcLayout.usualHeapAlignment] + others {
      let heap = top & ~(alignment - 1)
      if window.word(at: heap + GlibcLayout.heapArena) == arena { return (heap, alignment) }
    }
    return nil
  }

  private mutating func append(_ start: UInt64, _ end: UInt64) {
    guard let start = start.roundedUp(to: GlibcLayout.alignment), start <= end, end <= RuntimeAddress.limit else {
      isIncomplete = true
      return
    }
    if start < end { pieces.append(HeapPiece(start: start, end: end)) }
  }
}
