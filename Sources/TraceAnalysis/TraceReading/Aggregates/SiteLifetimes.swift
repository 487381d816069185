// Lifetimes of the blocks of each allocation site, and the activations within which they end.

import CPrefetch

/// The lifetimes of a site's blocks, up to the moment of a snapshot. Several sites of a family can be added up.
package struct SiteLifetime: Hashable, Sendable, BitwiseCopyable {
  /// The number of blocks that were made, and the number of them that ended.
  package var births: UInt64 = 0
  package var deaths: UInt64 = 0
  /// The time when the first block was made, in ticks.
  package var firstBirth: UInt64 = 0
  /// The latest time when a block was made or ended, in ticks.
  package var lastTime: UInt64 = 0
  /// Events of the process before the last end of a block.
  package var lastDeathOrdinal: UInt64 = 0
  /// Events of the process before the first birth, and before the last birth.
  package var firstOrdinal: UInt64 = 0
  package var lastOrdinal: UInt64 = 0
  /// The longest life of a block that ended, in ticks and in events of the process. Accurate to 24 bits.
  package var longestDuration: UInt64 = 0
  package var longestWork: UInt64 = 0
  /// The departures of blocks: the number of activations around a block's allocation that had returned when the block
  /// ended. Counts the first `fullCount` deaths, then one in 16.
  package var departures = DepartureCounts()
  /// For two successive blocks of the site: the number of activations around the allocation that did not last from one
  /// to the other.
  package var gaps = DepartureCounts()
  /// The lifetimes of blocks, in ticks.
  package var durations = DurationCounts()
  /// The lifetimes of blocks in work: in 64ths of an event of the process. A busy machine does not lengthen these.
  package var work = DurationCounts()

  /// Events of the process before the last birth or death of a block of the site.
  package var lastEventOrdinal: UInt64 { max(lastOrdinal, lastDeathOrdinal) }

  static let fullCount: UInt64 = 1024

  package init() {}

  package static func += (a: inout Self, b: Self) {
    if b.births == 0 { return }
    a.firstBirth = a.births == 0 ? b.firstBirth : min(a.firstBirth, b.firstBirth)
    a.firstOrdinal = a.births == 0 ? b.firstOrdinal : min(a.firstOrdinal, b.firstOrdinal)
    a.lastTime = max(a.lastTime, b.lastTime)
    a.lastDeathOrdinal = max(a.lastDeathOrdinal, b.lastDeathOrdinal)
    a.lastOrdinal = max(a.lastOrdinal, b.lastOrdinal)
    a.births &+= b.births
    a.deaths &+= b.deaths
    a.longestDuration = max(a.longestDuration, b.longestDuration)
    a.longestWork = max(a.longestWork, b.longestWork)
    a.departures += b.departures
    a.gaps += b.gaps
    a.durations += b.durations
    a.work += b.work
  }
}

/// Records the births and deaths of each site's blocks, up to a moment. Later events are ignored, because the results
/// are compared with a snapshot.
///
/// Copies share their rows, as with a class. An event takes constant time, or the logarithm of the stack's depth if a
/// departure is counted.
struct SiteLifetimes: ReplayObserver {
  /// The lifetimes of a site with few blocks, in one cache line. Few programs have so many busy sites that more memory
  /// would matter, but some have a million sites.
  ///
  /// All of the blocks have the same departure, and the same gap. Other sites have a `Row`.
  private struct FewRow: BitwiseCopyable {
    /// As in `SiteLifetime`.
    var firstOrdinal: UInt64 = 0
    var firstBirth: UInt64 = 0
    var lastTime: UInt64 = 0
    /// Events of the process from the first birth to the last birth; if `isFull`, the index of the site's `Row`.
    var lastBirth: UInt32 = 0
    /// Events of the process from the first birth to the last death.
    var lastDeath: UInt32 = 0
    var longestDuration: Float = 0
    var longestWork: Float = 0
    var position = LiveCurves.Position()
    var births: UInt8 = 0
    var gap: UInt16 = 0
    var departure: UInt16 = 0
    /// Depth of the site's stack, in frames.
    var depth: UInt16 = 0
    var deaths: UInt8 = 0
    /// True if the site has a `Row`. Only `lastBirth` is then used.
    var isFull = false
    var lifetimes = FewLifetimes()

    /// Returns the distance from the site's stack to the frames that are shared; nil if it does not fit, or differs from
    /// the distance of `others` earlier ones.
    @inline(__always)
    func distance(_ shared: Int, as known: UInt16, of others: UInt8) -> UInt16? {
      let distance = UInt16(truncatingIfNeeded: max(0, Int(depth) &- shared))
      return others == 0 || distance == known ? distance : nil
    }
  }

  /// A `SiteLifetime` in two cache lines. Births, except for the first, use only the first line.
  private struct Row: BitwiseCopyable {
    var births: UInt64 = 0
    var deaths: UInt64 = 0
    var firstOrdinal: UInt64 = 0
    var lastOrdinal: UInt64 = 0
    var lastTime: UInt64 = 0
    var position = LiveCurves.Position()
    var gaps = OneDeparture()
    /// Depth of the site's stack, in frames.
    var depth: UInt32 = 0
    var longestDuration: Float = 0
    var firstBirth: UInt64 = 0
    var lastDeathOrdinal: UInt64 = 0
    var departures = OneDeparture()
    var durations = FewDurations()
    var work = FewDurations()
    var longestWork: Float = 0

    init() {}

    init(_ few: FewRow) {
      births = UInt64(few.births)
      deaths = UInt64(few.deaths)
      firstOrdinal = few.firstOrdinal
      lastOrdinal = few.firstOrdinal &+ UInt64(few.lastBirth)
      lastTime = few.lastTime
      position = few.position
      gaps = OneDeparture(few.gap, count: max(1, UInt32(few.births)) - 1)
      depth = UInt32(few.depth)
      longestDuration = few.longestDuration
      firstBirth = few.firstBirth
      lastDeathOrdinal = few.deaths == 0 ? 0 : few.firstOrdinal &+ UInt64(few.lastDeath)
      departures = OneDeparture(few.departure, count: UInt32(few.deaths))
      durations = few.lifetimes.durations(inWork: false)
      work = few.lifetimes.durations(inWork: true)
      longestWork = few.longestWork
    }
  }

  private let memory = TableOwner()
  private let rows: RowTable<FewRow>
  private let fullRows: RowTable<Row>
  /// Durations and departures of sites whose rows have no room for them.
  private let durations: RowTable<DurationCounts>
  private let departures: RowTable<DepartureCounts>
  private let curves: LiveCurves
  /// The replay's tracker. The replay keeps it alive, so it is not retained here.
  private let activations: Unmanaged<ActivationTracker>
  /// Ticks.
  private let end: UInt64

  init(_ activations: ActivationTracker, until end: UInt64?) {
    rows = RowTable(blank: FewRow(), ownedBy: memory)
    fullRows = RowTable(blank: Row(), ownedBy: memory)
    durations = RowTable(blank: DurationCounts(), ownedBy: memory)
    departures = RowTable(blank: DepartureCounts(), ownedBy: memory)
    curves = LiveCurves(ownedBy: memory)
    self.activations = Unmanaged.passUnretained(activations)
    self.end = end ?? .max
  }

  /// Makes room for a site that has no event.
  func reach(_ site: SiteID) { rows.reach(Int(site.rawValue)) }

  /// Returns the lifetimes of a site's blocks. A site that was first met after `end` has no births.
  func lifetime(of site: SiteID) -> SiteLifetime {
    let row = row(of: site)
    var lifetime = SiteLifetime()
    lifetime.births = row.births
    lifetime.deaths = row.deaths
    lifetime.firstBirth = row.firstBirth
    lifetime.lastTime = row.lastTime
    lifetime.lastDeathOrdinal = row.lastDeathOrdinal
    lifetime.firstOrdinal = row.firstOrdinal
    lifetime.lastOrdinal = row.lastOrdinal
    lifetime.longestDuration = UInt64(row.longestDuration)
    lifetime.longestWork = UInt64(row.longestWork)
    lifetime.departures = row.departures.all(departures)
    lifetime.gaps = row.gaps.all(departures)
    lifetime.durations = row.durations.all(durations)
    lifetime.work = row.work.all(durations)
    return lifetime
  }

  private func row(of site: SiteID) -> Row {
    let row = rows[Int(site.rawValue)].pointee
    return row.isFull ? fullRows[Int(row.lastBirth)].pointee : Row(row)
  }

  func births(of site: SiteID) -> UInt64 {
    let row = rows[Int(site.rawValue)]
    return row.pointee.isFull ? fullRows[Int(row.pointee.lastBirth)].pointee.births : UInt64(row.pointee.births)
  }
  func deaths(of site: SiteID) -> UInt64 {
    let row = rows[Int(site.rawValue)]
    return row.pointee.isFull ? fullRows[Int(row.pointee.lastBirth)].pointee.deaths : UInt64(row.pointee.deaths)
  }
  func longestWork(of site: SiteID) -> UInt64 {
    let row = rows[Int(site.rawValue)]
    return UInt64(
      row.pointee.isFull ? fullRows[Int(row.pointee.lastBirth)].pointee.longestWork : row.pointee.longestWork)
  }

  /// Returns the site's live blocks over the events of the process. O(1).
  func curve(of site: SiteID) -> LiveCurve {
    let row = row(of: site)
    return curves.curve(row.position, start: row.firstOrdinal, live: row.births &- row.deaths)
  }

  /// Adds the site's live blocks at moments `step` events apart to `sums`: see `LiveCurves.addLive`.
  func addLive(of site: SiteID, every step: UInt64, to sums: inout [UInt64]) {
    let few = rows[Int(site.rawValue)]
    if few.pointee.isFull {
      let row = fullRows[Int(few.pointee.lastBirth)]
      curves.addLive(
        row.pointee.position, start: row.pointee.firstOrdinal, live: row.pointee.births &- row.pointee.deaths,
        every: step, to: &sums)
    } else {
      curves.addLive(
        few.pointee.position, start: few.pointee.firstOrdinal, live: UInt64(few.pointee.births &- few.pointee.deaths),
        every: step, to: &sums)
    }
  }

  /// Returns the number of frames of the site's stack.
  func depth(of site: SiteID) -> UInt32 {
    let row = rows[Int(site.rawValue)]
    return row.pointee.isFull ? fullRows[Int(row.pointee.lastBirth)].pointee.depth : UInt32(row.pointee.depth)
  }

  mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    withUnsafePointer(to: block) { block in withUnsafePointer(to: event) { blockAllocated(at: block, by: $0) } }
  }

  mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    withUnsafePointer(to: block) { block in withUnsafePointer(to: event) { blockFreed(at: block, by: $0) } }
  }

  @inline(__always)
  mutating func blockAllocated(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    let site = Int(block.pointee.site.rawValue)
    rows.reach(site)
    if event.pointee.time > end { return }
    let row = rows[site]
    if !row.pointee.isFull {
      if addBirth(of: block, by: event, toFew: row) { return }
      fill(row)
    }
    addBirth(of: block, by: event, to: fullRows[Int(row.pointee.lastBirth)])
  }

  @inline(__always)
  mutating func blockFreed(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    let time = event.pointee.time
    if time > end { return }
    let row = rows[Int(block.pointee.site.rawValue)]
    let ordinal = activations._withUnsafeGuaranteedRef { $0.ordinal }
    // Clocks of two processors disagree a little, so a free may seem to precede its allocation.
    let duration = time > block.pointee.birthTime ? time &- block.pointee.birthTime : 0
    let work = ordinal > block.pointee.ordinal ? ordinal &- block.pointee.ordinal : 0
    if !row.pointee.isFull {
      if addDeath(of: block, toFew: row, time, ordinal, duration: duration, work: work) { return }
      fill(row)
    }
    addDeath(of: block, to: fullRows[Int(row.pointee.lastBirth)], time, ordinal, duration: duration, work: work)
  }

  /// Makes a `Row` for a site that has none.
  @inline(never)
  private func fill(_ row: UnsafeMutablePointer<FewRow>) {
    let index = fullRows.count
    fullRows.reach(index)
    fullRows[index].pointee = Row(row.pointee)
    row.pointee.lastBirth = UInt32(index)
    row.pointee.isFull = true
  }

  /// Adds a birth to the row of a site with few blocks. False if it does not fit, and then nothing has changed.
  @inline(never)
  private func addBirth(
    of block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>, toFew row: UnsafeMutablePointer<FewRow>
  ) -> Bool {
    let (births, ordinal) = (row.pointee.births, block.pointee.ordinal)
    if births == 0 {
      guard row.pointee.deaths == 0, event.pointee.depth <= UInt16.max else { return false }
      row.pointee.firstBirth = block.pointee.birthTime
      row.pointee.firstOrdinal = ordinal
      row.pointee.depth = UInt16(truncatingIfNeeded: event.pointee.depth)
      row.pointee.position = LiveCurves.begin(at: ordinal)
    } else {
      let first = row.pointee.firstOrdinal
      let age = ordinal > first ? ordinal &- first : 0
      let last = first &+ UInt64(row.pointee.lastBirth)
      let shared = activations._withUnsafeGuaranteedRef { $0.sharedDepth(block.pointee.execution, since: last) }
      guard births < .max, age <= UInt32.max,
        let gap = row.pointee.distance(shared, as: row.pointee.gap, of: births &- 1)
      else { return false }
      curves.advance(
        &row.pointee.position, age: age, live: UInt64(truncatingIfNeeded: Int(births) &- Int(row.pointee.deaths)))
      row.pointee.gap = gap
      row.pointee.lastBirth = UInt32(truncatingIfNeeded: age)
    }
    row.pointee.births = births &+ 1
    row.pointee.lastTime = max(row.pointee.lastTime, block.pointee.birthTime)
    return true
  }

  /// Adds a death to the row of a site with few blocks. False if it does not fit, and then nothing has changed.
  @inline(never)
  private func addDeath(
    of block: UnsafePointer<LiveBlock>, toFew row: UnsafeMutablePointer<FewRow>, _ time: UInt64, _ ordinal: UInt64,
    duration: UInt64, work: UInt64
  ) -> Bool {
    let (births, deaths) = (row.pointee.births, row.pointee.deaths)
    let first = row.pointee.firstOrdinal
    let age = ordinal > first ? ordinal &- first : 0
    let shared = activations._withUnsafeGuaranteedRef {
      $0.sharedDepth(block.pointee.execution, since: block.pointee.ordinal)
    }
    var lifetimes = row.pointee.lifetimes
    // If the thread's times go back, the block's birth may have come after `end`, and was not counted.
    guard deaths < births, age <= UInt32.max, lifetimes.add(ticks: duration, work: work &* 64),
      let departure = row.pointee.distance(shared, as: row.pointee.departure, of: deaths)
    else { return false }
    curves.advance(
      &row.pointee.position, age: age, live: UInt64(truncatingIfNeeded: Int(births) &- Int(deaths)))
    row.pointee.deaths = deaths &+ 1
    row.pointee.departure = departure
    row.pointee.lifetimes = lifetimes
    row.pointee.lastDeath = UInt32(truncatingIfNeeded: age)
    row.pointee.lastTime = max(row.pointee.lastTime, time)
    row.pointee.longestDuration = max(row.pointee.longestDuration, Float(duration))
    row.pointee.longestWork = max(row.pointee.longestWork, Float(work))
    return true
  }

  @inline(__always)
  private func addBirth(
    of block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>, to row: UnsafeMutablePointer<Row>
  ) {
    let block = block.pointee
    let births = row.pointee.births
    if births == 0 {
      row.pointee.firstBirth = block.birthTime
      row.pointee.firstOrdinal = block.ordinal
      row.pointee.depth = event.pointee.depth
      row.pointee.position = LiveCurves.begin(at: block.ordinal)
    } else {
      let first = row.pointee.firstOrdinal
      curves.advance(
        &row.pointee.position, age: block.ordinal > first ? block.ordinal &- first : 0,
        live: births &- row.pointee.deaths)
    }
    if births == 0 {
      // The first block has no previous block to compare with.
    } else if births < SiteLifetime.fullCount || births & 15 == 0 {
      let shared = activations._withUnsafeGuaranteedRef {
        $0.sharedDepth(block.execution, since: row.pointee.lastOrdinal)
      }
      row.pointee.gaps.add(Int(row.pointee.depth) &- shared, departures)
    }
    row.pointee.births = births &+ 1
    row.pointee.lastTime = max(row.pointee.lastTime, block.birthTime)
    row.pointee.lastOrdinal = block.ordinal
  }

  @inline(__always)
  private func addDeath(
    of block: UnsafePointer<LiveBlock>, to row: UnsafeMutablePointer<Row>, _ time: UInt64, _ ordinal: UInt64,
    duration: UInt64, work: UInt64
  ) {
    let deaths = row.pointee.deaths &+ 1
    let first = row.pointee.firstOrdinal
    curves.advance(
      &row.pointee.position, age: ordinal > first ? ordinal &- first : 0, live: row.pointee.births &- row.pointee.deaths
    )
    row.pointee.deaths = deaths
    row.pointee.lastTime = max(row.pointee.lastTime, time)
    row.pointee.lastDeathOrdinal = ordinal
    row.pointee.durations.add(duration, durations)
    row.pointee.work.add(work &* 64, durations)
    row.pointee.longestDuration = max(row.pointee.longestDuration, Float(duration))
    row.pointee.longestWork = max(row.pointee.longestWork, Float(work))
    // Later departures differ little from the first ones, so only one in 16 is counted.
    if deaths > SiteLifetime.fullCount, deaths & 15 != 0 { return }
    let shared = activations._withUnsafeGuaranteedRef {
      $0.sharedDepth(block.pointee.execution, since: block.pointee.ordinal)
    }
    row.pointee.departures.add(Int(row.pointee.depth) &- shared, departures)
  }

  @inline(__always)
  mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {
    if event.time > end { return }
    // If the thread's times go back, the block's death may have come after `end`, and was not counted.
    let few = rows[Int(block.site.rawValue)]
    if !few.pointee.isFull { fill(few) }
    let row = fullRows[Int(few.pointee.lastBirth)]
    if row.pointee.deaths > 0 { row.pointee.deaths &-= 1 }
  }

  @inline(__always)
  func prefetchBlock(of site: SiteID) {
    lt_prefetch(rows[Int(site.rawValue)])
  }

  @inline(__always) mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
