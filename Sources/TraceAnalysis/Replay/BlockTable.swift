// The live blocks of a replay, by address.

/// A hash table from address to block: open addressing with linear probing, a power of two in size, and deletion by shifting back, so that
/// it needs no tombstones and stays fast under any number of allocations and frees (Knuth, TAOCP 3, 6.4, algorithm R).
///
/// Expected constant time. Memory: 40 to 160 bytes for each block of the largest number live at once. Address 0 cannot be stored.
/// For one thread at a time.
final class BlockTable {
  private var entries: UnsafeMutablePointer<LiveBlock>
  private var mask: Int
  private var shift: UInt64
  private(set) var count = 0

  init(minimumCapacity: Int = 1024) {
    var capacity = 16
    while capacity < minimumCapacity * 2 { capacity *= 2 }
    entries = Self.allocate(capacity)
    mask = capacity - 1
    shift = UInt64(64 - capacity.trailingZeroBitCount)
  }

  deinit { entries.deallocate() }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<LiveBlock> {
    let entries = UnsafeMutablePointer<LiveBlock>.allocate(capacity: capacity)
    entries.initialize(
      repeating: LiveBlock(address: 0, size: 0, birthTime: 0, site: SiteID(0), threadIndex: 0, ordinal: 0), count: capacity)
    return entries
  }

  /// Blocks lie at multiples of 16; multiplying spreads them over the upper bits.
  @inline(__always)
  private func home(_ address: UInt64) -> Int {
    Int(truncatingIfNeeded: ((address >> 4 ^ address << 60) &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }

  /// The slot of a live block, valid until the next insertion or removal; nil if nothing is live there.
  @inline(__always)
  func find(_ address: UInt64) -> UnsafeMutablePointer<LiveBlock>? {
    var slot = home(address)
    while true {
      let found = entries[slot].address
      if found == address { return address == 0 ? nil : entries + slot }
      if found == 0 { return nil }
      slot = (slot + 1) & mask
    }
  }

  /// Adds a block at an address that is neither live nor 0.
  @inline(__always)
  func insert(_ block: LiveBlock) {
    var slot = home(block.address)
    while entries[slot].address != 0 { slot = (slot + 1) & mask }
    entries[slot] = block
    count += 1
    if count * 2 > mask { grow() }
  }

  /// Removes the block in a slot that `find` gave.
  @inline(__always)
  func remove(_ found: UnsafeMutablePointer<LiveBlock>) {
    var hole = found - entries
    var slot = hole
    while true {
      slot = (slot + 1) & mask
      let address = entries[slot].address
      if address == 0 { break }
      // An entry may move into the hole unless its home lies between the hole and itself, cyclically.
      let distanceFromHome = (slot - home(address)) & mask
      let distanceFromHole = (slot - hole) & mask
      if distanceFromHome >= distanceFromHole {
        entries[hole] = entries[slot]
        hole = slot
      }
    }
    entries[hole].address = 0
    count -= 1
  }

  @inline(never)
  private func grow() {
    let old = entries
    let oldCapacity = mask + 1
    entries = Self.allocate(oldCapacity * 2)
    mask = oldCapacity * 2 - 1
    shift -= 1
    for index in 0..<oldCapacity where old[index].address != 0 {
      var slot = home(old[index].address)
      while entries[slot].address != 0 { slot = (slot + 1) & mask }
      entries[slot] = old[index]
    }
    old.deallocate()
  }

  /// Calls `body` with every live block, in no particular order.
  func forEach(_ body: (LiveBlock) -> Void) {
    for index in 0...mask where entries[index].address != 0 { body(entries[index]) }
  }
}
