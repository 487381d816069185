// The live blocks of a replay, by address.

/// A hash table from address to block: open addressing with linear probing, a power of two in size, and deletion by shifting back, so that
/// it needs no tombstones and stays fast under any number of allocations and frees (Knuth, TAOCP 3, 6.4, algorithm R).
///
/// Neighbours in the heap are neighbours in the table, by half KiB: programs use blocks near one another at about the same time, and what
/// a look-up costs is cache misses. Addresses stand apart from the rest of the block for the same reason.
///
/// Expected constant time. Memory: 96 to 192 bytes for each block of the largest number live at once. Address 0 cannot be stored.
/// For one thread at a time.
final class BlockTable {
  /// 0 where there is none.
  private var addresses: UnsafeMutablePointer<UInt64>
  private var blocks: UnsafeMutablePointer<LiveBlock>
  private var mask: Int
  private var shift: UInt64
  private(set) var count = 0

  init(minimumCapacity: Int = 1024) {
    var capacity = 16
    while capacity < minimumCapacity * 2 { capacity *= 2 }
    (addresses, blocks) = Self.allocate(capacity)
    mask = capacity - 1
    shift = UInt64(64 - capacity.trailingZeroBitCount)
  }

  deinit {
    TableMemory.deallocate(addresses)
    TableMemory.deallocate(blocks)
  }

  private static func allocate(_ capacity: Int) -> (UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<LiveBlock>) {
    let addresses = TableMemory.allocate(UInt64.self, capacity: capacity)
    addresses.initialize(repeating: 0, count: capacity)
    return (addresses, TableMemory.allocate(LiveBlock.self, capacity: capacity))
  }

  /// Half a KiB of heap, 32 possible blocks, stays together; where it goes is spread by multiplying.
  @inline(__always)
  private func home(_ address: UInt64) -> Int {
    let place = ((address >> 9) &* 0x9E37_79B9_7F4A_7C15) &>> shift
    return Int(truncatingIfNeeded: place &+ (address >> 4 & 31)) & mask
  }

  /// The slot of a live block, valid until the next insertion or removal; nil if nothing is live there.
  @inline(__always)
  func find(_ address: UInt64) -> UnsafeMutablePointer<LiveBlock>? {
    var slot = home(address)
    while true {
      let found = addresses[slot]
      if found == address { return address == 0 ? nil : blocks + slot }
      if found == 0 { return nil }
      slot = (slot &+ 1) & mask
    }
  }

  /// Adds a block at an address that is neither live nor 0.
  @inline(__always)
  func insert(_ block: LiveBlock) {
    var slot = home(block.address)
    while addresses[slot] != 0 { slot = (slot &+ 1) & mask }
    addresses[slot] = block.address
    (blocks + slot).initialize(to: block)
    count &+= 1
    if count &* 2 > mask { grow() }
  }

  /// Removes the block in a slot that `find` gave.
  @inline(__always)
  func remove(_ found: UnsafeMutablePointer<LiveBlock>) {
    var hole = found - blocks
    var slot = hole
    while true {
      slot = (slot &+ 1) & mask
      let address = addresses[slot]
      if address == 0 { break }
      // An entry may move into the hole unless its home lies between the hole and itself, cyclically.
      if (slot &- home(address)) & mask >= (slot &- hole) & mask {
        addresses[hole] = address
        blocks[hole] = blocks[slot]
        hole = slot
      }
    }
    addresses[hole] = 0
    count &-= 1
  }

  @inline(never)
  private func grow() {
    let (oldAddresses, oldBlocks) = (addresses, blocks)
    let oldCapacity = mask + 1
    (addresses, blocks) = Self.allocate(oldCapacity * 2)
    mask = oldCapacity * 2 - 1
    shift -= 1
    for index in 0..<oldCapacity where oldAddresses[index] != 0 {
      var slot = home(oldAddresses[index])
      while addresses[slot] != 0 { slot = (slot + 1) & mask }
      addresses[slot] = oldAddresses[index]
      (blocks + slot).initialize(to: oldBlocks[index])
    }
    TableMemory.deallocate(oldAddresses)
    TableMemory.deallocate(oldBlocks)
  }

  /// Calls `body` with every live block, in no particular order.
  func forEach(_ body: (LiveBlock) -> Void) {
    for index in 0...mask where addresses[index] != 0 { body(blocks[index]) }
  }
}
