// What happened at each allocation site.

/// Sums over the blocks of one site.
public struct SiteTotal: Hashable, Sendable {
  public var allocatedBlocks: UInt64 = 0
  public var allocatedBytes: UInt64 = 0
  public var liveBlocks: UInt64 = 0
  public var liveBytes: UInt64 = 0
  /// Live at the moment of most live bytes of the whole trace.
  public var peakBlocks: UInt64 = 0
  public var peakBytes: UInt64 = 0
  /// Freed by the thread that allocated them, before it made more than one other allocation. Blocks given to realloc are not counted.
  public var temporaryBlocks: UInt64 = 0
  public var temporaryBytes: UInt64 = 0
  /// Strong references taken to the site's objects, by count.
  public var retains: UInt64 = 0
  public var releases: UInt64 = 0
  public var unownedRetains: UInt64 = 0
  public var unownedReleases: UInt64 = 0

  public init() {}

  public static func += (a: inout Self, b: Self) {
    a.allocatedBlocks &+= b.allocatedBlocks
    a.allocatedBytes &+= b.allocatedBytes
    a.liveBlocks &+= b.liveBlocks
    a.liveBytes &+= b.liveBytes
    a.peakBlocks &+= b.peakBlocks
    a.peakBytes &+= b.peakBytes
    a.temporaryBlocks &+= b.temporaryBlocks
    a.temporaryBytes &+= b.temporaryBytes
    a.retains &+= b.retains
    a.releases &+= b.releases
    a.unownedRetains &+= b.unownedRetains
    a.unownedReleases &+= b.unownedReleases
  }
}

/// Sums by site and over all, with each site's exact share of the peak, in one pass.
///
/// A new peak would need a copy of every site's live bytes. Instead each site copies its own when it first changes after a peak:
/// until then it stands as it stood at the peak. So every event costs constant time, and no second pass is needed.
/// Arithmetic wraps: only a forged trace gets that far.
public struct SiteTotals: ReplayObserver {
  /// A block freed with at most this many other allocations of its thread in between is temporary.
  public static let temporaryDistance: UInt64 = 1

  private struct Row {
    var total = SiteTotal()
    /// The number of the peak that `peakBytes` and `peakBlocks` are of; older ones are out of date.
    var peakNumber: UInt64 = 0
  }

  private var rows: [Row] = []
  private struct ThreadRow {
    var number: UInt32 = 0
    var allocations: UInt64 = 0
  }
  private var threads: [ThreadRow] = []
  private var peakNumber: UInt64 = 0
  public private(set) var liveBytes: UInt64 = 0
  public private(set) var liveBlocks: UInt64 = 0
  /// The most live bytes.
  public private(set) var peakBytes: UInt64 = 0
  public private(set) var peakBlocks: UInt64 = 0
  /// The first moment of it, in ticks.
  public private(set) var peakTime: UInt64 = 0

  public init() {}

  /// By `SiteID`.
  public var totals: [SiteTotal] {
    rows.map { row in
      var total = row.total
      if row.peakNumber != peakNumber {
        total.peakBytes = total.liveBytes
        total.peakBlocks = total.liveBlocks
      }
      return total
    }
  }

  /// Keeps what a site had at the latest peak, before it changes.
  @inline(__always)
  private static func keepPeak(_ row: inout Row, _ peakNumber: UInt64) {
    if row.peakNumber != peakNumber {
      row.peakNumber = peakNumber
      row.total.peakBytes = row.total.liveBytes
      row.total.peakBlocks = row.total.liveBlocks
    }
  }

  @inline(__always)
  private mutating func add(_ block: LiveBlock, at time: UInt64) {
    let site = Int(block.site.rawValue)
    Self.keepPeak(&rows[site], peakNumber)
    rows[site].total.liveBlocks &+= 1
    rows[site].total.liveBytes &+= block.size
    liveBlocks &+= 1
    liveBytes &+= block.size
    if liveBytes > peakBytes {
      peakBytes = liveBytes
      peakBlocks = liveBlocks
      peakTime = time
      peakNumber &+= 1
    }
  }

  @inline(__always)
  public mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    let site = Int(block.site.rawValue)
    if site >= rows.count { rows.append(contentsOf: repeatElement(Row(), count: site + 1 - rows.count)) }
    let thread = Int(block.threadIndex)
    if thread >= threads.count { threads.append(contentsOf: repeatElement(ThreadRow(), count: thread + 1 - threads.count)) }
    threads[thread] = ThreadRow(number: event.thread, allocations: block.ordinal &+ 1)
    rows[site].total.allocatedBlocks &+= 1
    rows[site].total.allocatedBytes &+= block.size
    add(block, at: event.time)
  }

  @inline(__always)
  public mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    let site = Int(block.site.rawValue)
    Self.keepPeak(&rows[site], peakNumber)
    rows[site].total.liveBlocks &-= 1
    rows[site].total.liveBytes &-= block.size
    liveBlocks &-= 1
    liveBytes &-= block.size
    let thread = threads[Int(block.threadIndex)]
    if event.operation == .free || event.operation == .operatorDelete, event.thread == thread.number,
      thread.allocations &- block.ordinal &- 1 <= Self.temporaryDistance
    {
      rows[site].total.temporaryBlocks &+= 1
      rows[site].total.temporaryBytes &+= block.size
    }
  }

  @inline(__always)
  public mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {
    add(block, at: event.time)
  }

  @inline(__always)
  public mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    let site = Int(block.site.rawValue)
    switch event.operation.effect {
    case .retain:
      rows[site].total.retains &+= event.referenceCount
      if event.operation == .unownedRetainStrongAndRelease { rows[site].total.unownedReleases &+= 1 }
    case .release: rows[site].total.releases &+= event.referenceCount
    case .unownedRetain: rows[site].total.unownedRetains &+= event.referenceCount
    case .unownedRelease: rows[site].total.unownedReleases &+= event.referenceCount
    default: break
    }
  }

  @inline(__always)
  public mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
