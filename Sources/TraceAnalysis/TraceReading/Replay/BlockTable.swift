// The live blocks of a replay, by address.

/// A hash table from address to block. It uses open addressing with linear probing, and its size is a power of two.
/// Deletion shifts entries back (Knuth, TAOCP 3, 6.4, algorithm R). So the table needs no tombstones, and stays fast
/// under any number of allocations and frees.
///
/// The blocks of half a KiB of heap have neighbouring slots. A look-up costs mainly cache misses, and programs use
/// neighbouring blocks at about the same time. The blocks themselves are in a pool and do not move: blocks that were
/// allocated together stay together there.
///
/// Expected constant time. Memory: 13 to 26 bytes for each of the most blocks that are live at the same time, besides
/// the 64 bytes of the block itself. Address 0 cannot be stored. Copies share the blocks, as with a class. For one
/// thread at a time.
struct BlockTable: BitwiseCopyable {
  fileprivate struct Slot: BitwiseCopyable {
    /// See `part(of:)`. Few addresses have the same part, so a look-up seldom reads another block.
    var part: UInt32
    /// The number of the block's place; 0 for an empty slot.
    var place: UInt32
  }

  /// The memory of one block in the pool: one cache line.
  private struct Place: BitwiseCopyable {
    var block: LiveBlock
    /// If the block was removed: the number of the place that was freed before this one; 0 for none.
    var nextFree: UInt32
  }

  private struct Header: BitwiseCopyable {
    var slots: UnsafeMutablePointer<Slot>
    var mask: Int
    var shift: UInt64
    var count = 0
    /// The number of the place that was freed last. It is reused first, because it is the most likely to be in the
    /// cache.
    var firstFree: UInt32 = 0
  }

  private let header: UnsafeMutablePointer<Header>
  /// Place 0 never holds a block.
  private let places: RowTable<Place>

  init(minimumCapacity: Int = 1024, ownedBy owner: TableOwner) {
    var capacity = Self.minCapacity
    while capacity < minimumCapacity * 2 { capacity *= 2 }
    let header = UnsafeMutablePointer<Header>.allocate(capacity: 1)
    places = RowTable(
      blank: Place(block: LiveBlock(address: 0, size: 0, birthTime: 0, site: SiteID(0)), nextFree: 0), count: 1,
      ownedBy: owner)
    header.initialize(
      to: Header(
        slots: Self.allocate(capacity), mask: capacity - 1, shift: UInt64(64 - capacity.trailingZeroBitCount)))
    self.header = header
    owner.own {
      TableMemory.deallocatePart(header.pointee.slots, capacity: header.pointee.mask + 1)
      header.deallocate()
    }
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
    // Zeros are empty slots.
    TableMemory.allocatePart(Slot.self, capacity: capacity)
  }

  @inline(__always)
  var count: Int { header.pointee.count }

  /// Returns 32 bits of an address without its last four bits. The higher bits are folded into the lower ones, so that
  /// blocks at the same place of different gigabytes have different parts.
  @inline(__always)
  private static func part(of address: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: address &>> 4 ^ address &>> 36)
  }

  /// Returns the first slot for a part of an address. The 32 possible blocks of half a KiB of heap stay together; the
  /// multiplication spreads such groups over the table.
  @inline(__always)
  private static func home(_ part: UInt32, _ mask: Int, _ shift: UInt64) -> Int {
    let place = (UInt64(part &>> 5) &* 0x9E37_79B9_7F4A_7C15) &>> shift
    return Int(truncatingIfNeeded: place &+ UInt64(part & 31)) & mask
  }

  @inline(__always)
  private static func home(_ part: UInt32, _ header: UnsafeMutablePointer<Header>) -> Int {
    home(part, header.pointee.mask, header.pointee.shift)
  }

  /// Returns the block of a place. A place begins with its `LiveBlock`, so both have the same address.
  @inline(__always)
  private func block(_ place: UInt32) -> UnsafeMutablePointer<LiveBlock> {
    UnsafeMutableRawPointer(places[Int(place)]).assumingMemoryBound(to: LiveBlock.self)
  }

  /// Returns the slot of an address: the slot of the block that is live there, or the empty slot for a new block.
  @inline(__always)
  private func probe(_ address: UInt64) -> (slot: Int, isLive: Bool) {
    let slots = header.pointee.slots
    let mask = header.pointee.mask
    let part = Self.part(of: address)
    var slot = Self.home(part, header)
    while true {
      let found = slots[slot]
      if found.place == 0 { return (slot, false) }
      if found.part == part, block(found.place).pointee.address == address { return (slot, true) }
      slot = (slot &+ 1) & mask
    }
  }

  /// Returns the live block at an address, valid until the block is removed; nil if no block is live there.
  @inline(__always)
  func find(_ address: UInt64) -> UnsafeMutablePointer<LiveBlock>? {
    let (slot, isLive) = probe(address)
    return isLive ? block(header.pointee.slots[slot].place) : nil
  }

  /// The slots where blocks probably are, for a batch of look-ups. Valid until the table changes.
  struct LikelySlots {
    fileprivate let slots: UnsafeMutablePointer<Slot>
    fileprivate let mask: Int
    fileprivate let shift: UInt64
    fileprivate let table: BlockTable

    @inline(__always)
    private func first(_ part: UInt32) -> UnsafeMutablePointer<Slot> { slots + BlockTable.home(part, mask, shift) }

    /// The place in memory of the first slot for an address.
    @inline(__always)
    func place(of address: UInt64) -> UnsafeRawPointer { UnsafeRawPointer(first(BlockTable.part(of: address))) }

    /// Returns the block in the first slot for an address, which is another one or none if this slot has another
    /// address. Does not read the block.
    @inline(__always)
    func block(at address: UInt64) -> UnsafePointer<LiveBlock> {
      let part = BlockTable.part(of: address)
      let slot = first(part).pointee
      return UnsafePointer(table.block(slot.part == part ? slot.place : 0))
    }
  }

  var likelySlots: LikelySlots {
    LikelySlots(slots: header.pointee.slots, mask: header.pointee.mask, shift: header.pointee.shift, table: self)
  }

  /// Returns the index of the slot for a new block; nil if a block is live at the address. Valid until the next change
  /// of the table.
  @inline(__always)
  func vacancy(for address: UInt64) -> Int? {
    let (slot, isLive) = probe(address)
    return isLive ? nil : slot
  }

  /// Adds a block to the vacant slot for its address, which must not be 0. Returns the block's place in the table.
  @inline(__always)
  @discardableResult
  func insert(_ block: LiveBlock, at vacancy: Int) -> UnsafeMutablePointer<LiveBlock> {
    let place = takePlace()
    let memory = self.block(place)
    // Each field by itself: a copy by whole words would wait for the fields that were stored last.
    memory.pointee.address = block.address
    memory.pointee.size = block.size
    memory.pointee.birthTime = block.birthTime
    memory.pointee.ordinal = block.ordinal
    memory.pointee.site = block.site
    memory.pointee.threadIndex = block.threadIndex
    memory.pointee.threadOrdinal = block.threadOrdinal
    memory.pointee.execution = block.execution
    memory.pointee.lastUse = block.lastUse
    memory.pointee.useAges = block.useAges
    memory.pointee.hasTask = block.hasTask
    header.pointee.slots[vacancy] = Slot(part: Self.part(of: block.address), place: place)
    header.pointee.count &+= 1
    if header.pointee.count > header.pointee.mask &>> 3 &* 5 { grow() }
    return memory
  }

  /// Adds a block. No block must be live at its address, which must not be 0.
  func insert(_ block: LiveBlock) { insert(block, at: probe(block.address).slot) }

  @inline(__always)
  private func takePlace() -> UInt32 {
    let place = header.pointee.firstFree
    if place != 0 {
      header.pointee.firstFree = places[Int(place)].pointee.nextFree
      return place
    }
    let number = places.count
    places.reach(number)
    return UInt32(truncatingIfNeeded: number)
  }

  @inline(__always)
  private func free(_ place: UInt32) {
    places[Int(place)].pointee.nextFree = header.pointee.firstFree
    header.pointee.firstFree = place
  }

  /// Removes and returns the block at an address; nil if there is none. The result can be read until the next `insert`.
  @inline(__always)
  func remove(_ address: UInt64) -> UnsafeMutablePointer<LiveBlock>? {
    var (hole, isLive) = probe(address)
    if !isLive { return nil }
    let slots = header.pointee.slots
    let mask = header.pointee.mask
    let place = slots[hole].place
    free(place)
    var slot = hole
    while true {
      slot = (slot &+ 1) & mask
      if slots[slot].place == 0 { break }
      // An entry may move into the hole unless its home lies cyclically between the hole and the entry.
      if (slot &- Self.home(slots[slot].part, header)) & mask >= (slot &- hole) & mask {
        slots[hole] = slots[slot]
        hole = slot
      }
    }
    slots[hole].place = 0
    header.pointee.count &-= 1
    return block(place)
  }

  /// Removes all blocks, and frees most of the table. Otherwise, each removal after a short list would cost as much as
  /// after the longest one. Linear in the size of the table.
  func removeAll() {
    let old = header.pointee.slots
    let oldCapacity = header.pointee.mask + 1
    for index in 0...header.pointee.mask where old[index].place != 0 { free(old[index].place) }
    header.pointee.slots = Self.allocate(Self.minCapacity)
    header.pointee.mask = Self.minCapacity - 1
    header.pointee.shift = UInt64(64 - Self.minCapacity.trailingZeroBitCount)
    header.pointee.count = 0
    TableMemory.deallocatePart(old, capacity: oldCapacity)
  }

  private static var minCapacity: Int { 16 }

  @inline(never)
  private func grow() {
    let old = header.pointee.slots
    let oldCapacity = header.pointee.mask + 1
    let slots = Self.allocate(oldCapacity * 2)
    header.pointee.slots = slots
    header.pointee.mask = oldCapacity * 2 - 1
    header.pointee.shift -= 1
    for index in 0..<oldCapacity where old[index].place != 0 {
      var slot = Self.home(old[index].part, header)
      while slots[slot].place != 0 { slot = (slot + 1) & header.pointee.mask }
      slots[slot] = old[index]
    }
    TableMemory.deallocatePart(old, capacity: oldCapacity)
  }

  /// Calls `body` with every live block, in no particular order.
  func forEach(_ body: (LiveBlock) -> Void) {
    for index in 0...header.pointee.mask where header.pointee.slots[index].place != 0 {
      body(block(header.pointee.slots[index].place).pointee)
    }
  }
}
