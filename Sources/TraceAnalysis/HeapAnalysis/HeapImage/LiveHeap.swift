// The blocks that were live at a moment, in order of address.

import TraceReading

/// The number of a live block: its place in the order of addresses, from 0.
package struct BlockID: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32
  @inline(__always) package init(_ rawValue: UInt32) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The live blocks of a trace at one moment, to be looked up by any address inside them. Immutable.
///
/// Memory: 48 bytes a block, and 16 for each page with a block in it.
package struct LiveHeap: Sendable {
  /// Ascending by address; disjoint, and below `RuntimeAddress.limit`: of blocks that an incomplete trace lets stand in
  /// one place the last one counts, and one that reaches into the next all the same, or beyond all memory, is cut
  /// there. So the sum of all sizes is a number of 64 bits.
  package let blocks: [LiveBlock]
  /// Open-addressed from page number + 1 to the first block that begins in the page.
  private let pageKeys: [UInt64]
  private let pageFirst: [UInt32]
  private let shift: UInt64

  /// O(n log n). No two blocks may begin at the same address.
  package init(_ unsorted: [LiveBlock]) {
    var blocks = unsorted
    blocks.sort { $0.address < $1.address }
    if blocks.count > ReadingLimits.blockLimit { blocks.removeLast(blocks.count - ReadingLimits.blockLimit) }
    while let last = blocks.last, last.address >= RuntimeAddress.limit { blocks.removeLast() }
    Self.removeReplaced(&blocks)
    for index in blocks.indices {
      let next = index + 1 < blocks.count ? blocks[index + 1].address : RuntimeAddress.limit
      let room = next - blocks[index].address
      if blocks[index].size > room { blocks[index].size = room }
    }
    self.blocks = blocks
    var pageCount = 0
    var last = UInt64.max
    for block in blocks where block.address >> 12 != last {
      pageCount += 1
      last = block.address >> 12
    }
    var capacity = 16
    while capacity < pageCount * 2 { capacity *= 2 }
    let shift = UInt64(64 - capacity.trailingZeroBitCount)
    var keys = [UInt64](repeating: 0, count: capacity)
    var first = [UInt32](repeating: 0, count: capacity)
    last = UInt64.max
    for (index, block) in blocks.enumerated() where block.address >> 12 != last {
      last = block.address >> 12
      var slot = Int(truncatingIfNeeded: (last &* 0x9E37_79B9_7F4A_7C15) >> shift)
      while keys[slot] != 0 { slot = (slot + 1) & (capacity - 1) }
      keys[slot] = last + 1
      first[slot] = UInt32(index)
    }
    pageKeys = keys
    pageFirst = first
    self.shift = shift
  }

  /// Removes blocks that a later one was put over: their frees were not seen. Blocks of which nothing says which is the
  /// later stay. Linear.
  private static func removeReplaced(_ blocks: inout [LiveBlock]) {
    var kept = 0
    for index in blocks.indices {
      let block = blocks[index]
      var isReplaced = false
      while kept > 0, block.address - blocks[kept - 1].address < blocks[kept - 1].size {
        if blocks[kept - 1].ordinal >= block.ordinal {
          isReplaced = blocks[kept - 1].ordinal > block.ordinal
          break
        }
        kept -= 1
      }
      if isReplaced { continue }
      blocks[kept] = block
      kept += 1
    }
    blocks.removeLast(blocks.count - kept)
  }

  package var count: Int { blocks.count }
  @inline(__always) package subscript(_ id: BlockID) -> LiveBlock { blocks[Int(id.rawValue)] }

  /// The block that holds `address`: from its start up to its size, or its start alone if its size is 0. Expected
  /// constant time.
  @inline(__always)
  package func block(containing address: UInt64) -> BlockID? {
    let page = address >> 12
    var slot = Int(truncatingIfNeeded: (page &* 0x9E37_79B9_7F4A_7C15) >> shift)
    while true {
      let key = pageKeys[slot]
      if key == page &+ 1 {
        var index = Int(pageFirst[slot])
        if blocks[index].address > address { return index == 0 ? nil : Self.hit(blocks[index - 1], index - 1, address) }
        // No allocator puts more blocks into a page than this; a hostile file may.
        let last = min(blocks.count - 1, index + 256)
        while index < last, blocks[index + 1].address <= address { index += 1 }
        return index == last ? searched(address) : Self.hit(blocks[index], index, address)
      }
      if key == 0 { return searched(address) }
      slot = (slot &+ 1) & (pageKeys.count &- 1)
    }
  }

  @inline(__always)
  private static func hit(_ block: LiveBlock, _ index: Int, _ address: UInt64) -> BlockID? {
    address - block.address < max(block.size, 1) ? BlockID(UInt32(index)) : nil
  }

  /// In a page where no block begins, inside a large block or nowhere; or where very many do.
  @inline(never)
  private func searched(_ address: UInt64) -> BlockID? {
    guard address < RuntimeAddress.limit else { return nil }
    let index = lowerBound(address + 1) - 1
    return index < 0 ? nil : Self.hit(blocks[index], index, address)
  }

  /// Index of the first block at or after `address`.
  package func lowerBound(_ address: UInt64) -> Int {
    var low = 0
    var high = blocks.count
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle].address < address { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
