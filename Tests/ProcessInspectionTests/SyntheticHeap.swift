// Makes the memory of a process with an allocator's metadata, for tests.

import TraceReading

@testable import ProcessInspection

/// Memory that consists of words. If one word of a page was written, the whole page can be read.
final class SyntheticMemory: ProcessMemory {
  var mappings: [MemoryMapping] = []
  private var pages: [UInt64: [UInt64]] = [:]

  func map(_ mapping: MemoryMapping) {
    mappings.append(mapping)
    mappings.sort { $0.range.lowerBound < $1.range.lowerBound }
  }

  subscript(address: UInt64) -> UInt64 {
    get { pages[address >> 12]?[Int(address >> 3 & 511)] ?? 0 }
    set { pages[address >> 12, default: [UInt64](repeating: 0, count: 512)][Int(address >> 3 & 511)] = newValue }
  }

  /// The sorted addresses of all words in pages that were written to.
  var addresses: [UInt64] { pages.keys.sorted().flatMap { page in (0..<512).map { page << 12 + $0 * 8 } } }

  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < buffer.count {
      let (at, overflow) = address.rawValue.addingReportingOverflow(UInt64(done))
      guard !overflow, let mapping = mappings.mapping(at: at) else { break }
      let end = min(at & ~4095 + 4096, mapping.range.upperBound)
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[done...].prefix(Int(end - at)))
      if let page = pages[at >> 12] {
        page.withUnsafeBytes { part.copyBytes(from: $0[Int(at & 4095)...].prefix(part.count)) }
      } else {
        part.initializeMemory(as: UInt8.self, repeating: 0)
      }
      done += part.count
    }
    return done
  }
}

/// A heap in glibc's layout: arenas with chunks that are in use, free, in caches, or in fast bins.
struct SyntheticHeap {
  enum Use { case block, free, cached, fast }

  /// Releases of glibc with different layouts. The number is the minor version, such as 36 for glibc 2.36.
  enum Release: Int, CaseIterable { case to41 = 36, with42 = 42, with43 = 43 }

  let release: Release
  /// The offset of an arena's bins.
  private var bins: UInt64 { release == .with43 ? 0x18 : 0x70 }
  private var cacheBins: UInt64 { release == .to41 ? 64 : 76 }
  private var cacheChunk: UInt64 { release == .to41 ? 0x290 : 0x300 }
  /// The largest number of blocks in a bin of a cache.
  static let cacheLimit: UInt64 = 16
  static let cacheKey: UInt64 = 0x1234_5678_9ABC_DEF0

  let memory = SyntheticMemory()
  /// The addresses and usable sizes of the blocks in use.
  private(set) var blocks: [AllocatedBlock] = []
  /// Whether links are stored in the form used since 2.32.
  var protectsLinks = true
  private var arenas: [UInt64] = []
  private var next: UInt64 = 0
  private var arena: UInt64 = 0
  private var previousSize: UInt64 = 0
  private var previousInUse = true
  private var marked: UInt64 { arena == Self.main ? 0 : 4 }
  private var cacheLists: [UInt64: [UInt64]] = [:]
  private var fastLists: [UInt64: [UInt64]] = [:]
  private var cache: UInt64 = 0

  static let main: UInt64 = 0x7F00_0010_0C80
  static let heapStart: UInt64 = 0x5550_0000_0000
  static let secondHeap: UInt64 = 0x7E00_0000_0000
  static let stack: UInt64 = 0x7F80_0000_0000
  static let mapped: UInt64 = 0x7F70_0000_0000

  init(_ release: Release = .to41) {
    self.release = release
    memory.map(
      MemoryMapping(
        range: 0x7F00_0010_0000..<0x7F00_0010_4000, file: BackingFile(path: "/lib/libc.so.6", offset: 0x1000)))
    memory.map(MemoryMapping(range: Self.heapStart..<Self.heapStart + 0x10_000, kernelName: "[heap]"))
    memory.map(MemoryMapping(range: Self.secondHeap..<Self.secondHeap + 0x10_000))
    memory.map(MemoryMapping(range: Self.mapped..<Self.mapped + 0x40_000))
    memory.map(MemoryMapping(range: Self.stack..<Self.stack + 0x10_000, kernelName: "[stack]"))
  }

  private mutating func makeArena(_ address: UInt64, firstChunk: UInt64) {
    for pair in 0..<127 as Range<UInt64> {
      let bin = address + bins + 16 * pair
      (memory[bin], memory[bin + 8]) = (bin - 16, bin - 16)
    }
    arenas.append(address)
    for (index, one) in arenas.enumerated() { memory[one + bins + 0x800] = arenas[(index + 1) % arenas.count] }
    (arena, next, previousInUse) = (address, firstChunk, true)
  }

  mutating func beginMain() { makeArena(Self.main, firstChunk: Self.heapStart) }

  mutating func beginSecond() {
    let arena = Self.secondHeap + 0x30
    memory[Self.secondHeap] = arena
    memory[Self.secondHeap + 16] = 0x10_000
    makeArena(arena, firstChunk: (arena + bins + 0x828 + 15) & ~15)
  }

  /// Adds a chunk after the last one, and returns its address.
  @discardableResult mutating func chunk(_ size: UInt64, _ use: Use) -> UInt64 {
    let at = next
    memory[at + 8] = size | (previousInUse ? 1 : 0) | marked
    if !previousInUse { memory[at] = previousSize }
    switch use {
    case .block: blocks.append(AllocatedBlock(address: at + 16, usableSize: size - 8))
    case .free: break
    case .cached: cacheLists[size, default: []].append(at + 16)
    case .fast: fastLists[size, default: []].append(at)
    }
    previousInUse = use != .free
    previousSize = size
    next += size
    return at
  }

  /// Puts one free chunk into each of the arena's first `count` bins. Chunks in use separate the free ones.
  mutating func fillBins(_ count: UInt64) {
    for pair in 0..<count {
      chunk(32, .block)
      let bin = arena + bins + 16 * pair
      let free = chunk(48, .free)
      (memory[bin], memory[bin + 8]) = (free, free)
      (memory[free + 16], memory[free + 24]) = (bin - 16, bin - 16)
    }
    chunk(32, .block)
  }

  /// Ends the current memory of the main arena, and continues in memory that was mapped for the arena at `address`.
  mutating func goOn(at address: UInt64) {
    if !previousInUse { memory[next] = previousSize }
    // Two fence chunks mark the end. They are not blocks.
    memory[next + 8] = 16 | (previousInUse ? 1 : 0)
    memory[next + 24] = 16 | 1
    memory[arena] = 2 << 32
    (next, previousInUse) = (address, true)
  }

  /// Ends the second arena's heap, whose top has `topSize` bytes, and continues in another heap, as glibc does.
  mutating func beginAnotherHeap(topSize: UInt64) {
    let heap = Self.secondHeap + 0x400_0000
    memory.map(MemoryMapping(range: heap..<heap + 0x10_000))
    (memory[heap], memory[heap + 8], memory[heap + 16]) = (arena, Self.secondHeap, 0x10_000)
    memory[Self.secondHeap + 16] = next + topSize - Self.secondHeap
    // At least 32 bytes are taken for two fence chunks. The rest is freed if it can be a chunk.
    let rest = topSize - 32
    precondition(previousInUse, "a free chunk before the top would be part of it")
    if rest >= 32 {
      memory[next + 8] = rest | 1 | marked
      (memory[next + rest], memory[next + rest + 8]) = (rest, 16)
    } else {
      memory[next + 8] = rest + 16 | 1
    }
    memory[next + rest + 24] = 1
    (next, previousInUse) = (heap + 0x30, true)
  }

  /// Adds a thread's cache. The lists of cached chunks belong to this cache.
  ///
  /// - Parameter surplus: The bytes of the chunk beyond the size of the cache.
  @discardableResult mutating func addCache(surplus: UInt64 = 0) -> UInt64 {
    cache = chunk(cacheChunk + surplus, .block)
    blocks.removeLast()
    if release != .to41 { for bin in 0..<cacheBins { setNumber(Self.cacheLimit, of: bin) } }
    return cache
  }

  /// Writes the number of a bin of the last cache: the blocks in the bin, or since 2.42 the bin's free slots.
  func setNumber(_ number: UInt64, of bin: UInt64) {
    let word = cache + 16 + bin / 4 * 8
    let shift = bin % 4 * 16
    memory[word] = memory[word] & ~(0xFFFF << shift) | number << shift
  }

  /// Returns the bin of a cache for chunks of a size.
  private static func cacheBin(of size: UInt64) -> UInt64 {
    size <= 1040 ? size / 16 - 2 : UInt64(64 + 53 - size.leadingZeroBitCount)
  }

  /// Puts a block into the last cache, in order of size, like `endArena` does with chunks.
  mutating func cacheMapped(at head: UInt64) {
    blocks.removeAll { $0.address == head + 16 }
    cacheLists[memory[head + 8] & ~7, default: []].append(head + 16)
  }

  /// Writes the arena's lists and its top.
  ///
  /// - Parameter isLast: False if more chunks follow.
  mutating func endArena(topSize: UInt64 = 0x1000, isLast: Bool = true) {
    if isLast {
      memory[next + 8] = topSize | 1
      if !previousInUse { memory[next] = previousSize }
    }
    memory[arena + bins - 0x10] = next
    memory[arena + bins + 0x818] = 0x40_000
    for (size, chunks) in fastLists {
      link(chunks, at: 16)
      memory[arena + 0x10 + 8 * (size / 16 - 2)] = chunks[0]
    }
    // A bin of large chunks has its chunks in order of size.
    var cacheLists: [UInt64: [UInt64]] = [:]
    for (size, entries) in self.cacheLists.sorted(by: { $0.key < $1.key }) {
      cacheLists[Self.cacheBin(of: size), default: []] += entries
    }
    for (bin, entries) in cacheLists {
      link(entries, at: 0)
      for entry in entries { memory[entry + 8] = Self.cacheKey }
      let count = UInt64(entries.count)
      setNumber(release == .to41 ? count : Self.cacheLimit - count, of: bin)
      memory[cache + 16 + 2 * cacheBins + 8 * bin] = entries[0]
    }
    (fastLists, self.cacheLists) = ([:], [:])
  }

  private func link(_ entries: [UInt64], at offset: UInt64) {
    for (index, entry) in entries.enumerated() {
      let next = index + 1 < entries.count ? entries[index + 1] : 0
      memory[entry + offset] = protectsLinks ? (entry + offset) >> 12 ^ next : next
    }
  }

  /// Adds a block that has its own mapping. If the block is aligned, the header at the start of the mapping is kept.
  ///
  /// - Parameter firstSize: The size of the mapping before realloc moved the aligned block.
  mutating func addMapped(at address: UInt64, size: UInt64, skipped: UInt64 = 0, firstSize: UInt64? = nil) {
    let head = address + skipped
    let trailer: UInt64 = release == .with43 ? 16 : 0
    memory[address + 8] = ((firstSize ?? size) - trailer) | 2
    memory[head] = skipped
    memory[head + 8] = (size - skipped - trailer) | 2
    blocks.append(
      AllocatedBlock(address: head + 16, usableSize: size - skipped - (release == .with43 ? 24 : 16)))
  }

  /// Adds the name of the release to the constants of libc.
  func nameRelease(_ number: Int? = nil) {
    let text = Array(
      "GNU C Library (Debian GLIBC 2.9-5) stable release version 2.\(number ?? release.rawValue).\0\0".utf8)
    let start: UInt64 = 0x7F00_000F_0000
    memory.map(
      MemoryMapping(
        range: start..<start + 0x1000, isWritable: false, file: BackingFile(path: "/lib/libc.so.6", offset: 0)))
    for at in stride(from: 0, to: text.count & ~7, by: 8) {
      memory[start + 0x100 + UInt64(at)] = text[at..<at + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  var sortedBlocks: [AllocatedBlock] { blocks.sorted { $0.address < $1.address } }
}
