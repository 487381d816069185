// A block that is allocated and not yet freed.

/// An index into the replay's sites, without gaps from 0.
package struct SiteID: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32
  @inline(__always) package init(_ rawValue: UInt32) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// An index into the replay's executions, without gaps from 0. A execution is a thread outside of tasks, or a task on any
/// threads that run it.
package struct ExecutionID: Hashable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32
  @inline(__always) package init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// A live block, with the facts that its allocation recorded.
package struct LiveBlock: Hashable, Sendable, BitwiseCopyable {
  package var address: UInt64
  /// Requested bytes.
  package var size: UInt64
  /// Ticks.
  package var birthTime: UInt64
  /// The number of events of the process before the allocation.
  package var ordinal: UInt64
  package var site: SiteID
  /// Index into the replay's threads, not the thread's number.
  var threadIndex: UInt32
  /// The number of allocations that the thread had made before this one, modulo 2^32.
  package var threadOrdinal: UInt32
  /// The execution that made the block.
  package var execution: ExecutionID
  /// The time of the last retain or release of the block, in `useUnit`s of events of the process; 0 if there was none.
  package var lastUse: UInt32 = 0
  /// The ages of the block at its retains and releases. Bit n means an age of 2^n to 2^(n+1) `useUnit`s of events of
  /// the process. The last bit also means any higher age.
  package var useAges: UInt16 = 0
  /// True if a task with an execution is in the block.
  package var hasTask = false

  /// Returns whether `asked` bytes, at most 2^32, may have been requested for the block. A listed block has only the
  /// usable size that the allocator gave it. For glibc, this is the requested bytes plus one word of 8, rounded up to a
  /// multiple of 16, less the word. It may be 16 more, if that rest was too small for a block. For jemalloc, it is the
  /// next size class. For blocks from the recorder's own set, it is the next multiple of 8.
  package func mayHaveSize(_ asked: UInt64, isListed: Bool) -> Bool {
    guard isListed else { return size == asked }
    let usable = (asked + 8 + 15) & ~15 - 8
    return size == usable || size == usable + 16 || size == (asked + 7) & ~7 || size == Self.jemallocClass(of: asked)
  }

  /// Returns jemalloc's size class for some bytes: 8, multiples of 16 up to 128, and above that four classes from one
  /// power of two to the next. Source: jemalloc 5.3, size_classes.
  private static func jemallocClass(of asked: UInt64) -> UInt64 {
    guard asked > 8 else { return 8 }
    let distance = asked <= 128 ? 16 : UInt64(1) << (61 - (asked - 1).leadingZeroBitCount)
    return (asked + distance - 1) & ~(distance - 1)
  }

  /// The unit of `lastUse` and `useAges`, in events. It is small enough to separate one request from the next, and
  /// large enough that 32 bits suffice.
  package static let useUnit: UInt64 = 64

  /// Returns the number of the bit of `useAges` for an age in events of the process.
  @inline(__always)
  package static func ageBit(_ age: UInt64) -> UInt64 { min(63 &- UInt64((age / useUnit | 1).leadingZeroBitCount), 15) }

  /// Records a retain or release of the block after `ordinal` events of the process.
  @inline(__always)
  mutating func noteUse(at ordinal: UInt64) {
    lastUse = UInt32(truncatingIfNeeded: ordinal / Self.useUnit)
    useAges |= 1 &<< UInt16(truncatingIfNeeded: Self.ageBit(ordinal > self.ordinal ? ordinal &- self.ordinal : 0))
  }

  @inline(__always)
  package init(
    address: UInt64, size: UInt64, birthTime: UInt64, site: SiteID, threadIndex: UInt32 = 0, ordinal: UInt64 = 0,
    threadOrdinal: UInt32 = 0,
    execution: ExecutionID = ExecutionID(0)
  ) {
    self.address = address
    self.size = size
    self.birthTime = birthTime
    self.ordinal = ordinal
    self.site = site
    self.threadIndex = threadIndex
    self.threadOrdinal = threadOrdinal
    self.execution = execution
  }
}
