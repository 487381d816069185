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

/// The numbers of blocks by departure: by the number of activations around a block's allocation that had returned when
/// the block ended. At departure 0, a block ended in the function that allocated it. Only four distances are counted.
/// Once these are in use, a block with another distance counts under a larger one.
package struct DepartureCounts: Hashable, Sendable, BitwiseCopyable {
  private typealias Slots = (UInt32, UInt32, UInt32, UInt32)
  /// The distances, in no order, and their counts. The count of an unused slot is 0.
  private var distances: Slots = (0, 0, 0, 0)
  private var counts: Slots = (0, 0, 0, 0)

  package init() {}

  package static func == (a: Self, b: Self) -> Bool { a.pairs.elementsEqual(b.pairs) { $0 == $1 } }
  package func hash(into hasher: inout Hasher) { for pair in pairs { hasher.combine(pair.count) } }

  private var pairs: [(distance: UInt32, count: UInt32)] {
    [(distances.0, counts.0), (distances.1, counts.1), (distances.2, counts.2), (distances.3, counts.3)].filter {
      $0.1 > 0
    }
  }

  @inline(__always)
  package mutating func add(_ distance: UInt32, count: UInt32 = 1) {
    if counts.0 > 0, distances.0 == distance { counts.0 &+= count } else { addElsewhere(distance, count) }
  }

  @inline(never)
  private mutating func addElsewhere(_ distance: UInt32, _ count: UInt32) {
    withUnsafeMutablePointer(to: &distances) { distances in
      distances.withMemoryRebound(to: UInt32.self, capacity: 4) { distances in
        withUnsafeMutablePointer(to: &counts) { counts in
          counts.withMemoryRebound(to: UInt32.self, capacity: 4) { counts in
            var free = -1
            var above = -1
            var highest = -1
            for slot in 0..<4 {
              if counts[slot] == 0 {
                if free < 0 { free = slot }
                continue
              }
              if distances[slot] == distance {
                counts[slot] &+= count
                return
              }
              if distances[slot] > distance, above < 0 || distances[slot] < distances[above] { above = slot }
              if highest < 0 || distances[slot] > distances[highest] { highest = slot }
            }
            if free >= 0 {
              distances[free] = distance
              counts[free] = count
            } else if above >= 0 {
              counts[above] &+= count
            } else {
              distances[highest] = distance
              counts[highest] &+= count
            }
          }
        }
      }
    }
  }

  package static func += (a: inout Self, b: Self) {
    // Most sites have one distance.
    if b.counts.1 == 0, b.counts.2 == 0, b.counts.3 == 0 {
      if b.counts.0 > 0 { a.add(b.distances.0, count: b.counts.0) }
      return
    }
    for pair in b.pairs.sorted(by: { $0.distance > $1.distance }) { a.add(pair.distance, count: pair.count) }
  }

  /// The least distance within which at least `share` of the blocks ended; nil if there are no blocks.
  package func distance(of share: Double) -> UInt32? {
    let total = pairs.reduce(0.0) { $0 + Double($1.count) }
    var sum = 0.0
    for pair in pairs.sorted(by: { $0.distance < $1.distance }) {
      sum += Double(pair.count)
      if sum >= total * share { return pair.distance }
    }
    return nil
  }

  /// The share of blocks that ended within a distance.
  package func share(within distance: UInt32) -> Double {
    let total = pairs.reduce(0.0) { $0 + Double($1.count) }
    return total == 0 ? 0 : pairs.reduce(0.0) { $0 + ($1.distance <= distance ? Double($1.count) : 0) } / total
  }
}

/// The numbers of blocks by lifetime in ticks, in buckets of powers of two.
package struct DurationCounts: Hashable, Sendable, BitwiseCopyable {
  /// 32 counts of 16 bits, four in each word. When a count is full, all counts are halved, because only their shares
  /// matter.
  private typealias Buckets = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
  private var buckets: Buckets = (0, 0, 0, 0, 0, 0, 0, 0)
  /// The number of times that `+=` halved the counts to avoid an overflow. Halvings by `count` are not included: they
  /// only give a site's early lifetimes less weight.
  private var halvings: UInt8 = 0
  static let bucketCount = 32
  /// The first bucket ends at 2^10 ticks, a few hundred nanoseconds.
  private static let firstBits = 10

  package init() {}

  package static func == (a: Self, b: Self) -> Bool { a.halvings == b.halvings && a.all == b.all }
  package func hash(into hasher: inout Hasher) { hasher.combine(all) }

  private var all: [UInt16] { withUnsafeBytes(of: buckets) { Array($0.bindMemory(to: UInt16.self)) } }

  @inline(__always)
  package mutating func add(_ ticks: UInt64) { count(Self.bucket(of: ticks)) }

  @inline(__always)
  fileprivate static func bucket(of ticks: UInt64) -> Int {
    min(max(64 &- ticks.leadingZeroBitCount &- Self.firstBits, 0), Self.bucketCount &- 1)
  }

  @inline(__always)
  fileprivate mutating func count(_ bucket: Int, times: UInt16 = 1) {
    withUnsafeMutableBytes(of: &buckets) { bytes in
      let start = bytes.baseAddress!.assumingMemoryBound(to: UInt16.self)
      // The halved count rounds up, so that many short lives do not erase one long life.
      if start[bucket] == .max { for index in 0..<Self.bucketCount { start[index] -= start[index] / 2 } }
      start[bucket] &+= times
    }
  }

  /// Adds the counts of `b`. Each block has the same weight in the sum, whatever the order of the summands.
  package static func += (a: inout Self, b: Self) {
    let halvings = max(a.halvings, b.halvings)
    let (left, right) = (UInt32(halvings - a.halvings), UInt32(halvings - b.halvings))
    var largest: UInt32 = 0
    withUnsafeMutableBytes(of: &a.buckets) { own in
      withUnsafeBytes(of: b.buckets) { others in
        let mine = own.baseAddress!.assumingMemoryBound(to: UInt16.self)
        let theirs = others.baseAddress!.assumingMemoryBound(to: UInt16.self)
        func sum(_ index: Int) -> UInt32 { UInt32(mine[index]) >> left + UInt32(theirs[index]) >> right }
        for index in 0..<bucketCount { largest = max(largest, sum(index)) }
        let isTooLarge = largest > UInt16.max
        for index in 0..<bucketCount {
          let sum = sum(index)
          mine[index] = UInt16(isTooLarge ? sum - sum / 2 : sum)
        }
      }
    }
    a.halvings = halvings + (largest > UInt16.max ? 1 : 0)
  }

  /// Returns the shortest lifetime in ticks that `share` of the blocks did not exceed, rounded up to a power of two.
  /// Nil if there are no blocks; `UInt64.max` if the lifetime exceeds the last bound.
  package func bound(of share: Double) -> UInt64? {
    let all = self.all
    let total = all.reduce(0.0) { $0 + Double($1) }
    if total == 0 { return nil }
    var sum = 0.0
    for (bucket, count) in all.enumerated() {
      sum += Double(count)
      if sum >= total * share { return bucket == Self.bucketCount - 1 ? .max : 1 << UInt64(Self.firstBits + bucket) }
    }
    return .max
  }

  /// Returns the bounds of the buckets with counts, descending, each with the number of blocks that lived longer.
  /// `total`: the number of all blocks. If there are very many blocks, the counts were halved. The results are then
  /// estimates, but never too low.
  package func tails(of total: UInt64) -> [(bound: UInt64, beyond: UInt64)] {
    let all = self.all
    let known = all.reduce(0.0) { $0 + Double($1) }
    guard known > 0 else { return [] }
    let scale = max(1, Double(total) / known)
    var beyond = 0.0
    var result: [(bound: UInt64, beyond: UInt64)] = []
    for bucket in all.indices.reversed() where all[bucket] > 0 {
      if bucket < Self.bucketCount - 1 {
        result.append((1 << UInt64(Self.firstBits + bucket), UInt64((beyond * scale).rounded(.up))))
      }
      beyond += Double(all[bucket])
    }
    return result
  }
}

/// Durations in at most four different buckets, in a quarter of the space of `DurationCounts`. Most sites need no more
/// buckets; the others get full `DurationCounts`.
private struct FewDurations: BitwiseCopyable {
  /// The bucket's number plus 1 for each entry; 0 for an unused entry.
  private var buckets: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
  /// The index plus 1 of the full `DurationCounts` that replaced these counts; 0 if there are none.
  private var elsewhere: UInt32 = 0
  private var counts: (UInt16, UInt16, UInt16, UInt16) = (0, 0, 0, 0)

  @inline(__always)
  mutating func add(_ ticks: UInt64, _ many: RowTable<DurationCounts>) {
    let bucket = DurationCounts.bucket(of: ticks)
    let key = UInt8(truncatingIfNeeded: bucket &+ 1)
    // After a move to `elsewhere`, all entries are unused, so none matches.
    if buckets.0 == key, counts.0 < .max {
      counts.0 &+= 1
    } else if buckets.1 == key, counts.1 < .max {
      counts.1 &+= 1
    } else {
      addRarely(bucket, key, many)
    }
  }

  @inline(never)
  private mutating func addRarely(_ bucket: Int, _ key: UInt8, _ many: RowTable<DurationCounts>) {
    if elsewhere > 0 {
      many[Int(elsewhere) - 1].pointee.count(bucket)
    } else if buckets.2 == key, counts.2 < .max {
      counts.2 += 1
    } else if buckets.3 == key, counts.3 < .max {
      counts.3 += 1
    } else if buckets.0 == 0 {
      (buckets.0, counts.0) = (key, 1)
    } else if buckets.1 == 0, buckets.0 != key {
      (buckets.1, counts.1) = (key, 1)
    } else if buckets.2 == 0, buckets.0 != key, buckets.1 != key {
      (buckets.2, counts.2) = (key, 1)
    } else if buckets.3 == 0, buckets.0 != key, buckets.1 != key, buckets.2 != key {
      (buckets.3, counts.3) = (key, 1)
    } else {
      let index = many.count
      many.reach(index)
      many[index].pointee = all(many)
      many[index].pointee.count(bucket)
      self = FewDurations()
      elsewhere = UInt32(index + 1)
    }
  }

  /// Sets the count of a bucket without a count. At most four buckets may be set.
  mutating func set(_ bucket: Int, _ count: UInt16) {
    let key = UInt8(bucket + 1)
    if buckets.0 == 0 {
      (buckets.0, counts.0) = (key, count)
    } else if buckets.1 == 0 {
      (buckets.1, counts.1) = (key, count)
    } else if buckets.2 == 0 {
      (buckets.2, counts.2) = (key, count)
    } else {
      (buckets.3, counts.3) = (key, count)
    }
  }

  func all(_ many: RowTable<DurationCounts>) -> DurationCounts {
    if elsewhere > 0 { return many[Int(elsewhere) - 1].pointee }
    var result = DurationCounts()
    for (key, count) in [(buckets.0, counts.0), (buckets.1, counts.1), (buckets.2, counts.2), (buckets.3, counts.3)]
    where key > 0 {
      result.count(Int(key) - 1, times: count)
    }
    return result
  }
}

/// Departures with at most one distance, in a quarter of the space of `DepartureCounts`. Most sites have one distance;
/// the others get full `DepartureCounts`.
private struct OneDeparture: BitwiseCopyable {
  /// `elsewhere` if full `DepartureCounts` replaced this count.
  private var distance: UInt32 = 0
  /// The count, or the index of the full `DepartureCounts`.
  private var count: UInt32 = 0

  init() {}

  /// `count` blocks with one distance.
  init(_ distance: UInt16, count: UInt32) { (self.distance, self.count) = (count > 0 ? UInt32(distance) : 0, count) }

  /// No stack is as deep as this distance.
  private static var elsewhere: UInt32 { .max }

  @inline(__always)
  mutating func add(_ distance: Int, _ many: RowTable<DepartureCounts>) {
    let distance = UInt32(truncatingIfNeeded: max(0, distance))
    if self.distance == distance, count > 0, distance != Self.elsewhere {
      count &+= 1
    } else {
      addRarely(distance, many)
    }
  }

  @inline(never)
  private mutating func addRarely(_ distance: UInt32, _ many: RowTable<DepartureCounts>) {
    if self.distance == Self.elsewhere {
      many[Int(count)].pointee.add(distance)
    } else if count == 0, distance != Self.elsewhere {
      (self.distance, count) = (distance, 1)
    } else {
      let index = many.count
      many.reach(index)
      many[index].pointee = all(many)
      many[index].pointee.add(distance)
      (self.distance, count) = (Self.elsewhere, UInt32(index))
    }
  }

  func all(_ many: RowTable<DepartureCounts>) -> DepartureCounts {
    if distance == Self.elsewhere { return many[Int(count)].pointee }
    var result = DepartureCounts()
    if count > 0 { result.add(distance, count: count) }
    return result
  }
}

/// The lifetimes of at most 255 blocks, in ticks and in work. Has room for four different buckets.
private struct FewLifetimes: BitwiseCopyable {
  /// The bucket's number plus 1 for each entry, plus `work` for a lifetime in work; 0 for an unused entry.
  private var keys: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
  private var counts: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)

  private static var work: UInt8 { 64 }

  /// Adds the lifetime of a block. False if there is no room; the counts are then not to be used.
  @inline(__always)
  mutating func add(ticks: UInt64, work: UInt64) -> Bool {
    add(UInt8(truncatingIfNeeded: DurationCounts.bucket(of: ticks) &+ 1))
      && add(UInt8(truncatingIfNeeded: DurationCounts.bucket(of: work) &+ 1) | Self.work)
  }

  @inline(__always)
  private mutating func add(_ key: UInt8) -> Bool {
    if keys.0 == key || keys.0 == 0 {
      (keys.0, counts.0) = (key, counts.0 &+ 1)
    } else if keys.1 == key || keys.1 == 0 {
      (keys.1, counts.1) = (key, counts.1 &+ 1)
    } else if keys.2 == key || keys.2 == 0 {
      (keys.2, counts.2) = (key, counts.2 &+ 1)
    } else if keys.3 == key || keys.3 == 0 {
      (keys.3, counts.3) = (key, counts.3 &+ 1)
    } else {
      return false
    }
    return true
  }

  /// Calls `body` with each bucket of lifetimes in ticks or in work, and its number of blocks.
  private func forEach(inWork: Bool, _ body: (Int, UInt16) -> Void) {
    for (key, count) in [(keys.0, counts.0), (keys.1, counts.1), (keys.2, counts.2), (keys.3, counts.3)]
    where key > 0 && (key >= Self.work) == inWork {
      body(Int(key & (Self.work - 1)) - 1, UInt16(count))
    }
  }

  func durations(inWork: Bool) -> FewDurations {
    var result = FewDurations()
    forEach(inWork: inWork) { result.set($0, $1) }
    return result
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
