// The distinct allocation sites of a replay.

/// The key of an allocation site: the operation, the stack, and the type.
package struct SiteKey: Hashable, Sendable, BitwiseCopyable {
  package var operation: Operation
  package var stack: StackID
  /// The type ID of a Swift object; 0 for other allocations.
  package var type: UInt32

  @inline(__always)
  package init(operation: Operation, stack: StackID, type: UInt32) {
    self.operation = operation
    self.stack = stack
    self.type = type
  }
}

/// Numbers sites from 0 in the order of their first allocations. Expected constant time; memory is proportional to the
/// sites. Copies share the sites, as with a class. For one thread at a time.
///
/// The search for a key first tries a few adjacent slots. The number of the key's stack determines where they begin.
/// Stacks that occur in succession have nearby numbers, so a replay uses nearby slots. Then the search tries slots by
/// the key's hash. Sites are never removed, so the first empty slot ends the search.
struct SiteTable: BitwiseCopyable {
  private struct Header: BitwiseCopyable {
    var slots: UnsafeMutablePointer<UInt32>
    var mask: Int
    var limit: Int
    /// The number of allocations at sites beyond the limit.
    var overflowCount: UInt64 = 0
  }

  private let header: UnsafeMutablePointer<Header>
  private let keys: RowTable<SiteKey>

  /// `limit`: the maximum number of sites. Allocations at further sites get the unknown stack and no type.
  init(limit: Int = .max, ownedBy owner: TableOwner) {
    let header = UnsafeMutablePointer<Header>.allocate(capacity: 1)
    header.initialize(to: Header(slots: Self.allocate(1024), mask: 1023, limit: limit))
    self.header = header
    keys = RowTable(blank: SiteKey(operation: Operation(rawValue: 0), stack: .empty, type: 0), ownedBy: owner)
    owner.own {
      TableMemory.deallocatePart(header.pointee.slots, capacity: header.pointee.mask + 1)
      header.deallocate()
    }
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<UInt32> {
    let slots = TableMemory.allocatePart(UInt32.self, capacity: capacity)
    slots.initialize(repeating: .max, count: capacity)
    return slots
  }

  var count: Int { keys.count }
  /// The number of allocations whose sites were not distinguished.
  var overflowCount: UInt64 { header.pointee.overflowCount }

  private static let nearbyPlaces = 8

  @inline(__always)
  private static func nearby(_ stack: StackID, _ mask: Int) -> Int {
    Int(truncatingIfNeeded: UInt64(stack.rawValue) &+ UInt64(stack.rawValue) &>> 1) & mask
  }

  @inline(__always)
  private static func hashed(_ key: SiteKey, _ mask: Int) -> Int {
    let word = UInt64(key.stack.rawValue) << 32 | UInt64(key.type) ^ UInt64(key.operation.rawValue) << 24
    let product = word &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (product ^ product >> 32) >> 16) & mask
  }

  /// Returns the number of a site. Adds the site if it is new.
  @inline(__always)
  func site(_ key: SiteKey) -> SiteID {
    let slots = header.pointee.slots
    let mask = header.pointee.mask
    var slot = Self.nearby(key.stack, mask)
    for _ in 0..<Self.nearbyPlaces {
      let found = slots[slot]
      if found == .max { return add(key) }
      if keys[Int(found)].pointee == key { return SiteID(found) }
      slot = (slot &+ 1) & mask
    }
    return distantSite(key)
  }

  /// The slots where sites probably are, for a batch of look-ups. Valid until the table changes.
  struct LikelySlots {
    fileprivate let slots: UnsafeMutablePointer<UInt32>
    fileprivate let mask: Int

    /// The first slot for a stack. Its site is probably the site of the stack's next allocation; `UInt32.max` if the
    /// slot is empty.
    @inline(__always)
    func place(of stack: StackID) -> UnsafePointer<UInt32> { UnsafePointer(slots + SiteTable.nearby(stack, mask)) }
  }

  var likelySlots: LikelySlots { LikelySlots(slots: header.pointee.slots, mask: header.pointee.mask) }

  @inline(never)
  private func distantSite(_ key: SiteKey) -> SiteID {
    let mask = header.pointee.mask
    var slot = Self.hashed(key, mask)
    while true {
      let found = header.pointee.slots[slot]
      if found == .max { return add(key) }
      if keys[Int(found)].pointee == key { return SiteID(found) }
      slot = (slot &+ 1) & mask
    }
  }

  @inline(never)
  private func add(_ key: SiteKey) -> SiteID {
    if keys.count >= header.pointee.limit, key.stack != .unknown || key.type != 0 {
      header.pointee.overflowCount &+= 1
      return site(SiteKey(operation: key.operation, stack: .unknown, type: 0))
    }
    let number = keys.count
    keys.reach(number)
    keys[number].pointee = key
    if keys.count > (header.pointee.mask + 1) / 8 * 5 { grow() } else { place(UInt32(number)) }
    return SiteID(UInt32(number))
  }

  /// Puts a site's number into the first empty slot on the search path of the site's key.
  private func place(_ number: UInt32) {
    let slots = header.pointee.slots
    let mask = header.pointee.mask
    let key = keys[Int(number)].pointee
    var slot = Self.nearby(key.stack, mask)
    for _ in 0..<Self.nearbyPlaces {
      if slots[slot] == .max {
        slots[slot] = number
        return
      }
      slot = (slot + 1) & mask
    }
    slot = Self.hashed(key, mask)
    while slots[slot] != .max { slot = (slot + 1) & mask }
    slots[slot] = number
  }

  private func grow() {
    let capacity = 2 * (header.pointee.mask + 1)
    TableMemory.deallocatePart(header.pointee.slots, capacity: header.pointee.mask + 1)
    (header.pointee.slots, header.pointee.mask) = (Self.allocate(capacity), capacity - 1)
    for number in 0..<UInt32(keys.count) { place(number) }
  }

  subscript(site: SiteID) -> SiteKey { keys[Int(site.rawValue)].pointee }
}

/// The keys of a replay's sites, which outlive the replayer.
struct SiteKeys {
  let table: SiteTable
  /// The owner of the table's memory.
  let owner: TableOwner

  subscript(site: SiteID) -> SiteKey { table[site] }
}
