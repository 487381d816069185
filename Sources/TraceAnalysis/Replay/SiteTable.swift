// The distinct allocation sites that a replay meets.

/// What makes two allocations the same site: the operation, the stack, and the type.
public struct SiteKey: Hashable, Sendable, BitwiseCopyable {
  public var operation: Operation
  public var stack: StackID
  /// 0 but for Swift objects.
  public var type: UInt32

  @inline(__always)
  public init(operation: Operation, stack: StackID, type: UInt32) {
    self.operation = operation
    self.stack = stack
    self.type = type
  }
}

/// Numbers sites from 0 in order of first sight. Expected constant time; memory in proportion to the sites. For one thread at a time.
///
/// Stacks that are met one after the other have numbers near one another, so their sites stand near one another: a key is looked for in a few
/// places by its stack, and if those are taken, by its hash. Nothing is ever removed, so the first empty place ends the search.
final class SiteTable {
  private var slots: UnsafeMutablePointer<UInt32>
  private var mask: Int
  private var keys: UnsafeMutablePointer<SiteKey>
  private var capacity: Int
  private(set) var count = 0

  init() {
    mask = 1023
    slots = TableMemory.allocate(UInt32.self, capacity: 1024)
    slots.initialize(repeating: .max, count: 1024)
    capacity = 512
    keys = TableMemory.allocate(SiteKey.self, capacity: 512)
  }

  deinit {
    TableMemory.deallocate(slots)
    TableMemory.deallocate(keys)
  }

  private static let nearbyPlaces = 8

  @inline(__always)
  private func nearby(_ key: SiteKey) -> Int { Int(truncatingIfNeeded: UInt64(key.stack.rawValue) &* 2) & mask }

  @inline(__always)
  private func hashed(_ key: SiteKey) -> Int {
    let word = UInt64(key.stack.rawValue) << 32 | UInt64(key.type) ^ UInt64(key.operation.rawValue) << 24
    let product = word &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (product ^ product >> 32) >> 16) & mask
  }

  /// The number of a site, new or known.
  @inline(__always)
  func site(_ key: SiteKey) -> SiteID {
    var slot = nearby(key)
    for _ in 0..<Self.nearbyPlaces {
      let found = slots[slot]
      if found == .max { return add(key) }
      if keys[Int(found)] == key { return SiteID(found) }
      slot = (slot &+ 1) & mask
    }
    slot = hashed(key)
    while true {
      let found = slots[slot]
      if found == .max { return add(key) }
      if keys[Int(found)] == key { return SiteID(found) }
      slot = (slot &+ 1) & mask
    }
  }

  @inline(never)
  private func add(_ key: SiteKey) -> SiteID {
    let number = UInt32(count)
    if count == capacity { grow() }
    (keys + count).initialize(to: key)
    place(number)
    count += 1
    return SiteID(number)
  }

  /// Puts a number into the first empty place where its key will be looked for.
  private func place(_ number: UInt32) {
    var slot = nearby(keys[Int(number)])
    for _ in 0..<Self.nearbyPlaces {
      if slots[slot] == .max {
        slots[slot] = number
        return
      }
      slot = (slot + 1) & mask
    }
    slot = hashed(keys[Int(number)])
    while slots[slot] != .max { slot = (slot + 1) & mask }
    slots[slot] = number
  }

  private func grow() {
    let larger = TableMemory.allocate(SiteKey.self, capacity: capacity * 2)
    larger.moveInitialize(from: keys, count: count)
    TableMemory.deallocate(keys)
    keys = larger
    capacity *= 2
    TableMemory.deallocate(slots)
    mask = capacity * 2 - 1
    slots = TableMemory.allocate(UInt32.self, capacity: capacity * 2)
    slots.initialize(repeating: .max, count: capacity * 2)
    for number in 0..<UInt32(count) { place(number) }
  }

  subscript(site: SiteID) -> SiteKey { keys[Int(site.rawValue)] }
}
