// Blocks from the metadata of jemalloc.

import Testing
import TraceReading

@testable import ProcessInspection

/// A tree of extents in the layout of jemalloc 5.3, for addresses of 48 or 57 bits.
struct SyntheticExtents {
  let memory = SyntheticMemory()
  private(set) var blocks: [AllocatedBlock] = []
  let isWide: Bool
  private var nextRecord: UInt64 = 0x7E00_0080_0000
  private var next: UInt64 = 0x7D00_0000_0000

  private static let root: UInt64 = 0x7F00_0000_1040
  private static let node: UInt64 = 0x7E00_0000_0000
  private static let leaf: UInt64 = 0x7E00_0010_0000
  private static let page: UInt64 = 4096

  init(isWide: Bool) {
    self.isWide = isWide
    memory.map(
      MemoryMapping(
        range: 0x7F00_0000_0000..<0x7F00_0000_1000, file: BackingFile(path: "/lib/libjemalloc.so.2", offset: 0)))
    memory.map(MemoryMapping(range: 0x7F00_0000_1000..<0x7F00_0040_0000))
    memory.map(MemoryMapping(range: 0x7E00_0000_0000..<0x7E00_0090_0000))
    memory.map(MemoryMapping(range: next..<next + 0x400_0000))
    let page = next / Self.page
    if isWide {
      memory[Self.root + 8 * (page >> 30)] = Self.node
      memory[Self.node + 8 * (page >> 15 & 0x7FFF)] = Self.leaf
    } else {
      memory[Self.root + 8 * (page >> 18)] = Self.leaf
    }
  }

  /// Returns the size of blocks of a size class.
  static func bytes(ofClass index: Int) -> UInt64 {
    let (group, step) = ((index - 1) / 4, UInt64((index - 1) % 4))
    return (group > 0 ? 32 << group : 0) + (step + 1) << (max(group, 1) + 3)
  }

  private mutating func addExtent(pages: UInt64, sizeClass: Int, isSlab: Bool, offset: UInt64 = 0) -> UInt64 {
    let (record, first) = (nextRecord, next)
    memory[record] = (isSlab ? 1 << 12 : 0) | UInt64(sizeClass) << 20
    memory[record + 8] = first + offset
    memory[record + 16] = pages * Self.page
    for page in first / Self.page..<first / Self.page + pages {
      let slab: UInt64 = isSlab ? 1 : 0
      if isWide {
        let entry = Self.leaf + 16 * (page & 0x7FFF)
        (memory[entry], memory[entry + 8]) = (record, UInt64(sizeClass) << 5 | slab)
      } else {
        memory[Self.leaf + 8 * (page & 0x3FFFF)] = UInt64(sizeClass) << 48 | record | slab
      }
    }
    nextRecord += 128
    next += pages * Self.page
    return record
  }

  /// Adds a slab. Every third region of the slab is free.
  mutating func addSlab(pages: UInt64, sizeClass: Int) {
    let first = next
    let record = addExtent(pages: pages, sizeClass: sizeClass, isSlab: true)
    let size = Self.bytes(ofClass: sizeClass)
    for region in 0..<pages * Self.page / size {
      if region % 3 == 0 {
        memory[record + 64 + region / 64 * 8] |= 1 << (region % 64)
      } else {
        blocks.append(AllocatedBlock(address: first + region * size, usableSize: size))
      }
    }
  }

  /// Adds a block with its own extent, which has an additional page.
  mutating func addLarge(sizeClass: Int, bytes: UInt64, offset: UInt64) {
    let first = next
    _ = addExtent(pages: bytes / Self.page + 1, sizeClass: sizeClass, isSlab: false, offset: offset)
    blocks.append(AllocatedBlock(address: first + offset, usableSize: bytes))
  }
}

@Suite struct JemallocHeapTests {
  @Test(arguments: [false, true]) func blocksAreTheRegionsNotFreeInABitmap(isWide: Bool) throws {
    var extents = SyntheticExtents(isWide: isWide)
    for sizeClass in [2, 6, 9, 20] { extents.addSlab(pages: 4, sizeClass: sizeClass) }
    for sizeClass in [40, 44, 69] {
      extents.addLarge(sizeClass: sizeClass, bytes: SyntheticExtents.bytes(ofClass: sizeClass), offset: 0x40)
    }
    let found = try #require(JemallocHeap(in: extents.memory))
    #expect(found.blocks == extents.blocks)
    #expect(!found.isIncomplete && found.slabFreeBytes > 0)
  }

  /// Since 5.3.1, a large block has whole pages and is smaller than its size class.
  @Test(arguments: [false, true]) func largeBlockMayBeSmallerThanItsClass(isWide: Bool) throws {
    var extents = SyntheticExtents(isWide: isWide)
    extents.addSlab(pages: 4, sizeClass: 6)
    extents.addLarge(sizeClass: 69, bytes: 0x45_7000, offset: 0x700)
    extents.addLarge(sizeClass: 64, bytes: SyntheticExtents.bytes(ofClass: 63) + 4096, offset: 0)
    extents.addSlab(pages: 4, sizeClass: 9)
    let found = try #require(JemallocHeap(in: extents.memory))
    #expect(found.blocks == extents.blocks && !found.isIncomplete)
  }

  @Test func treeOfUnknownLayoutIsNotRead() {
    let extents = SyntheticExtents(isWide: true)
    #expect(JemallocHeap(in: extents.memory) == nil)
  }
}
