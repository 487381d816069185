// The truth about every object: whether the program used, resumed or freed it after the heap image.

import Glibc

/// What happened to an object.
struct Fate: OptionSet {
  let rawValue: UInt8
  /// It was freed before the heap image.
  static let ended = Fate(rawValue: 1)
  // After the image:
  static let used = Fate(rawValue: 2)
  static let resumed = Fate(rawValue: 4)
  static let freed = Fate(rawValue: 8)
}

/// The kind of an object, for figures by kind. The test has the same names in the same order.
enum Kind: UInt8, CaseIterable {
  case plain, derived, registry, callbacks, mixed, locked, memory, cell, deferred, heaped, erased, actor, gate, handle,
    queue, timer, work, executor, record, task
}

/// An entry for each object. It has addresses with all bits inverted, so that no word of it leads to an object.
enum Ledger {
  struct Entry {
    var address: UInt64 = 0
    var program: UInt32 = 0
    var kind: UInt8 = 0
    var fate: UInt8 = 0
    var reserved: UInt16 = 0
  }

  private static let capacity = 1 << 20
  nonisolated(unsafe) private static let entries: UnsafeMutablePointer<Entry> = {
    let size = capacity * MemoryLayout<Entry>.stride
    return mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
      .bindMemory(to: Entry.self, capacity: capacity)
  }()
  nonisolated(unsafe) private static var count: UInt32 = 1
  /// The program that is being executed.
  nonisolated(unsafe) static var program: UInt32 = 0 {
    didSet { firstOfProgram = count }
  }
  nonisolated(unsafe) private static var firstOfProgram: UInt32 = 1
  nonisolated(unsafe) static var isAfterImage = false

  /// Adds an object, whose address comes later. Only the main thread calls this.
  static func add(_ kind: Kind) -> UInt32 {
    precondition(count < capacity, "too many objects for the ledger")
    entries[Int(count)].program = program
    entries[Int(count)].kind = kind.rawValue
    count += 1
    return count - 1
  }

  /// The number of an object in its program.
  static func turn(_ id: UInt32) -> UInt32 { id - firstOfProgram }

  static func place(_ id: UInt32, _ address: UInt) { entries[Int(id)].address = ~UInt64(address) }

  static func note(_ id: UInt32, _ fate: Fate) { if isAfterImage { entries[Int(id)].fate |= fate.rawValue } }

  static func noteEnd(_ id: UInt32) { entries[Int(id)].fate |= (isAfterImage ? Fate.freed : .ended).rawValue }

  static func isAlive(_ id: UInt32) -> Bool { id != 0 && entries[Int(id)].fate & 9 == 0 }

  /// Writes all entries, with their real addresses.
  static func write(to path: String) {
    for id in 1..<Int(count) { entries[id].address = ~entries[id].address }
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var rest = UnsafeRawBufferPointer(
      start: entries + 1, count: (Int(count) - 1) * MemoryLayout<Entry>.stride)
    while !rest.isEmpty {
      let written = Glibc.write(file, rest.baseAddress, rest.count)
      guard written > 0 else { fatalError("the ledger cannot be written") }
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
    close(file)
  }
}

/// SplitMix64.
struct Random {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0xD134_2543_DE82_EF95 &+ 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }

  mutating func below(_ limit: Int) -> Int { Int(next() >> 33) % limit }
}
