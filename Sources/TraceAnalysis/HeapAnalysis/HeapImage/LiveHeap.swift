// The blocks that are live at one moment, in order of address.

import TraceReading

/// The number of a live block: its index in the order of addresses, from 0.
package struct BlockID: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32
  @inline(__always) package init(_ rawValue: UInt32) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The live blocks of a trace at one moment, for look-ups by any address inside them. Immutable.
///
/// Memory: a `LiveBlockList`, and 24 to 48 bytes for each page where a block begins.
package struct LiveHeap: @unchecked Sendable {
  /// The blocks, ascending by address, disjoint, and below `RuntimeAddress.limit`. An incomplete trace may have several
  /// blocks in one place; the last block is kept. A block that overlaps the next one, or exceeds the address limit, is
  /// cut short there. So the sum of all sizes fits 64 bits.
  package let blocks: LiveBlockList
  /// The addresses and sizes of `blocks`.
  private let places: LiveBlockList.Places
  /// An open-addressed hash table. The keys are page numbers plus 1. The value, in `pageFirst`, is the first block that
  /// begins in the page.
  private let pageKeys: [UInt64]
  private let pageFirst: [UInt32]
  private let shift: UInt64

  /// No two blocks may begin at the same address.
  package init(_ blocks: [LiveBlock]) { self.init(LiveBlockList(blocks)) }

  /// O(n log n), and linear for sorted blocks. No two blocks may begin at the same address.
  package init(_ unsorted: LiveBlockList) {
    let blocks = Self.isInOrder(unsorted) ? unsorted : Self.ordered(unsorted)
    self.blocks = blocks
    places = blocks.places
    var pageCount = 0
    var last = UInt64.max
    for index in 0..<blocks.count where places.address(index) >> 12 != last {
      pageCount += 1
      last = places.address(index) >> 12
    }
    var capacity = 16
    while capacity < pageCount * 2 { capacity *= 2 }
    let shift = UInt64(64 - capacity.trailingZeroBitCount)
    var keys = [UInt64](repeating: 0, count: capacity)
    var first = [UInt32](repeating: 0, count: capacity)
    last = UInt64.max
    for index in 0..<blocks.count where places.address(index) >> 12 != last {
      last = places.address(index) >> 12
      var slot = Int(truncatingIfNeeded: (last &* 0x9E37_79B9_7F4A_7C15) >> shift)
      while keys[slot] != 0 { slot = (slot + 1) & (capacity - 1) }
      keys[slot] = last + 1
      first[slot] = UInt32(index)
    }
    pageKeys = keys
    pageFirst = first
    self.shift = shift
  }

  /// Returns whether blocks are sorted and disjoint, as `blocks` must be.
  private static func isInOrder(_ list: LiveBlockList) -> Bool {
    guard list.count <= ReadingLimits.blockLimit else { return false }
    let places = list.places
    var end: UInt64 = 0
    for index in 0..<list.count {
      let address = places.address(index)
      guard address >= end, address < RuntimeAddress.limit else { return false }
      let size = places.size(index) ?? list[index].size
      guard size <= RuntimeAddress.limit - address else { return false }
      end = address + max(1, size)
    }
    return true
  }

  private static func ordered(_ unsorted: LiveBlockList) -> LiveBlockList {
    LiveBlockList(capacity: unsorted.count) { places in
      var count = 0
      for block in unsorted {
        places[count] = block
        count += 1
      }
      var filled = UnsafeMutableBufferPointer(rebasing: places[..<count])
      filled.sort { $0.address < $1.address }
      count = min(count, ReadingLimits.blockLimit)
      while count > 0, places[count - 1].address >= RuntimeAddress.limit { count -= 1 }
      count = removeReplaced(UnsafeMutableBufferPointer(rebasing: places[..<count]))
      for index in 0..<count {
        let next = index + 1 < count ? places[index + 1].address : RuntimeAddress.limit
        places[index].size = min(places[index].size, next - places[index].address)
      }
      return count
    }
  }

  /// Removes each block whose memory a later block took; the block's free was not recorded. Blocks of unknown order
  /// stay. Moves the remaining blocks to the front, and returns their number. Linear.
  private static func removeReplaced(_ blocks: UnsafeMutableBufferPointer<LiveBlock>) -> Int {
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
    return kept
  }

  /// The address of the block at an index below `count`. Constant time.
  @inline(__always) private func address(_ index: Int) -> UInt64 { places.address(index) }

  package var count: Int { blocks.count }

  @inline(__always)
  package subscript(_ id: BlockID) -> LiveBlock {
    let index = Int(id.rawValue)
    precondition(index < blocks.count, "no such block")
    if places.areWhole { return (places.start + index &* places.stride).load(as: LiveBlock.self) }
    // The block is assembled here, because most callers use only one property. The compiler then reduces the call to
    // one load.
    var block = places.common
    block.address = places.address(index)
    block.size = places.size(index) ?? blocks[index].size
    block.site = places.siteOfRow(index)
    block.ordinal = UInt64(index)
    block.threadOrdinal = UInt32(truncatingIfNeeded: index)
    return block
  }

  /// Returns the block that contains `address`. A block of size 0 contains only its start. Expected constant time.
  @inline(__always)
  package func block(containing address: UInt64) -> BlockID? {
    let page = address >> 12
    var slot = Int(truncatingIfNeeded: (page &* 0x9E37_79B9_7F4A_7C15) >> shift)
    while true {
      let key = pageKeys[slot]
      if key == page &+ 1 {
        var index = Int(pageFirst[slot])
        if self.address(index) > address { return index == 0 ? nil : hit(index - 1, address) }
        // No allocator puts more than 256 blocks into a page, but a hostile file may.
        let last = min(blocks.count - 1, index + 256)
        while index < last, self.address(index + 1) <= address { index += 1 }
        return index == last ? searched(address) : hit(index, address)
      }
      if key == 0 { return searched(address) }
      slot = (slot &+ 1) & (pageKeys.count &- 1)
    }
  }

  @inline(__always)
  private func hit(_ index: Int, _ address: UInt64) -> BlockID? {
    address - self.address(index) < max(places.size(index) ?? blocks[index].size, 1)
      ? BlockID(UInt32(index)) : nil
  }

  /// Finds the block at an address by binary search, for pages where no block begins, or very many blocks begin.
  @inline(never)
  private func searched(_ address: UInt64) -> BlockID? {
    guard address < RuntimeAddress.limit else { return nil }
    let index = lowerBound(address + 1) - 1
    return index < 0 ? nil : hit(index, address)
  }

  /// Returns the index of the first block at or after `address`.
  package func lowerBound(_ address: UInt64) -> Int { places.lowerBound(address, count: blocks.count) }
}
