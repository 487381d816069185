// Totals of each allocation site.

import CPrefetch

/// Sums over the blocks of one site.
package struct SiteTotal: Codable, Hashable, Sendable, BitwiseCopyable {
  package var allocatedBlocks: UInt64 = 0
  package var allocatedBytes: UInt64 = 0
  package var liveBlocks: UInt64 = 0
  package var liveBytes: UInt64 = 0
  /// Blocks and bytes that were live at the peak: the moment of the most live bytes in the whole trace.
  package var peakBlocks: UInt64 = 0
  package var peakBytes: UInt64 = 0
  /// Blocks that were freed by the thread that allocated them, with at most one other allocation of that thread in
  /// between. Blocks that were passed to realloc are not counted.
  package var temporaryBlocks: UInt64 = 0
  package var temporaryBytes: UInt64 = 0
  /// The numbers of references to the site's objects that were retained and released. One call may count several
  /// references.
  package var retains: UInt64 = 0
  package var releases: UInt64 = 0
  package var unownedRetains: UInt64 = 0
  package var unownedReleases: UInt64 = 0

  package init() {}

  package static func += (a: inout Self, b: Self) {
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

/// Computes the sums for each site and for all sites in one pass, with each site's exact share of the peak.
///
/// Copying every site's live bytes at each new peak would be slow. Instead, a site's live bytes are copied when they
/// first change after a peak: until then, they equal the site's share of the peak. So every event takes constant time,
/// and no second pass is needed. Copies share their rows, as with a class. Arithmetic wraps, because only a forged
/// trace has such large numbers.
package struct SiteTotals: ReplayObserver {
  /// A block is temporary if its thread made at most this many other allocations before it freed the block.
  package static let temporaryDistance: UInt32 = 1

  /// The sums of a site whose blocks all have the same size, in half a cache line. That is so for most sites of programs
  /// with many sites. A site has fewer live blocks than `ReadingLimits.blockLimit`.
  private struct Row: BitwiseCopyable {
    /// The index plus 1 of the site's `MixedRow`; 0 if this row has the sums.
    var mixed: UInt32 = 0
    /// The number of the peak that `peakBlocks` is from. If there was a newer peak, `peakBlocks` is out of date.
    var peakNumber: UInt32 = 0
    /// Bytes of each block.
    var size: UInt32 = 0
    var liveBlocks: UInt32 = 0
    var peakBlocks: UInt32 = 0
    var allocatedBlocks: UInt32 = 0
    var temporaryBlocks: UInt32 = 0
    /// Keeps two rows in each cache line.
    private var unused: UInt32 = 0
  }

  /// The sums of a site whose blocks have different sizes, or of a site with very large or very many blocks.
  private struct MixedRow: BitwiseCopyable {
    /// As in `Row`, also for `peakBytes`.
    var peakNumber: UInt32 = 0
    var liveBlocks: UInt32 = 0
    var peakBlocks: UInt32 = 0
    var liveBytes: UInt64 = 0
    var peakBytes: UInt64 = 0
    var allocatedBlocks: UInt64 = 0
    var allocatedBytes: UInt64 = 0
    var temporaryBlocks: UInt64 = 0
    var temporaryBytes: UInt64 = 0

    init() {}

    init(_ row: Row) {
      let size = UInt64(row.size)
      (peakNumber, liveBlocks, peakBlocks) = (row.peakNumber, row.liveBlocks, row.peakBlocks)
      (liveBytes, peakBytes) = (UInt64(row.liveBlocks) * size, UInt64(row.peakBlocks) * size)
      (allocatedBlocks, allocatedBytes) = (UInt64(row.allocatedBlocks), UInt64(row.allocatedBlocks) * size)
      (temporaryBlocks, temporaryBytes) = (UInt64(row.temporaryBlocks), UInt64(row.temporaryBlocks) * size)
    }

    /// Saves the live bytes and blocks as the site's share of the peak with this number, before they change.
    @inline(__always)
    mutating func keepPeak(_ number: UInt32) {
      if peakNumber == number { return }
      (peakNumber, peakBytes, peakBlocks) = (number, liveBytes, liveBlocks)
    }
  }

  /// The references to a site's objects that were counted.
  private struct ReferenceRow: BitwiseCopyable {
    var retains: UInt64 = 0
    var releases: UInt64 = 0
    var unownedRetains: UInt64 = 0
    var unownedReleases: UInt64 = 0
  }

  private let memory = TableOwner()
  private let rows: RowTable<Row>
  private let mixedRows: RowTable<MixedRow>
  /// The rows up to the last site with counted references. Many sites, and many traces, have none.
  private let references: RowTable<ReferenceRow>
  private struct ThreadRow: BitwiseCopyable {
    var number: UInt32 = 0
    var allocations: UInt32 = 0
  }
  private let threads: RowTable<ThreadRow>
  /// The number of peaks so far, up to `renumberPeaks`.
  private var peakNumber: UInt32 = 0
  private let peakLimit: UInt32
  package private(set) var liveBytes: UInt64 = 0
  package private(set) var liveBlocks: UInt64 = 0
  /// The most bytes that were live at the same time.
  package private(set) var peakBytes: UInt64 = 0
  package private(set) var peakBlocks: UInt64 = 0
  /// The first moment with `peakBytes` live bytes, in ticks.
  private(set) var peakTime: UInt64 = 0
  /// The live bytes of all sites in the course of the run.
  package private(set) var curve = LiveBytesCurve()

  /// `peakLimit`: the number of peaks after which they are counted from 0 again.
  package init(peakLimit: UInt32 = .max) {
    self.peakLimit = peakLimit
    rows = RowTable(blank: Row(), ownedBy: memory)
    mixedRows = RowTable(blank: MixedRow(), ownedBy: memory)
    references = RowTable(blank: ReferenceRow(), ownedBy: memory)
    threads = RowTable(blank: ThreadRow(), ownedBy: memory)
  }

  /// The totals of all sites; index: `SiteID`.
  package var totals: [SiteTotal] { (0..<rows.count).map { total(of: SiteID(UInt32($0))) } }

  package var siteCount: Int { rows.count }

  /// Makes room for a site that has no event.
  func reach(_ site: SiteID) { rows.reach(Int(site.rawValue)) }

  package func total(of site: SiteID) -> SiteTotal {
    let row = rows[Int(site.rawValue)].pointee
    var sums = row.mixed == 0 ? MixedRow(row) : mixedRows[Int(row.mixed) - 1].pointee
    sums.keepPeak(peakNumber)
    var total = SiteTotal()
    (total.allocatedBlocks, total.allocatedBytes) = (sums.allocatedBlocks, sums.allocatedBytes)
    (total.liveBlocks, total.liveBytes) = (UInt64(sums.liveBlocks), sums.liveBytes)
    (total.peakBlocks, total.peakBytes) = (UInt64(sums.peakBlocks), sums.peakBytes)
    (total.temporaryBlocks, total.temporaryBytes) = (sums.temporaryBlocks, sums.temporaryBytes)
    if Int(site.rawValue) < references.count {
      let counted = references[Int(site.rawValue)].pointee
      (total.retains, total.releases) = (counted.retains, counted.releases)
      (total.unownedRetains, total.unownedReleases) = (counted.unownedRetains, counted.unownedReleases)
    }
    return total
  }

  /// Adds a block to the live blocks of a site, and to its allocated blocks unless the block was allocated before.
  @inline(__always)
  private mutating func add(_ row: UnsafeMutablePointer<Row>, _ size: UInt64, isNew: Bool, at time: UInt64) {
    if row.pointee.mixed == 0, UInt64(row.pointee.size) == size, row.pointee.allocatedBlocks < .max {
      keepPeak(row)
      row.pointee.liveBlocks &+= 1
      row.pointee.allocatedBlocks &+= isNew ? 1 : 0
    } else {
      addRarely(row, size, isNew: isNew)
    }
    liveBlocks &+= 1
    liveBytes &+= size
    if liveBytes > peakBytes {
      peakBytes = liveBytes
      peakBlocks = liveBlocks
      peakTime = time
      if peakNumber == peakLimit { renumberPeaks() }
      peakNumber &+= 1
    }
  }

  /// As `keepPeak` of `MixedRow`.
  @inline(__always)
  private func keepPeak(_ row: UnsafeMutablePointer<Row>) {
    if row.pointee.peakNumber != peakNumber {
      row.pointee.peakNumber = peakNumber
      row.pointee.peakBlocks = row.pointee.liveBlocks
    }
  }

  /// Adds the first block of a site, or a block of a site whose sums do not fit in a `Row`.
  @inline(never)
  private func addRarely(_ row: UnsafeMutablePointer<Row>, _ size: UInt64, isNew: Bool) {
    if row.pointee.mixed == 0, row.pointee.allocatedBlocks == 0, row.pointee.liveBlocks == 0,
      let few = UInt32(exactly: size)
    {
      keepPeak(row)
      row.pointee.size = few
      row.pointee.liveBlocks = 1
      row.pointee.allocatedBlocks = isNew ? 1 : 0
      return
    }
    if row.pointee.mixed == 0 {
      let index = mixedRows.count
      mixedRows.reach(index)
      mixedRows[index].pointee = MixedRow(row.pointee)
      row.pointee.mixed = UInt32(index + 1)
    }
    let sums = mixedRows[Int(row.pointee.mixed) - 1]
    sums.pointee.keepPeak(peakNumber)
    sums.pointee.liveBlocks &+= 1
    sums.pointee.liveBytes &+= size
    sums.pointee.allocatedBlocks &+= isNew ? 1 : 0
    sums.pointee.allocatedBytes &+= isNew ? size : 0
  }

  /// Begins to count the peaks from 0 again. Linear in the sites.
  @inline(never)
  private mutating func renumberPeaks() {
    for index in 0..<rows.count {
      keepPeak(rows[index])
      rows[index].pointee.peakNumber = 0
    }
    for index in 0..<mixedRows.count {
      mixedRows[index].pointee.keepPeak(peakNumber)
      mixedRows[index].pointee.peakNumber = 0
    }
    peakNumber = 0
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    withUnsafePointer(to: block) { block in withUnsafePointer(to: event) { blockAllocated(at: block, by: $0) } }
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    withUnsafePointer(to: block) { block in withUnsafePointer(to: event) { blockFreed(at: block, by: $0) } }
  }

  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    withUnsafePointer(to: block) { block in withUnsafePointer(to: event) { referencesChanged(at: block, by: $0) } }
  }

  @inline(__always)
  package mutating func blockAllocated(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    let block = block.pointee
    let site = Int(block.site.rawValue)
    rows.reach(site)
    let thread = Int(block.threadIndex)
    threads.reach(thread)
    threads[thread].pointee = ThreadRow(number: event.pointee.thread, allocations: block.threadOrdinal &+ 1)
    add(rows[site], block.size, isNew: true, at: event.pointee.time)
  }

  @inline(__always)
  package mutating func blockFreed(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    let block = block.pointee
    liveBlocks &-= 1
    liveBytes &-= block.size
    let thread = threads[Int(block.threadIndex)].pointee
    let operation = event.pointee.operation
    let isTemporary =
      (operation == .free || operation == .operatorDelete) && event.pointee.thread == thread.number
      && thread.allocations &- block.threadOrdinal &- 1 <= Self.temporaryDistance
    let row = rows[Int(block.site.rawValue)]
    if row.pointee.mixed == 0 {
      keepPeak(row)
      row.pointee.liveBlocks &-= 1
      row.pointee.temporaryBlocks &+= isTemporary ? 1 : 0
    } else {
      let sums = mixedRows[Int(row.pointee.mixed) &- 1]
      sums.pointee.keepPeak(peakNumber)
      sums.pointee.liveBlocks &-= 1
      sums.pointee.liveBytes &-= block.size
      sums.pointee.temporaryBlocks &+= isTemporary ? 1 : 0
      sums.pointee.temporaryBytes &+= isTemporary ? block.size : 0
    }
  }

  @inline(__always)
  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {
    add(rows[Int(block.site.rawValue)], block.size, isNew: false, at: event.time)
  }

  @inline(__always)
  package mutating func referencesChanged(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    let site = Int(block.pointee.site.rawValue)
    references.reach(site)
    let row = references[site]
    let operation = event.pointee.operation
    let count = event.pointee.referenceCount
    switch operation.effect {
    case .retain:
      row.pointee.retains &+= count
      if operation == .unownedRetainStrongAndRelease { row.pointee.unownedReleases &+= 1 }
    case .release: row.pointee.releases &+= count
    case .unownedRetain: row.pointee.unownedRetains &+= count
    case .unownedRelease: row.pointee.unownedReleases &+= count
    default: break
    }
  }

  @inline(__always)
  package func prefetchBlock(of site: SiteID) {
    lt_prefetch(rows[Int(site.rawValue)])
  }

  @inline(__always)
  package func prefetchReference(to site: SiteID) {
    if Int(site.rawValue) < references.count { lt_prefetch(references[Int(site.rawValue)]) }
  }

  @inline(__always)
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}

  package mutating func passed(events count: UInt64, time: UInt64) {
    curve.add(LiveBytesCurve.Point(events: count, time: time, liveBytes: liveBytes))
  }
}
