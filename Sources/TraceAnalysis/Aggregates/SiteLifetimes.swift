// How long the blocks of each allocation site live, and within what they end.

/// What became of the blocks of a site, up to the moment of a snapshot. Sums of several sites that allocate alike have a meaning, too.
public struct SiteLifetime: Hashable, Sendable, BitwiseCopyable {
  /// Blocks made, and how many of them ended.
  public var births: UInt64 = 0
  public var deaths: UInt64 = 0
  /// Ticks; of the first and of the last block made.
  public var firstBirth: UInt64 = 0
  public var lastBirth: UInt64 = 0
  /// Ticks; of the last one that ended.
  public var lastDeath: UInt64 = 0
  /// Events of the process before that.
  public var lastDeathOrdinal: UInt64 = 0
  /// Events of the process before the first and the last, and the sum over all.
  public var firstOrdinal: UInt64 = 0
  public var lastOrdinal: UInt64 = 0
  public var ordinalSum: UInt64 = 0
  /// Ended blocks that were looked at: all of the first `fullCount`, then a part.
  public var sampledDeaths: UInt64 = 0
  /// By how far out control had to go from where a block was made for it to end.
  public var departures = DepartureCounts()
  /// How far out control had gone between a block and the next one of the site.
  public var gaps = DepartureCounts()
  /// By time.
  public var durations = DurationCounts()
  /// By work: 64ths of events of the process, which no busy machine makes longer.
  public var work = DurationCounts()

  public static let fullCount: UInt64 = 1024

  public init() {}

  public static func += (a: inout Self, b: Self) {
    if b.births == 0 { return }
    a.firstBirth = a.births == 0 ? b.firstBirth : min(a.firstBirth, b.firstBirth)
    a.firstOrdinal = a.births == 0 ? b.firstOrdinal : min(a.firstOrdinal, b.firstOrdinal)
    a.lastDeath = max(a.lastDeath, b.lastDeath)
    a.lastDeathOrdinal = max(a.lastDeathOrdinal, b.lastDeathOrdinal)
    a.lastBirth = max(a.lastBirth, b.lastBirth)
    a.lastOrdinal = max(a.lastOrdinal, b.lastOrdinal)
    a.births &+= b.births
    a.deaths &+= b.deaths
    a.ordinalSum &+= b.ordinalSum
    a.sampledDeaths &+= b.sampledDeaths
    a.departures += b.departures
    a.gaps += b.gaps
    a.durations += b.durations
    a.work += b.work
  }
}

/// How many blocks ended after control had left how many of the activations in which they were made: 0 is none, so that they ended in the
/// function that allocated. Few distinct numbers are kept apart; what does not fit is counted as having gone further than it had.
public struct DepartureCounts: Hashable, Sendable, BitwiseCopyable {
  private typealias Slots = (UInt32, UInt32, UInt32, UInt32)
  /// Ascending; unused ones have no count.
  private var distances: Slots = (0, 0, 0, 0)
  private var counts: Slots = (0, 0, 0, 0)

  public init() {}

  public static func == (a: Self, b: Self) -> Bool { a.pairs.elementsEqual(b.pairs) { $0 == $1 } }
  public func hash(into hasher: inout Hasher) { for pair in pairs { hasher.combine(pair.count) } }

  private var pairs: [(distance: UInt32, count: UInt32)] {
    [(distances.0, counts.0), (distances.1, counts.1), (distances.2, counts.2), (distances.3, counts.3)].filter { $0.1 > 0 }
  }

  @inline(__always)
  public mutating func add(_ distance: UInt32, count: UInt32 = 1) {
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

  public static func += (a: inout Self, b: Self) {
    for pair in b.pairs.sorted(by: { $0.distance > $1.distance }) { a.add(pair.distance, count: pair.count) }
  }

  /// The least distance within which at least `share` of the blocks ended; nil if none did.
  public func distance(of share: Double) -> UInt32? {
    let total = pairs.reduce(0.0) { $0 + Double($1.count) }
    var sum = 0.0
    for pair in pairs.sorted(by: { $0.distance < $1.distance }) {
      sum += Double(pair.count)
      if sum >= total * share { return pair.distance }
    }
    return nil
  }

  /// The share of blocks that ended within a distance.
  public func share(within distance: UInt32) -> Double {
    let total = pairs.reduce(0.0) { $0 + Double($1.count) }
    return total == 0 ? 0 : pairs.reduce(0.0) { $0 + ($1.distance <= distance ? Double($1.count) : 0) } / total
  }
}

/// Lifetimes in ticks by powers of two.
public struct DurationCounts: Hashable, Sendable, BitwiseCopyable {
  /// 32 counts of 16 bits, four a word. When one is full, all are halved: shares are what is asked for.
  private typealias Buckets = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
  private var buckets: Buckets = (0, 0, 0, 0, 0, 0, 0, 0)
  /// Of a sum: how often its counts were halved to have room. What a single site loses by that is its own early lifetimes, and does not count.
  private var halvings: UInt8 = 0
  static let bucketCount = 32
  /// The first bucket ends at 2^10 ticks, some hundred nanoseconds.
  private static let firstBits = 10

  public init() {}

  public static func == (a: Self, b: Self) -> Bool { a.halvings == b.halvings && a.all == b.all }
  public func hash(into hasher: inout Hasher) { hasher.combine(all) }

  private var all: [UInt16] { withUnsafeBytes(of: buckets) { Array($0.bindMemory(to: UInt16.self)) } }

  @inline(__always)
  public mutating func add(_ ticks: UInt64) {
    let bits = 64 &- ticks.leadingZeroBitCount
    count(min(max(bits &- Self.firstBits, 0), Self.bucketCount &- 1))
  }

  @inline(__always)
  private mutating func count(_ bucket: Int) {
    withUnsafeMutableBytes(of: &buckets) { bytes in
      let start = bytes.baseAddress!.assumingMemoryBound(to: UInt16.self)
      if start[bucket] == .max { for index in 0..<Self.bucketCount { start[index] /= 2 } }
      start[bucket] &+= 1
    }
  }

  /// A sum of many weighs as many, whichever comes first.
  public static func += (a: inout Self, b: Self) {
    var halvings = max(a.halvings, b.halvings)
    var sums = zip(a.all, b.all).map { UInt32($0) >> UInt32(halvings - a.halvings) + UInt32($1) >> UInt32(halvings - b.halvings) }
    if sums.contains(where: { $0 > UInt16.max }) {
      for index in sums.indices { sums[index] /= 2 }
      halvings += 1
    }
    a.halvings = halvings
    withUnsafeMutableBytes(of: &a.buckets) { bytes in
      let start = bytes.baseAddress!.assumingMemoryBound(to: UInt16.self)
      for (index, sum) in sums.enumerated() { start[index] = UInt16(sum) }
    }
  }

  /// An upper bound in ticks, to a factor of two, of the shortest lifetime that `share` of the blocks did not exceed; nil without any, and
  /// `UInt64.max` where it lies beyond the last bound.
  public func bound(of share: Double) -> UInt64? {
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
}

/// Watches how the blocks of each site end, up to a moment: what happens after a snapshot is no part of the picture it is compared with.
///
/// A reference in all but name: copies share their rows. Constant time an event, but for the logarithm of the stack's depth at a death.
struct SiteLifetimes: ReplayObserver {
  private struct Row: BitwiseCopyable {
    var lifetime = SiteLifetime()
    /// Of the site's stack, in frames.
    var depth: UInt32 = 0
  }

  private let rows = RowTable(blank: Row())
  private let activations: ActivationTracker
  /// Ticks.
  private let end: UInt64

  init(_ activations: ActivationTracker, until end: UInt64?) {
    self.activations = activations
    self.end = end ?? .max
  }

  /// By `SiteID`. Sites first met after the end have no births.
  var lifetimes: [SiteLifetime] { rows.all.map(\.lifetime) }
  /// By `SiteID`.
  var depths: [UInt32] { rows.all.map(\.depth) }

  @inline(__always)
  mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    let site = Int(block.site.rawValue)
    rows.reach(site)
    if event.time > end { return }
    let row = rows[site]
    if row.pointee.lifetime.births == 0 {
      row.pointee.lifetime.firstBirth = block.birthTime
      row.pointee.lifetime.firstOrdinal = block.ordinal
      row.pointee.depth = event.depth
    } else if row.pointee.lifetime.births < SiteLifetime.fullCount || row.pointee.lifetime.births & 15 == 0 {
      let shared = activations.sharedDepth(block.strand, since: row.pointee.lifetime.lastOrdinal)
      row.pointee.lifetime.gaps.add(UInt32(truncatingIfNeeded: max(0, Int(row.pointee.depth) &- shared)))
    }
    row.pointee.lifetime.births &+= 1
    row.pointee.lifetime.lastBirth = block.birthTime
    row.pointee.lifetime.lastOrdinal = block.ordinal
    row.pointee.lifetime.ordinalSum &+= block.ordinal
  }

  @inline(__always)
  mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    if event.time > end { return }
    let row = rows[Int(block.site.rawValue)]
    row.pointee.lifetime.deaths &+= 1
    row.pointee.lifetime.lastDeath = event.time
    row.pointee.lifetime.lastDeathOrdinal = activations.ordinal
    // Of many, the later ones differ little from the first.
    let deaths = row.pointee.lifetime.deaths
    if deaths > SiteLifetime.fullCount, deaths & 15 != 0 { return }
    row.pointee.lifetime.sampledDeaths &+= 1
    // Clocks of two processors disagree a little.
    row.pointee.lifetime.durations.add(event.time > block.birthTime ? event.time &- block.birthTime : 0)
    row.pointee.lifetime.work.add((activations.ordinal &- block.ordinal) &* 64)
    let shared = activations.sharedDepth(block.strand, since: block.ordinal)
    let depth = Int(row.pointee.depth)
    row.pointee.lifetime.departures.add(UInt32(truncatingIfNeeded: max(0, depth &- shared)))
  }

  @inline(__always)
  mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {
    if event.time <= end { rows[Int(block.site.rawValue)].pointee.lifetime.deaths &-= 1 }
  }

  @inline(__always) mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
