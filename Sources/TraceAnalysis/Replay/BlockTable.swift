// The live blocks of a replay, by address.

/// A hash table from address to block: open addressing with linear probing, a power of two in size, and deletion by shifting back, so that
/// it needs no tombstones and stays fast under any number of allocations and frees (Knuth, TAOCP 3, 6.4, algorithm R).
///
/// Neighbours in the heap are neighbours in the table, by half KiB: programs use blocks near one another at about the same time, and what
/// a look-up costs is cache misses. The blocks themselves stand in a pool, and do not move: what came up together stays together there.
///
/// Expected constant time. Memory: 32 to 64 bytes for each block of the largest number live at once, besides the block's own 56.
/// Address 0 cannot be stored. For one thread at a time.
final class BlockTable {
  private struct Slot: BitwiseCopyable {
    /// 0 where there is none.
    var address: UInt64
    var block: UnsafeMutablePointer<LiveBlock>
  }

  private var slots: UnsafeMutablePointer<Slot>
  private var mask: Int
  private var shift: UInt64
  private(set) var count = 0
  private var pool = BlockPool()

  init(minimumCapacity: Int = 1024) {
    var capacity = 16
    while capacity < minimumCapacity * 2 { capacity *= 2 }
    slots = Self.allocate(capacity)
    mask = capacity - 1
    shift = UInt64(64 - capacity.trailingZeroBitCount)
  }

  deinit {
    TableMemory.deallocate(slots)
    pool.deallocate()
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
    let slots = TableMemory.allocate(Slot.self, capacity: capacity)
    slots.initialize(repeating: Slot(address: 0, block: UnsafeMutablePointer(bitPattern: 8)!), count: capacity)
    return slots
  }

  /// Half a KiB of heap, 32 possible blocks, stays together; where it goes is spread by multiplying.
  @inline(__always)
  private func home(_ address: UInt64) -> Int {
    let place = ((address >> 9) &* 0x9E37_79B9_7F4A_7C15) &>> shift
    return Int(truncatingIfNeeded: place &+ (address >> 4 & 31)) & mask
  }

  /// A live block, valid until it is removed; nil if nothing is live there.
  @inline(__always)
  func find(_ address: UInt64) -> UnsafeMutablePointer<LiveBlock>? {
    var slot = home(address)
    while true {
      let found = slots[slot].address
      if found == address { return address == 0 ? nil : slots[slot].block }
      if found == 0 { return nil }
      slot = (slot &+ 1) & mask
    }
  }

  /// Adds a block at an address that is neither live nor 0.
  @inline(__always)
  func insert(_ block: LiveBlock) {
    var slot = home(block.address)
    while slots[slot].address != 0 { slot = (slot &+ 1) & mask }
    let place = pool.take()
    place.initialize(to: block)
    slots[slot] = Slot(address: block.address, block: place)
    count &+= 1
    if count &* 2 > mask { grow() }
  }

  /// Removes the block at an address and gives it back; nil if there is none.
  @inline(__always)
  func remove(_ address: UInt64) -> LiveBlock? {
    var hole = home(address)
    while slots[hole].address != address || address == 0 {
      if slots[hole].address == 0 { return nil }
      hole = (hole &+ 1) & mask
    }
    let place = slots[hole].block
    let block = place.pointee
    pool.give(place)
    var slot = hole
    while true {
      slot = (slot &+ 1) & mask
      let address = slots[slot].address
      if address == 0 { break }
      // An entry may move into the hole unless its home lies between the hole and itself, cyclically.
      if (slot &- home(address)) & mask >= (slot &- hole) & mask {
        slots[hole] = slots[slot]
        hole = slot
      }
    }
    slots[hole].address = 0
    count &-= 1
    return block
  }

  @inline(never)
  private func grow() {
    let old = slots
    let oldCapacity = mask + 1
    slots = Self.allocate(oldCapacity * 2)
    mask = oldCapacity * 2 - 1
    shift -= 1
    for index in 0..<oldCapacity where old[index].address != 0 {
      var slot = home(old[index].address)
      while slots[slot].address != 0 { slot = (slot + 1) & mask }
      slots[slot] = old[index]
    }
    TableMemory.deallocate(old)
  }

  /// Calls `body` with every live block, in no particular order.
  func forEach(_ body: (LiveBlock) -> Void) {
    for index in 0...mask where slots[index].address != 0 { body(slots[index].block.pointee) }
  }
}

/// Places for blocks that stay where they are. The last place given back is the first taken: it is the likeliest to be in the cache.
private struct BlockPool {
  private static let segmentSize = 1 << 15
  private var segments: [UnsafeMutablePointer<LiveBlock>] = []
  private var used = BlockPool.segmentSize
  /// Free places, each with the address of the next in its own `address`.
  private var free: UnsafeMutablePointer<LiveBlock>?

  @inline(__always)
  mutating func take() -> UnsafeMutablePointer<LiveBlock> {
    if let place = free {
      free = UnsafeMutablePointer(bitPattern: UInt(place.pointee.address))
      return place
    }
    if used == Self.segmentSize { addSegment() }
    used &+= 1
    return segments[segments.count &- 1] + (used &- 1)
  }

  @inline(__always)
  mutating func give(_ place: UnsafeMutablePointer<LiveBlock>) {
    place.pointee.address = UInt64(UInt(bitPattern: free))
    free = place
  }

  @inline(never)
  private mutating func addSegment() {
    segments.append(TableMemory.allocate(LiveBlock.self, capacity: Self.segmentSize))
    used = 0
  }

  func deallocate() { for segment in segments { TableMemory.deallocate(segment) } }
}
