// Numbers of blocks by lifetime and by departure, in little memory.

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
struct FewDurations: BitwiseCopyable {
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
struct OneDeparture: BitwiseCopyable {
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
struct FewLifetimes: BitwiseCopyable {
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
