// The live blocks of a replay, by address.

/// A hash table from address to block. It uses open addressing with linear probing, and its size is a power of two.
/// Deletion shifts entries back (Knuth, TAOCP 3, 6.4, algorithm R). So the table needs no tombstones, and stays fast
/// under any number of allocations and frees.
///
/// The blocks of half a KiB of heap have neighbouring slots. A look-up costs mainly cache misses, and programs use
/// neighbouring blocks at about the same time. The blocks themselves are in a pool and do not move: blocks that were
/// allocated together stay together there.
///
/// Expected constant time. Memory: 32 to 64 bytes for each of the most blocks that are live at the same time, besides
/// the 64 bytes of the block itself. Address 0 cannot be stored. Copies share the blocks, as with a class. For one
/// thread at a time.
struct BlockTable: BitwiseCopyable {
  private struct Slot: BitwiseCopyable {
    /// 0 for an empty slot.
    var address: UInt64
    var place: UnsafeMutablePointer<Place>
  }

  /// The memory of one block in the pool: one cache line.
  private struct Place: BitwiseCopyable {
    var block: LiveBlock
    /// If the block was removed: the place that was freed before this one.
    var nextFree: UnsafeMutablePointer<Place>?
  }

  private struct Header: BitwiseCopyable {
    var slots: UnsafeMutablePointer<Slot>
    var mask: Int
    var shift: UInt64
    var count = 0
    /// The place that was freed last. It is reused first, because it is the most likely to be in the cache.
    var firstFree: UnsafeMutablePointer<Place>?
    /// A place that always exists and never holds a block.
    var somePlace: UnsafeMutablePointer<Place>
  }

  private let header: UnsafeMutablePointer<Header>
  private let places: RowTable<Place>

  init(minimumCapacity: Int = 1024, ownedBy owner: TableOwner) {
    var capacity = Self.minCapacity
    while capacity < minimumCapacity * 2 { capacity *= 2 }
    let header = UnsafeMutablePointer<Header>.allocate(capacity: 1)
    places = RowTable(
      blank: Place(block: LiveBlock(address: 0, size: 0, birthTime: 0, site: SiteID(0)), nextFree: nil), count: 1,
      ownedBy: owner)
    header.initialize(
      to: Header(
        slots: Self.allocate(capacity, vacant: places[0]), mask: capacity - 1,
        shift: UInt64(64 - capacity.trailingZeroBitCount),
        somePlace: places[0]))
    self.header = header
    owner.own {
      TableMemory.deallocate(header.pointee.slots)
      header.deallocate()
    }
  }

  /// Empty slots also point to a place, because `prefetch` reads the place of an empty slot for address 0.
  private static func allocate(_ capacity: Int, vacant place: UnsafeMutablePointer<Place>) -> UnsafeMutablePointer<Slot>
  {
    let slots = TableMemory.allocate(Slot.self, capacity: capacity)
    slots.initialize(repeating: Slot(address: 0, place: place), count: capacity)
    return slots
  }

  @inline(__always)
  var count: Int { header.pointee.count }

  /// Returns the first slot for an address. The 32 possible blocks of half a KiB of heap stay together; the
  /// multiplication spreads such groups over the table.
  @inline(__always)
  private static func home(_ address: UInt64, _ header: UnsafeMutablePointer<Header>) -> Int {
    let place = ((address >> 9) &* 0x9E37_79B9_7F4A_7C15) &>> header.pointee.shift
    return Int(truncatingIfNeeded: place &+ (address >> 4 & 31)) & header.pointee.mask
  }

  /// Returns the live block at an address, valid until the block is removed; nil if no block is live there.
  @inline(__always)
  func find(_ address: UInt64) -> UnsafeMutablePointer<LiveBlock>? {
    let slots = header.pointee.slots
    let mask = header.pointee.mask
    var slot = Self.home(address, header)
    while true {
      let found = slots[slot].address
      if found == address { return address == 0 ? nil : Self.block(slots[slot].place) }
      if found == 0 { return nil }
      slot = (slot &+ 1) & mask
    }
  }

  /// Returns the block in the first slot for an address, or an unrelated place if this slot has another address. Does
  /// not read the block.
  @inline(__always)
  func prefetch(_ address: UInt64) -> UnsafePointer<LiveBlock> {
    let slot = header.pointee.slots[Self.home(address, header)]
    return UnsafePointer(Self.block(slot.address == address ? slot.place : header.pointee.somePlace))
  }

  /// Returns the block of a place. A place begins with its `LiveBlock`, so both have the same address.
  @inline(__always)
  private static func block(_ place: UnsafeMutablePointer<Place>) -> UnsafeMutablePointer<LiveBlock> {
    UnsafeMutableRawPointer(place).assumingMemoryBound(to: LiveBlock.self)
  }

  /// Adds a block at an address that is neither live nor 0. The result is valid until the block is removed.
  @inline(__always)
  @discardableResult
  func insert(_ block: LiveBlock) -> UnsafeMutablePointer<LiveBlock> {
    let slots = header.pointee.slots
    let mask = header.pointee.mask
    var slot = Self.home(block.address, header)
    while slots[slot].address != 0 { slot = (slot &+ 1) & mask }
    let place = takePlace()
    place.pointee.block = block
    slots[slot] = Slot(address: block.address, place: place)
    header.pointee.count &+= 1
    if header.pointee.count &* 2 > mask { grow() }
    return Self.block(place)
  }

  @inline(__always)
  private func takePlace() -> UnsafeMutablePointer<Place> {
    if let place = header.pointee.firstFree {
      header.pointee.firstFree = place.pointee.nextFree
      return place
    }
    let number = places.count
    places.reach(number)
    return places[number]
  }

  /// Removes and returns the block at an address; nil if there is none. The result can be read until the next `insert`.
  @inline(__always)
  func remove(_ address: UInt64) -> UnsafeMutablePointer<LiveBlock>? {
    let slots = header.pointee.slots
    let mask = header.pointee.mask
    var hole = Self.home(address, header)
    while slots[hole].address != address || address == 0 {
      if slots[hole].address == 0 { return nil }
      hole = (hole &+ 1) & mask
    }
    let place = slots[hole].place
    place.pointee.nextFree = header.pointee.firstFree
    header.pointee.firstFree = place
    var slot = hole
    while true {
      slot = (slot &+ 1) & mask
      let address = slots[slot].address
      if address == 0 { break }
      // An entry may move into the hole unless its home lies cyclically between the hole and the entry.
      if (slot &- Self.home(address, header)) & mask >= (slot &- hole) & mask {
        slots[hole] = slots[slot]
        hole = slot
      }
    }
    slots[hole].address = 0
    header.pointee.count &-= 1
    return Self.block(place)
  }

  /// Removes all blocks, and frees most of the table. Otherwise, each removal after a short list would cost as much as
  /// after the longest one. Linear in the size of the table.
  func removeAll() {
    let old = header.pointee.slots
    for index in 0...header.pointee.mask where old[index].address != 0 {
      old[index].place.pointee.nextFree = header.pointee.firstFree
      header.pointee.firstFree = old[index].place
    }
    header.pointee.slots = Self.allocate(Self.minCapacity, vacant: header.pointee.somePlace)
    header.pointee.mask = Self.minCapacity - 1
    header.pointee.shift = UInt64(64 - Self.minCapacity.trailingZeroBitCount)
    header.pointee.count = 0
    TableMemory.deallocate(old)
  }

  private static var minCapacity: Int { 16 }

  @inline(never)
  private func grow() {
    let old = header.pointee.slots
    let oldCapacity = header.pointee.mask + 1
    let slots = Self.allocate(oldCapacity * 2, vacant: header.pointee.somePlace)
    header.pointee.slots = slots
    header.pointee.mask = oldCapacity * 2 - 1
    header.pointee.shift -= 1
    for index in 0..<oldCapacity where old[index].address != 0 {
      var slot = Self.home(old[index].address, header)
      while slots[slot].address != 0 { slot = (slot + 1) & header.pointee.mask }
      slots[slot] = old[index]
    }
    TableMemory.deallocate(old)
  }

  /// Calls `body` with every live block, in no particular order.
  func forEach(_ body: (LiveBlock) -> Void) {
    for index in 0...header.pointee.mask where header.pointee.slots[index].address != 0 {
      body(header.pointee.slots[index].place.pointee.block)
    }
  }
}
