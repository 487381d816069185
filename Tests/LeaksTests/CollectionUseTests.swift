// How a program iterated over a collection, according to the retains of the collection's memory.

import Testing

@testable import LeakDetection
@testable import TraceReading

@Suite struct CollectionUseTests {
  /// Returns the use of memory that is allocated at event 10,000 and gets its last element at event 50,000. `uses`: the
  /// ordinals of its retains.
  private func use(_ uses: [UInt64]) -> CollectionUse {
    var storage = LiveBlock(address: 0x1000, size: 4096, birthTime: 1, site: SiteID(0), ordinal: 10_000)
    for use in uses { storage.noteUse(at: use) }
    return CollectionUse(of: storage, last: 50_000)
  }

  @Test func appendingIsNotReading() { #expect(use([]) == .unread) }

  @Test func onePassOverAllElementsAtTheEndIsAReport() {
    #expect(use([60_000]) == .readInTheEnd)
    #expect(use([50_200, 50_300, 51_000]) == .readInTheEnd)
  }

  @Test func occasionalShortPeriodsAreSweeps() {
    #expect(use([10_100, 18_000, 45_000, 120_000]) == .swept)
  }

  @Test func lookupOfEachElementIsUse() {
    #expect(use(stride(from: 10_000, to: 60_000, by: 70).map { $0 }) == .used)
  }

  @Test func onePeriodDuringGrowthIsUse() { #expect(use([30_000]) == .used) }
}
