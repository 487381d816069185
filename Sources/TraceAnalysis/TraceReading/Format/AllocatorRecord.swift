// A process's memory, as its allocator counts it and as the kernel counts it.

import CTraceFormat

/// An allocator's state when an image was taken, from its own metadata. Amounts are bytes.
package struct AllocatorRecord: Hashable, Sendable {
  package enum Kind: UInt64, Hashable, Sendable {
    case glibc = 1, jemalloc, mimalloc, tcmalloc

    package var name: String { String(describing: self) }
  }

  /// A block that keeps an arena from shrinking.
  package struct Pin: Hashable, Sendable {
    /// Free bytes in the arena below the block, and from the block's end to the arena's end.
    package var freeBelow: UInt64
    package var freeAbove: UInt64
    package var address: UInt64
    package var bytes: UInt64

    package init(freeBelow: UInt64, freeAbove: UInt64, address: UInt64, bytes: UInt64) {
      self.freeBelow = freeBelow
      self.freeAbove = freeAbove
      self.address = address
      self.bytes = bytes
    }
  }

  package var time: UInt64
  package var kind: Kind
  /// Allocated bytes, including the bytes that rounding adds to blocks.
  package var inUse: UInt64 = 0
  /// Freed bytes between blocks in use.
  package var free: UInt64 = 0
  /// Freed bytes in threads' caches and fast bins.
  package var cached: UInt64 = 0
  /// Free bytes at the ends of arenas.
  package var top: UInt64 = 0
  /// Bytes of blocks that have their own mappings. `inUse` includes them.
  package var mapped: UInt64 = 0
  /// Bytes of whole free pages that are resident. The allocator could return them to the kernel.
  package var freePages: UInt64 = 0
  /// Bytes that the allocator has from the kernel, without blocks that have their own mappings.
  package var system: UInt64 = 0
  package var arenas: UInt64 = 0
  /// The number of arenas that the program or its environment allows; 0 if only the allocator's own limit applies, nil
  /// if unknown.
  package var arenaLimit: UInt64?
  /// Free bytes in all arenas but the main one.
  package var freeInOtherArenas: UInt64 = 0
  /// The pins of the arenas with the most free memory, in descending order of that memory.
  package var pins: [Pin] = []

  package init(time: UInt64, kind: Kind) {
    self.time = time
    self.kind = kind
  }

  /// `figures`: the amounts at the indices LT_ALLOCATOR_…; missing amounts are 0.
  package init(time: UInt64, kind: Kind, figures: [UInt64], pins: [Pin]) {
    func figure(_ index: Int) -> UInt64 { index < figures.count ? figures[index] : 0 }
    self.init(time: time, kind: kind)
    inUse = figure(LT_ALLOCATOR_IN_USE)
    free = figure(LT_ALLOCATOR_FREE)
    cached = figure(LT_ALLOCATOR_CACHED)
    top = figure(LT_ALLOCATOR_TOP)
    mapped = figure(LT_ALLOCATOR_MAPPED)
    freePages = figure(LT_ALLOCATOR_FREE_PAGES)
    system = figure(LT_ALLOCATOR_SYSTEM)
    arenas = figure(LT_ALLOCATOR_ARENAS)
    let limit = figure(LT_ALLOCATOR_ARENA_LIMIT)
    arenaLimit = limit > 0 ? limit - 1 : nil
    freeInOtherArenas = figure(LT_ALLOCATOR_OTHER_ARENAS)
    self.pins = pins
  }

  /// All freed memory that the allocator keeps.
  package var held: UInt64 { free &+ cached &+ top }
}

/// The parts of a process's resident memory, from the kernel.
package struct ResidenceRecord: Hashable, Sendable {
  package var time: UInt64
  /// Bytes that do not belong to a file.
  package var anonymous: UInt64
  /// Bytes of files, and of memory shared with other processes.
  package var other: UInt64
  /// Bytes in huge pages.
  package var hugePages: UInt64
  /// Bytes that are swapped out, and so not resident.
  package var swapped: UInt64

  package init(time: UInt64, anonymous: UInt64, other: UInt64, hugePages: UInt64, swapped: UInt64) {
    self.time = time
    self.anonymous = anonymous
    self.other = other
    self.hugePages = hugePages
    self.swapped = swapped
  }
}

extension AllocatorRecord {
  /// Maximum number of figures, and of pins, in a record. A record with more is damaged.
  private static let listLimit: UInt64 = 1 << 10

  /// Decodes a record. Returns nil if the fields are incomplete or the kind of allocator is unknown.
  init?(_ cursor: inout ByteCursor) {
    guard let time = cursor.varint(), let number = cursor.varint(), let kind = Kind(rawValue: number),
      let count = cursor.varint(), count <= Self.listLimit
    else { return nil }
    var figures: [UInt64] = []
    for _ in 0..<count {
      guard let figure = cursor.varint() else { return nil }
      // No process has more memory than this limit.
      figures.append(min(figure, RuntimeAddress.limit))
    }
    var pins: [Pin] = []
    guard let pinCount = cursor.varint(), pinCount <= Self.listLimit else { return nil }
    for _ in 0..<pinCount {
      guard let below = cursor.varint(), let behind = cursor.varint(), let address = cursor.varint(),
        let bytes = cursor.varint()
      else { return nil }
      pins.append(Pin(freeBelow: below, freeAbove: behind, address: address, bytes: bytes))
    }
    self.init(time: time, kind: kind, figures: figures, pins: pins)
  }

  func encode(to fields: inout ByteBuilder) {
    fields.varint(time)
    fields.varint(kind.rawValue)
    let limit = arenaLimit.map { $0 &+ 1 } ?? 0
    let figures = [inUse, free, cached, top, mapped, freePages, system, arenas, limit, freeInOtherArenas]
    fields.varint(UInt64(figures.count))
    for figure in figures { fields.varint(figure) }
    fields.varint(UInt64(pins.count))
    for pin in pins { for value in [pin.freeBelow, pin.freeAbove, pin.address, pin.bytes] { fields.varint(value) } }
  }
}
