// The distinct allocation sites that a replay meets.

/// What makes two allocations the same site: the operation, the stack, and the type.
public struct SiteKey: Hashable, Sendable {
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
final class SiteTable {
  private var slots: UnsafeMutablePointer<UInt32>
  private var mask: Int
  private var keys: UnsafeMutablePointer<SiteKey>
  private var capacity: Int
  private(set) var count = 0

  init() {
    mask = 1023
    slots = .allocate(capacity: 1024)
    slots.initialize(repeating: .max, count: 1024)
    capacity = 512
    keys = .allocate(capacity: 512)
  }

  deinit {
    slots.deallocate()
    keys.deallocate()
  }

  @inline(__always)
  private func home(_ key: SiteKey) -> Int {
    let word = UInt64(key.stack.rawValue) << 32 | UInt64(key.type) ^ UInt64(key.operation.rawValue) << 24
    let product = word &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (product ^ product >> 32) >> 16) & mask
  }

  /// The number of a site, new or known.
  @inline(__always)
  func site(_ key: SiteKey) -> SiteID {
    var slot = home(key)
    while true {
      let found = slots[slot]
      if found == .max { return add(key) }
      if keys[Int(found)] == key { return SiteID(found) }
      slot = (slot + 1) & mask
    }
  }

  @inline(never)
  private func add(_ key: SiteKey) -> SiteID {
    let number = UInt32(count)
    if count == capacity { grow() }
    var slot = home(key)
    while slots[slot] != .max { slot = (slot + 1) & mask }
    (keys + count).initialize(to: key)
    slots[slot] = number
    count += 1
    return SiteID(number)
  }

  private func grow() {
    let larger = UnsafeMutablePointer<SiteKey>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: keys, count: count)
    keys.deallocate()
    keys = larger
    capacity *= 2
    slots.deallocate()
    mask = capacity * 2 - 1
    slots = .allocate(capacity: capacity * 2)
    slots.initialize(repeating: .max, count: capacity * 2)
    for number in 0..<count {
      var slot = home(keys[number])
      while slots[slot] != .max { slot = (slot + 1) & mask }
      slots[slot] = UInt32(number)
    }
  }

  subscript(site: SiteID) -> SiteKey { keys[Int(site.rawValue)] }
}
