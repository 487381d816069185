// How long the blocks of a site live, and how far control moves until they end.

import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct LifetimeCountTests {
  @Test func fourDistancesAreCountedExactly() {
    var counts = DepartureCounts()
    for (distance, count) in [(7, 4), (0, 1), (3, 3), (100, 2)] as [(UInt32, Int)] {
      for _ in 0..<count { counts.add(distance) }
    }
    #expect([0, 1, 2, 3, 7, 99, 100].map { counts.share(within: $0) } == [0.1, 0.1, 0.1, 0.4, 0.8, 0.8, 1])
    #expect([0.05, 0.1, 0.11, 0.4, 0.5, 0.8, 0.9, 1].map { counts.distance(of: $0) } == [0, 0, 3, 3, 7, 7, 100, 100])
    #expect(DepartureCounts().distance(of: 0.5) == nil && DepartureCounts().share(within: 9) == 0)
  }

  @Test(arguments: TestTier.seeds(0..<200))
  func furtherDistancesAreNeverUnderestimated(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var parts: [DepartureCounts] = []
    var exact: [UInt32] = []
    for _ in 0..<1 + seed % 3 {
      var part = DepartureCounts()
      let range = 1 + random.next() % 12
      for _ in 0..<random.next() % 100 {
        let distance = UInt32(random.next() % range)
        part.add(distance)
        exact.append(distance)
      }
      parts.append(part)
    }
    let counts = parts.reduce(into: DepartureCounts()) { $0 += $1 }
    exact.sort()
    for distance in 0..<14 as Range<UInt32> {
      let share = exact.isEmpty ? 0 : Double(exact.count { $0 <= distance }) / Double(exact.count)
      #expect(counts.share(within: distance) <= share + 1e-9)
      if Set(exact).count <= 4 { #expect(abs(counts.share(within: distance) - share) < 1e-9) }
    }
    #expect(exact.isEmpty || counts.share(within: 14) == 1)
    for share in [0.1, 0.5, 0.9, 1] {
      let quantile = exact.isEmpty ? nil : exact[max(0, Int((Double(exact.count) * share).rounded(.up)) - 1)]
      #expect(
        (counts.distance(of: share) ?? 0) >= quantile ?? 0 && (counts.distance(of: share) == nil) == exact.isEmpty)
    }
  }

  @Test(arguments: TestTier.seeds(0..<100))
  func boundIsAtLeastTheQuantileAndWithinAFactorOfTwo(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let parts = (0..<1 + seed % 3).map { _ in
      (0..<1 + random.next() % 500).map { _ in random.next() >> (24 + random.next() % 40) }
    }
    var counts = DurationCounts()
    for part in parts {
      var own = DurationCounts()
      for ticks in part { own.add(ticks) }
      counts += own
    }
    let all = parts.flatMap { $0 }.sorted()
    for share in [0.01, 0.1, 0.5, 0.9, 0.99, 1] {
      let quantile = all[max(0, Int((Double(all.count) * share).rounded(.up)) - 1)]
      let bound = try #require(counts.bound(of: share))
      #expect(bound > quantile && (bound == 1024 || bound / 2 <= quantile || bound == .max && quantile >= 1 << 40))
    }
    #expect(DurationCounts().bound(of: 0.5) == nil)
  }

  @Test func fullCountsAreHalvedAndSharesKept() {
    var counts = DurationCounts()
    for _ in 0..<100 { counts.add(1 << 30) }
    for n in 0..<300_000 { counts.add(n % 4 == 0 ? 1 << 20 : 1 << 12) }
    #expect(counts.bound(of: 0.7) == 1 << 13)
    #expect(counts.bound(of: 0.8) == 1 << 21)
    // A few old counts are not lost immediately among many new ones.
    #expect(counts.bound(of: 0.99) == 1 << 21 && counts.bound(of: 1) == 1 << 31)
  }

  @Test func sumsOfFullCountsKeepTheirShares() {
    var one = DurationCounts()
    for n in 0..<60_000 { one.add(n % 10 == 0 ? 1 << 20 : 1 << 12) }
    var sum = DurationCounts()
    for _ in 0..<10 { sum += one }
    #expect(sum.bound(of: 0.88) == 1 << 13 && sum.bound(of: 0.92) == 1 << 21)
    // Counts that are added last have no more weight than others, even if they are sums.
    var late = DurationCounts()
    for _ in 0..<60_000 { late.add(1 << 25) }
    var reversed = late
    reversed += sum
    sum += late
    for counts in [sum, reversed] { #expect(counts.bound(of: 0.9) == 1 << 21 && counts.bound(of: 0.92) == 1 << 26) }
  }
}

@Suite struct SiteLifetimeTests {
  /// Returns the only site of a type or operation, up to a snapshot if its time is given.
  private func site(_ trace: TraceBuilder, _ operation: TraceReading.Operation = .malloc, until time: UInt64? = nil)
    throws -> AllocationSite
  {
    var trace = trace
    if let time { trace.snapshots = [(TraceSnapshot(reason: .request, time: time), [])] }
    let reader = try trace.reader()
    let sites = AllocationAnalysis(reader, snapshot: reader.snapshots.first).sites.filter { $0.operation == operation }
    #expect(sites.count == 1)
    return try #require(sites.first)
  }

  @Test func deathsAreCountedByControlDistance() throws {
    var trace = TraceBuilder()
    let made = trace.stack([1, 2, 3, 4])
    var time: UInt64 = 0
    // Blocks are freed in the allocating function, in its caller, two frames further out, and in a function that the
    // caller called.
    for (freed, count) in [([1, 2, 3, 4], 5), ([1, 2, 3], 3), ([1], 2), ([1, 2, 3, 9, 9], 1)] as [([UInt64], Int)] {
      for _ in 0..<count {
        time += 80
        trace.event(.malloc, 0x100, size: 16, stack: made, time: time)
        trace.event(.free, 0x100, stack: trace.stack(freed), time: time + 40)
      }
    }
    trace.event(.malloc, 0x200, size: 16, stack: made, time: 8000)
    let site = try site(trace)
    #expect(site.depth == 4 && site.lifetime.births == 12 && site.lifetime.deaths == 11)
    #expect([0, 1, 2, 3].map { (site.lifetime.departures.share(within: $0) * 11).rounded() } == [5, 9, 9, 11])
    #expect(site.lifetime.durations.bound(of: 1) == 1024)
    #expect(site.lifetime.firstBirth == 80 && site.lifetime.lastTime == 8000)
    #expect(site.lifetime.firstOrdinal == 0 && site.lifetime.lastOrdinal == 22 && site.lifetime.lastDeathOrdinal == 21)
  }

  @Test func gapsDistinguishALoopFromCallsOfItsFunction() throws {
    var loop = TraceBuilder()
    var calls = TraceBuilder()
    for n in 0..<10 as Range<UInt64> {
      loop.event(.malloc, 0x100 * (n + 1), size: 16, stack: loop.stack([1, 2, 3]), time: 80 * n)
      loop.event(.calloc, 0x10_000 + 0x100 * n, size: 16, stack: loop.stack([1, 2, 4]), time: 80 * n + 40)
      calls.event(.malloc, 0x100 * (n + 1), size: 16, stack: calls.stack([1, 2, 3]), time: 80 * n)
      calls.event(.calloc, 0x10_000 + 0x100 * n, size: 16, stack: calls.stack([1, 5]), time: 80 * n + 40)
    }
    let looped = try site(loop).lifetime.gaps
    #expect(looped.share(within: 1) == 1 && looped.share(within: 0) == 0)
    let called = try site(calls).lifetime.gaps
    #expect(called.share(within: 1) == 0 && called.share(within: 2) == 1)
  }

  /// A site with few blocks has a small row, which a larger one replaces once the blocks differ much.
  @Test(arguments: TestTier.seeds(0..<60))
  func fewAndManyBlocksAreCountedAlike(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var trace = TraceBuilder()
    let made = trace.stack([1, 2, 3, 4])
    let (lives, distances) = (1 + random.next() % 6, 1 + random.next() % 3)
    var expected = SiteLifetime()
    var (time, ordinal, last) = (UInt64(80), UInt64(0), nil as UInt32?)
    for _ in 0..<[1, 2, 10, 254, 255, 256, 257, 300, 1100][Int(seed % 9)] {
      let birth = (time: time, ordinal: ordinal)
      trace.event(.malloc, 0x100, size: 16, stack: made, time: time)
      for _ in 0..<random.next() % lives {
        trace.event(.calloc, 0x200, size: 16, stack: made, time: time)
        trace.event(.free, 0x200, stack: made, time: time)
        ordinal += 2
      }
      // The free is in the function that allocated the block, or in one of its callers.
      let distance = UInt32(random.next() % distances)
      time += 8 << (8 + 2 * (random.next() % lives))
      ordinal += 1
      trace.event(.free, 0x100, stack: trace.stack(Array([1, 2, 3, 4].dropLast(Int(distance)))), time: time)
      if expected.births == 0 { (expected.firstBirth, expected.firstOrdinal) = birth }
      expected.births += 1
      expected.lastOrdinal = birth.ordinal
      if let last, expected.births <= 1024 { expected.gaps.add(last) }
      last = distance
      expected.deaths += 1
      (expected.lastDeathOrdinal, expected.lastTime) = (ordinal, time)
      expected.durations.add(time - birth.time)
      expected.work.add((ordinal - birth.ordinal) * 64)
      expected.longestDuration = max(expected.longestDuration, UInt64(Float(time - birth.time)))
      expected.longestWork = max(expected.longestWork, ordinal - birth.ordinal)
      if expected.deaths <= 1024 || expected.deaths % 16 == 0 { expected.departures.add(distance) }
      time += 80
      ordinal += 1
    }
    let site = try site(trace)
    #expect(site.depth == 4 && site.births == expected.births && site.deaths == expected.deaths)
    #expect(site.longestWork == expected.longestWork)
    expected.gaps = expected.births > 1024 ? site.lifetime.gaps : expected.gaps
    #expect(site.lifetime == expected)
    #expect(site.liveCurve.live(at: ordinal) == 0)
  }

  @Test func unusualBlocksAreCountedInFull() throws {
    var trace = TraceBuilder()
    // A stack that is deeper than a small row can tell.
    let deep = trace.stack((1...70_000).map { UInt64($0) })
    trace.event(.malloc, 0x100, size: 16, stack: deep, time: 80)
    trace.event(.free, 0x100, stack: trace.stack([1]), time: 160)
    // A failed realloc takes the death back.
    let made = trace.stack([1, 2])
    trace.event(.calloc, 0x200, size: 16, stack: made, time: 240)
    trace.event(.reallocFree, 0x200, stack: made, time: 320)
    trace.event(.reallocFailed, 0x200, stack: made, time: 400)
    let first = try site(trace)
    #expect(first.depth == 70_000 && first.lifetime.departures.distance(of: 1) == 69_999)
    let second = try site(trace, .calloc)
    #expect(second.births == 1 && second.deaths == 0 && second.lifetime.lastDeathOrdinal == 3)
  }

  @Test func eventsAfterTheSnapshotAreIgnored() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 16, time: 80)
    trace.event(.malloc, 0x200, size: 16, time: 160)
    trace.event(.free, 0x100, time: 240)
    trace.event(.free, 0x200, time: 800)
    trace.event(.malloc, 0x300, size: 16, time: 880)
    trace.event(.calloc, 0x400, size: 16, time: 960)
    let then = try site(trace, until: 400).lifetime
    #expect(then.births == 2 && then.deaths == 1 && then.lastTime == 240)
    #expect(try site(trace, .calloc, until: 400).lifetime.births == 0)
    let end = try site(trace).lifetime
    #expect(end.births == 3 && end.deaths == 2)
    // A free at the moment of the snapshot counts as before it.
    #expect(try site(trace, until: 800).lifetime.deaths == 2)
  }

  @Test func failedReallocIsNotADeath() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 16, time: 80)
    trace.event(.reallocFree, 0x100, time: 160)
    trace.event(.reallocFailed, 0x100, time: 240)
    #expect(try site(trace).lifetime.deaths == 0)
  }

  @Test func freeWithASlowClockIsAShortLife() throws {
    var trace = TraceBuilder()
    // The other thread's clock is slow by less than the merger tolerates.
    trace.event(.free, 0x100, time: 1000, thread: 2)
    trace.event(.malloc, 0x100, size: 16, time: 1080, thread: 1)
    trace.event(.malloc, 0x200, size: 16, time: 1160, thread: 1)
    trace.event(.malloc, 0x300, size: 16, time: 1160, thread: 2)
    let lifetime = try site(trace).lifetime
    #expect(lifetime.births == 3 && lifetime.deaths == 1)
    #expect(lifetime.durations.bound(of: 1) == 1024)
  }

  @Test func manyDeathsAreSampled() throws {
    let tree = StackTree()
    let encoder = EventEncoder(stacks: tree)
    encoder.begin(firstTime: 0)
    for _ in 0..<10_000 {
      encoder.append(TraceEvent(operation: .malloc, address: 0x100, size: 8, stack: tree.stack([1, 2])))
      encoder.append(TraceEvent(operation: .free, address: 0x100, stack: tree.stack([1])))
    }
    var writer = TraceWriter()
    try writer.append(encoder, thread: 1, firstTime: 0)
    let lifetime = try #require(AllocationAnalysis(try TraceReader(bytes: writer.bytes)).sites.first).lifetime
    #expect(lifetime.births == 10_000 && lifetime.deaths == 10_000)
    // Each lifetime is counted separately, so that a single long one is not missed.
    #expect(lifetime.work.tails(of: 10_000).map(\.beyond) == [0])
    #expect(lifetime.departures.share(within: 0) == 0 && lifetime.departures.share(within: 1) == 1)
  }

  @Test func lifetimesOfSitesAreSummed() throws {
    var trace = TraceBuilder()
    let (a, b) = (trace.stack([1, 2]), trace.stack([1, 3]))
    for (stack, address, time) in [(b, 0x300, 80), (a, 0x100, 160), (a, 0x200, 240), (b, 0x400, 320)]
      as [(StackID, UInt64, UInt64)]
    {
      trace.event(.malloc, address, size: 16, stack: stack, time: time)
    }
    trace.event(.free, 0x200, stack: a, time: 400)
    trace.event(.free, 0x300, stack: b, time: 5000)
    let sites = AllocationAnalysis(try trace.reader()).sites
    var sum = SiteLifetime()
    for site in sites.reversed() { sum += site.lifetime }
    sum += SiteLifetime()
    #expect(sites.count == 2 && sum.births == 4 && sum.deaths == 2)
    #expect(sum.longestDuration == 4920 && sum.longestWork == 5)
    #expect(sum.firstBirth == 80 && sum.lastTime == 5000)
    #expect(sum.firstOrdinal == 0 && sum.lastOrdinal == 3 && sum.lastDeathOrdinal == 5)
    #expect(sum.durations.bound(of: 0.5) == 1024 && sum.durations.bound(of: 1) == 8192)
    #expect(sum.departures.share(within: 1) == 1)
  }
}
