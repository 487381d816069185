// The shapes of curves that have levelled off, and of curves that still change.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading

@Suite struct LevelCurveTests {
  private func level(_ values: [Double]) -> LevelCurve.Level? {
    LevelCurve(positions: values.indices.map(Double.init), values: values).level
  }

  /// Returns 101 values of a function of the part of the run.
  private func curve(_ value: (Double) -> Double) -> [Double] { (0...100).map { value(Double($0) / 100) } }

  @Test(arguments: [0.0, 0.1, 0.5, 0.7]) func growthThatStopsIsALevel(end: Double) throws {
    let found = try #require(level(curve { 1000 * min(1, end == 0 ? 1 : $0 / end) }))
    #expect(found.value == 1000)
    // The last twentieth of the growth is within the sway of the level.
    #expect(Double(found.start) / 100 >= end * 0.94 && Double(found.start) / 100 <= end + 0.01)
  }

  @Test func fullCacheWhoseEntriesAreReplacedIsALevel() {
    var random = SeededRandom(seed: 7)
    let values = curve { 1000 * min(1, $0 / 0.2) * Double.random(in: 0.98...1.02, using: &random) }
    #expect(level(values).map { (950...1050).contains($0.value) && (15...30).contains($0.start) } ?? false)
  }

  @Test(
    "Growth that goes on is no level",
    arguments: [
      { $0 }, { $0.squareRoot() }, { min(1, $0 / 0.9) }, { $0 < 0.8 ? 0.5 : 1 }, { 1 - $0 },
      // A cache that is full, and a slow leak beside it.
      { min(1, $0 / 0.2) + 0.05 * $0 },
      { 0.5 + ($0 * 20).truncatingRemainder(dividingBy: 1) },
    ] as [@Sendable (Double) -> Double])
  func changeIsNoLevel(shape: @Sendable (Double) -> Double) {
    #expect(level(curve { 1_000_000 * shape($0) }) == nil)
  }

  @Test func fewPointsAndNothingAreNoLevel() {
    #expect(level([]) == nil && level([5, 5, 5, 5, 5]) == nil && level(.init(repeating: 0, count: 20)) == nil)
    #expect(level(.init(repeating: 5, count: 20)) == .init(value: 5, start: 0))
  }

  @Test func seriesHasTheLevelAndItsHolder() throws {
    var series = ImageSeries()
    for image in 0..<12 {
      let entries = UInt64(min(image + 1, 4) * 1000)
      var row = HolderCensus.Row(
        key: .init(type: "App.Entry", holder: "Cache.entries"), name: "Entry", kind: .object, holderKind: .field,
        owner: "App.Cache")
      (row.objects, row.bytes, row.retainedBytes) = (entries, entries * 100, entries * 1000)
      let census = HolderCensus(rows: [row], objects: entries, bytes: entries * 1000)
      series.add(
        ImageMoment(time: Double(image), live: entries * 1000, blocks: entries), ImageCensus(census: census),
        findings: [])
    }
    let level = try #require(series.growth().level)
    #expect(level.bytes == 4_000_000 && level.start == 3 && level.end == 11)
    #expect(
      level.holder
        == .init(name: "Cache.entries", type: "Entry", isCollection: false, count: 4000, retainedBytes: 4_000_000))
  }
}
