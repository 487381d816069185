// Memory that a program mapped directly: the writable regions, without the parts that have other owners.

import CHeapScan
import TraceReading

/// Finds the parts of writable regions that belong to no loaded image, no thread's stack and no allocator.
///
/// The kernel merges adjacent mappings of the same kind into one region. For example, it merges a mapping of the
/// program with a thread's stack below it, with the zeroed variables of a library, or with a large block of the
/// allocator. So this type splits each region by owner. Source: Linux 6.18, mm/vma.c (can_vma_merge_before,
/// can_vma_merge_after).
struct OwnMappings {
  let heap: LiveHeap
  let image: HeapImage
  /// Disjoint and in order of address.
  let imageRanges: [Range<UInt64>]
  /// Addresses of the threads' control blocks.
  let controlBlocks: Set<UInt64>
  let threadBlocks: ThreadBlocks
  /// False if threads kept running while the heap image was taken. Stacks in use may then look like stacks of exited
  /// threads.
  let isFrozen: Bool
  /// Bytes of the kernel's pages; a power of two.
  private let pageSize: UInt64
  /// The number of addresses that may still be checked for arenas of the allocator.
  private var spareLooks = 1 << 20

  init(
    heap: LiveHeap, image: HeapImage, imageRanges: [Range<UInt64>], controlBlocks: Set<UInt64>,
    threadBlocks: ThreadBlocks, isFrozen: Bool
  ) {
    (self.heap, self.image, self.imageRanges, self.controlBlocks, self.threadBlocks, self.isFrozen) = (
      heap, image, imageRanges, controlBlocks, threadBlocks, isFrozen
    )
    pageSize = image.kernelPageSize
  }

  /// Returns the parts of a region that belong to the program, in order. `stackEnd`: the end of a thread's stack at the
  /// region's beginning. Linear in the region's loaded images, arenas, large blocks and pages, and in the words at its
  /// end.
  mutating func parts(of region: MemoryRegion, above stackEnd: UInt64?) -> [Range<UInt64>] {
    var start = min(max(stackEnd ?? 0, region.range.lowerBound), region.range.upperBound)
    var parts: [Range<UInt64>] = []
    var stacks: [Range<UInt64>] = []
    let left = isFrozen ? leftControlBlocks(in: region) : []
    for block in left {
      let stack = leftStack(controlBlock: block)
      if let stack { stacks.append(stack) }
      if stack == nil, stackEnd == nil, block == left.first {
        start = min(threadBlocks.stackEnd(block), region.range.upperBound)
      }
      // Add the word with the address of the thread's table of variables, unless it is in the rest of the region
      // anyway.
      if stack != nil || block < start {
        parts.append(block + threadBlocks.vectorOffset..<block + threadBlocks.vectorOffset + 8)
      }
    }
    for rest in Self.rest(of: start..<region.range.upperBound, without: Self.disjoint(stacks + imageRanges)) {
      for rest in Self.rest(of: rest, without: arenas(in: rest)) { parts += withoutBlocks(rest) }
    }
    return parts.sorted { $0.lowerBound < $1.lowerBound }
  }

  /// Joins ranges that overlap, and puts them in order.
  private static func disjoint(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
    var result: [Range<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = result.last, range.lowerBound <= last.upperBound {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    return result
  }

  // MARK: Stacks

  /// Returns the control blocks on the stacks of exited threads, in order. The C library keeps some of these stacks for
  /// new threads. Such a stack has a control block at its top. The block's words mark it (`ThreadBlocks`), and no thread
  /// uses it.
  ///
  /// Since glibc 2.42, guard pages do not separate mappings, so several stacks may be in one region. All control blocks
  /// have the same offset within their page.
  private func leftControlBlocks(in region: MemoryRegion) -> [UInt64] {
    let end = region.range.upperBound
    func isLeft(_ block: UInt64) -> Bool {
      end > block && end - block >= 24 && threadBlocks.isDescribed(block) && !controlBlocks.contains(block)
    }
    var found: Set<UInt64> = []
    let low = end - min(end - region.range.lowerBound, 64 << 10)
    var top: UInt64?
    image.forEachWord(in: low..<end) { address, value in
      if let block = threadBlocks.threadPointer(markedBy: value, at: address), isLeft(block) { top = block }
    }
    if let top { found.insert(top) }
    let places = Set((controlBlocks.union(found)).map { $0 % pageSize }).filter { $0 % 8 == 0 }
    var next = region.range.lowerBound
    while next < end, let word = image.firstWord(in: next..<end) {
      let page = word & ~(pageSize - 1)
      for place in places where page + place >= region.range.lowerBound && isLeft(page + place) {
        found.insert(page + place)
      }
      let (following, overflow) = page.addingReportingOverflow(pageSize)
      if overflow { break }
      next = following
    }
    return found.sorted()
  }

  /// Returns the stack of a control block. The control block holds the stack's address, directly followed by its size.
  /// Nil if no two words fit this. Source: glibc 2.43, nptl/descr.h (struct pthread: stackblock, stackblock_size).
  private func leftStack(controlBlock: UInt64) -> Range<UInt64>? {
    guard let fields = threadBlocks.stackFields(controlBlock) else { return nil }
    for field in stride(from: fields.lowerBound, to: fields.upperBound, by: 8) {
      guard let start = image.word(at: field), start % pageSize == 0, start < controlBlock,
        let size = image.word(at: field + 8), size % pageSize == 0
      else { continue }
      let (end, overflow) = start.addingReportingOverflow(size)
      if !overflow, end > controlBlock, end - controlBlock <= threadBlocks.mostBytesToStackEnd { return start..<end }
    }
    return nil
  }

  // MARK: The allocator's memory

  /// Returns glibc's additional arenas in a range. They begin at multiples of their size.
  private mutating func arenas(in range: Range<UInt64>) -> [Range<UInt64>] {
    var found: [Range<UInt64>] = []
    var start = range.lowerBound.addingReportingOverflow(Self.arenaSize - 1).partialValue & ~(Self.arenaSize - 1)
    while range.contains(start), spareLooks > 0 {
      spareLooks -= 1
      let end = min(start.addingReportingOverflow(Self.arenaSize).partialValue, range.upperBound)
      guard end > start else { break }
      if Self.isArena(at: start, image) { found.append(start..<end) }
      start = end
    }
    return found
  }

  private static let arenaSize = UInt64(GLIBC_HEAP_LIMIT)

  /// Returns whether an arena begins at an address. It begins with a pointer to the arena's state. In the first heap of
  /// an arena, the state directly follows.
  static func isArena(at address: UInt64, _ image: HeapImage) -> Bool {
    guard address % arenaSize == 0, let state = image.word(at: address) else { return false }
    return state % arenaSize < UInt64(GLIBC_MAX_HEAP_INFO)
  }

  /// Returns the parts of a range outside all blocks. Returns no parts if the range has small blocks: the allocator
  /// owns the memory between them, and old words remain there. A large block of glibc is a separate mapping, so the
  /// memory next to it has another owner.
  private func withoutBlocks(_ range: Range<UInt64>) -> [Range<UInt64>] {
    var first = heap.lowerBound(range.lowerBound)
    // The previous block may reach into the range.
    if first > 0, Self.end(heap.blocks[first - 1]) > range.lowerBound { first -= 1 }
    let next = heap.lowerBound(range.upperBound)
    guard first < next else { return [range] }
    guard next - first <= Self.largeBlocks, (first..<next).allSatisfy({ isMapping(heap.blocks[$0]) }) else {
      return []
    }
    var parts: [Range<UInt64>] = []
    var start = range.lowerBound
    for index in first..<next {
      let block = heap.blocks[index]
      let low = block.address - Self.chunkHeader
      if start < low { parts.append(start..<min(low, range.upperBound)) }
      let (end, overflow) = Self.end(block).addingReportingOverflow(pageSize - 1)
      start = max(start, (overflow ? .max : end) & ~(pageSize - 1))
    }
    if start < range.upperBound { parts.append(start..<range.upperBound) }
    return parts
  }

  /// Returns whether glibc made a separate mapping for a block: the block follows a header at the beginning of a page.
  /// With jemalloc, tcmalloc and mimalloc, no block of this size has such an address.
  private func isMapping(_ block: LiveBlock) -> Bool {
    block.size >= Self.largeSize && block.address % pageSize == Self.chunkHeader
  }

  private static func end(_ block: LiveBlock) -> UInt64 {
    let (end, overflow) = block.address.addingReportingOverflow(block.size)
    return overflow ? .max : end
  }

  /// Bytes of the allocator's header before a block. Seen with glibc 2.36.
  private static let chunkHeader = UInt64(GLIBC_CHUNK_MEMORY)
  /// The smallest block that may have a separate mapping. glibc maps blocks of 128 KiB and more separately, unless the
  /// program sets another limit (M_MMAP_THRESHOLD).
  private static let largeSize: UInt64 = 64 << 10
  /// The highest number of blocks that glibc maps separately.
  private static let largeBlocks = GLIBC_MAPPED_LIMIT

  // MARK: Ranges

  /// Returns the parts of a range outside all `others`, which are disjoint and in order. Logarithmic in `others`, and
  /// linear in the overlapping ranges.
  static func rest(of range: Range<UInt64>, without others: [Range<UInt64>]) -> [Range<UInt64>] {
    var low = 0
    var high = others.count
    while low < high {
      let middle = (low + high) / 2
      if others[middle].upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    var parts: [Range<UInt64>] = []
    var start = range.lowerBound
    while low < others.count, others[low].lowerBound < range.upperBound {
      if start < others[low].lowerBound { parts.append(start..<others[low].lowerBound) }
      start = max(start, others[low].upperBound)
      low += 1
    }
    if start < range.upperBound { parts.append(start..<range.upperBound) }
    return parts
  }
}
