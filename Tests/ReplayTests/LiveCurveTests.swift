// The number of live blocks of a site during a run.

import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct LiveCurveTests {
  /// Returns the curve of a site whose number of live blocks takes these values, one event after the other, and the
  /// exact numbers.
  private func curve(_ counts: [Int], pause: Int = 1) throws -> (curve: LiveCurve, exact: [UInt64]) {
    var trace = TraceBuilder()
    let stack = trace.stack([1, 2])
    let other = trace.stack([1, 3])
    var time: UInt64 = 0
    func next() -> UInt64 {
      time += 80
      return time
    }
    var live: [UInt64] = []
    var exact: [UInt64] = []
    var address: UInt64 = 0x1000
    for count in counts {
      while live.count < count {
        trace.event(.malloc, address, size: 16, stack: stack, time: next())
        live.append(address)
        address += 0x10
        exact.append(UInt64(live.count))
      }
      while live.count > count {
        trace.event(.free, live.removeFirst(), stack: stack, time: next())
        exact.append(UInt64(live.count))
      }
      for _ in 1..<pause {
        trace.event(.calloc, 0x10, size: 8, stack: other, time: next())
        trace.event(.free, 0x10, stack: other, time: next())
        exact += [UInt64(live.count), UInt64(live.count)]
      }
    }
    let sites = AllocationAnalysis(try trace.reader()).sites
    let index = try #require(sites.firstIndex { $0.operation == .malloc })
    let curve = sites[index].liveCurve
    let step = UInt64(exact.count / 25)
    var sums: [UInt64] = (0..<30).map { $0 * 1000 }
    sites.addLive(at: index, every: step, to: &sums)
    #expect(sums.enumerated().allSatisfy { $1 == UInt64($0) * 1000 + curve.live(at: UInt64($0) * step) })
    return (curve, exact)
  }

  /// `most`: the most live blocks in the first `bounded` steps. Up to one, the site's row has the whole curve.
  @Test(arguments: [1, 7], [(most: 1, bounded: 2000), (1, 40), (1, 1100), (Int.max, 0)])
  func curveFollowsTheLiveBlocksWithinAnInterval(pause: Int, counted: (most: Int, bounded: Int)) throws {
    var random = SeededRandom(seed: 4711)
    var count = 1
    let counts = (0..<2000).map { step -> Int in
      count = max(0, count + Int(random.next() % 7) - 3)
      if step < counted.bounded { count = min(count, counted.most) }
      return count
    }
    let (curve, exact) = try curve([1] + counts, pause: pause)
    #expect(curve.counts.count <= LiveCurves.intervals)
    for (interval, found) in curve.counts.enumerated() {
      let moment = min((interval + 1) * Int(curve.width), exact.count) - 1
      #expect(UInt64(found) == exact[moment], "interval \(interval) of \(curve.width) events")
    }
  }

  @Test func intervalsGrowWithTheLifeOfASite() throws {
    let short = try curve(Array(1...400)).curve
    let long = try curve(Array(1...3000)).curve
    #expect(short.counts.count > LiveCurves.intervals / 4 && long.counts.count > LiveCurves.intervals / 4)
    #expect(long.width >= 4 * short.width)
    #expect(long.counts == long.counts.sorted() && long.counts.last == 3000)
  }

  @Test func alternatingSiteHasAtMostOneLiveBlock() throws {
    let (curve, _) = try curve((0..<4000).map { $0 % 2 })
    #expect(curve.counts.allSatisfy { $0 <= 1 })
    #expect(curve.live(at: 0) <= 1 && curve.live(at: 1 << 40) <= 1)
  }

  @Test func largeCountsAreExactToAThousandth() {
    for count in [0, 1, 2047, 2048, 2049, 65_535, 1_000_000, 4_294_967_295, 1 << 41] as [UInt64] {
      let kept = LiveCurves.unpacked(LiveCurves.packed(count))
      #expect(kept <= count && Double(count - kept) <= Double(count) / 1024, "\(count) → \(kept)")
      if count < 2048 { #expect(kept == count) }
    }
    #expect(LiveCurves.unpacked(LiveCurves.packed(.max)) > 1 << 41)
  }

  @Test func countsAreZeroBeforeTheFirstBlock() throws {
    var trace = TraceBuilder()
    for n in 0..<100 as Range<UInt64> { trace.event(.calloc, 0x1000 + 16 * n, size: 8, time: 80 * n) }
    trace.event(.malloc, 0x9000, size: 8, time: 9000)
    let site = try #require(AllocationAnalysis(try trace.reader()).sites.first { $0.operation == .malloc })
    #expect(site.liveCurve.live(at: 99) == 0 && site.liveCurve.live(at: 100) == 1 && site.liveCurve.live(at: 1000) == 1)
  }
}
