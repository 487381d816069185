// A block that is allocated and not yet freed.

/// Index into the replay's sites; dense, from 0.
public struct SiteID: Hashable, Comparable, Sendable, BitwiseCopyable {
  public var rawValue: UInt32
  @inline(__always) public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A live block, as its allocation was recorded.
public struct LiveBlock: Hashable, Sendable, BitwiseCopyable {
  public var address: UInt64
  /// Bytes asked for.
  public var size: UInt64
  /// Ticks.
  public var birthTime: UInt64
  public var site: SiteID
  /// Index into the replay's threads, not the thread's number.
  public var threadIndex: UInt32
  /// How many allocations its thread had made before it.
  public var ordinal: UInt64

  @inline(__always)
  public init(address: UInt64, size: UInt64, birthTime: UInt64, site: SiteID, threadIndex: UInt32, ordinal: UInt64) {
    self.address = address
    self.size = size
    self.birthTime = birthTime
    self.site = site
    self.threadIndex = threadIndex
    self.ordinal = ordinal
  }
}
