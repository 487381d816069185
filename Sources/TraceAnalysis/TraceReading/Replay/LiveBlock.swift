// A block that is allocated and not yet freed.

/// Index into the replay's sites; dense, from 0.
package struct SiteID: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32
  @inline(__always) package init(_ rawValue: UInt32) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Index into the replay's strands: a thread outside of tasks, or a task on whatever threads it ran. Dense, from 0.
package struct StrandID: Hashable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32
  @inline(__always) package init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// A live block, as its allocation was recorded.
package struct LiveBlock: Hashable, Sendable, BitwiseCopyable {
  package var address: UInt64
  /// Requested bytes.
  package var size: UInt64
  /// Ticks.
  package var birthTime: UInt64
  /// The number of events of the process before it.
  package var ordinal: UInt64
  package var site: SiteID
  /// Index into the replay's threads, not the thread's number.
  package var threadIndex: UInt32
  /// The number of allocations that its thread had made before it, modulo 2^32.
  package var threadOrdinal: UInt32
  /// The strand that control was in when it was made.
  package var strand: StrandID
  /// The time when it was last retained or released, in `useUnit`s of events of the process; 0 if it never was.
  package var lastUse: UInt32 = 0
  /// The ages at its retains and releases: bit n means 2^n to 2^(n+1) `useUnit`s of events of the process since its
  /// birth; the last bit means any higher age.
  package var useAges: UInt16 = 0
  /// A task with a strand is in the block.
  package var hasTask = false

  /// Returns whether it may be a block of `asked` bytes, at most 2^32. A listed block's size is only the allocator's
  /// usable size for the requested bytes. For glibc: the bytes and its own word rounded up to a multiple of 16, plus a
  /// rest of 16 that is too small for a block. For jemalloc: its next size class. For a set that the recorder keeps:
  /// the next multiple of 8.
  package func mayHaveSize(_ asked: UInt64, isListed: Bool) -> Bool {
    guard isListed else { return size == asked }
    let usable = (asked + 8 + 15) & ~15 - 8
    return size == usable || size == usable + 16 || size == (asked + 7) & ~7 || size == Self.jemallocClass(of: asked)
  }

  /// Multiples of 16 up to 128, and four classes from one power of two to the next. Source: jemalloc 5.3, size_classes.
  private static func jemallocClass(of asked: UInt64) -> UInt64 {
    guard asked > 8 else { return 8 }
    let distance = asked <= 128 ? 16 : UInt64(1) << (61 - (asked - 1).leadingZeroBitCount)
    return (asked + distance - 1) & ~(distance - 1)
  }

  /// Events: few enough to separate one request from the next, many enough that 32 bits last.
  package static let useUnit: UInt64 = 64

  /// The bit of `useAges` for an age in events of the process.
  @inline(__always)
  package static func ageBit(_ age: UInt64) -> UInt64 { min(63 &- UInt64((age / useUnit | 1).leadingZeroBitCount), 15) }

  /// Records that a reference to it was counted, when the process had seen `ordinal` events.
  @inline(__always)
  mutating func noteUse(at ordinal: UInt64) {
    lastUse = UInt32(truncatingIfNeeded: ordinal / Self.useUnit)
    useAges |= 1 &<< UInt16(truncatingIfNeeded: Self.ageBit(ordinal > self.ordinal ? ordinal &- self.ordinal : 0))
  }

  @inline(__always)
  package init(
    address: UInt64, size: UInt64, birthTime: UInt64, site: SiteID, threadIndex: UInt32 = 0, ordinal: UInt64 = 0,
    threadOrdinal: UInt32 = 0,
    strand: StrandID = StrandID(0)
  ) {
    self.address = address
    self.size = size
    self.birthTime = birthTime
    self.ordinal = ordinal
    self.site = site
    self.threadIndex = threadIndex
    self.threadOrdinal = threadOrdinal
    self.strand = strand
  }
}
