// The statistics behind suspicions.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading

@Suite struct SurvivalOddsTests {
  @Test(arguments: [
    (0, 1.0, 1.0), (1, 1.0, 0.632_121), (3, 1.0, 0.080_301), (3, 0.2, 0.001_148), (20, 10.0, 0.003_454),
  ])
  func poissonTailMatchesPublishedTables(count: Int, mean: Double, expected: Double) {
    #expect(abs(SurvivalOdds.poissonTail(atLeast: count, mean: mean) - expected) < 1e-5 || Double(count) <= mean)
  }

  @Test func tailFallsWithTheCountAndRisesWithTheMean() {
    var last = 1.0
    for count in 1...400 {
      let tail = SurvivalOdds.poissonTail(atLeast: count, mean: 0.7)
      #expect(tail <= last && tail >= 0 && !tail.isNaN)
      #expect(tail <= SurvivalOdds.poissonTail(atLeast: count, mean: 0.8))
      last = tail
    }
    #expect(SurvivalOdds.poissonTail(atLeast: .max, mean: 1) == 0)
  }

  @Test func moreOrOlderSurvivorsAreLessLikely() {
    let few = SurvivalOdds(survivors: 3, beyond: 0, ratio: 2, maxRatio: 100)
    #expect(SurvivalOdds(survivors: 5, beyond: 0, ratio: 2, maxRatio: 100) < few)
    #expect(SurvivalOdds(survivors: 3, beyond: 0, ratio: 20, maxRatio: 100) < few)
    #expect(few < SurvivalOdds(survivors: 3, beyond: 5, ratio: 2, maxRatio: 100))
    // Three survivors that are twice as old as any sibling may be chance. Three that are ten times as old are not.
    #expect(
      few.chance > SurvivorRules.standard.strongOdds
        && SurvivalOdds(survivors: 3, beyond: 0, ratio: 10, maxRatio: 100).chance
          < SurvivorRules.standard.strongOdds
    )
  }

  private func population(_ counts: [UInt32]) -> Population {
    Population([LiveCurve(start: 0, width: 10, counts: counts)], from: 0, to: UInt64(counts.count * 10))
  }

  @Test func addedSurvivorsAreDistinguishedFromReplacedOnes() {
    let positions = (0..<20).map { Double($0) / 20 }
    #expect(population((0..<20).map { 10 + $0 }).growth(by: positions, .standard).kind == .added)
    #expect(population(Array(repeating: 30, count: 20)).growth(by: positions, .standard).kind == .bounded)
    // This is a pool. Now and then an object is taken from it for good.
    #expect(population((0..<20).map { $0 % 5 == 0 ? 29 : 30 }).growth(by: positions, .standard).kind == .bounded)
    // One of the moments happens to be a peak.
    #expect(population((0..<20).map { $0 == 9 ? 45 : 30 }).growth(by: positions, .standard).kind == .bounded)
    // The population changes by more than the number of survivors.
    #expect(population((0..<20).map { $0 % 2 == 0 ? 100 : 180 }).growth(by: positions, .standard).kind == .unclear)
    // Survivors add up, while the number of transient objects halves: there are 20 more survivors, and 10 fewer
    // transient objects. The sum varies by 5 anyway.
    #expect(
      population((0..<20).map { $0 + ($0 < 12 ? 20 : 10) + ($0 % 2) * 5 }).growth(by: positions, .standard).kind
        == .hidden)
  }

  @Test func deviationFromEvenGrowthIsTheKolmogorovSmirnovStatistic() {
    let even = Population.deviation(of: (1...100).map { Double($0) / 100 })
    #expect(even.lead <= 0.01 && even.lag <= 0.011)
    // Half of the births are in the first tenth of the time.
    let early = Population.deviation(
      of: (1...50).map { Double($0) / 500 } + (1...50).map { 0.1 + 0.9 * Double($0) / 50 })
    #expect(abs(early.lead - 0.4) < 0.02 && early.lag < 0.02)
    let late = Population.deviation(of: (1...100).map { 0.5 + Double($0) / 200 })
    #expect(abs(late.lag - 0.5) < 0.02 && late.lead < 0.02)
    #expect(Population.deviation(of: []) == (0, 0))
  }

  @Test func fallingCountHasNoDeviationFromEvenGrowth() throws {
    let even = try #require(population((1...32).map { $0 }).deviation)
    #expect(even.lead < 0.05 && even.lag < 0.05)
    #expect(try #require(population((1...32).map { min($0, 16) }).deviation).lead > 0.4)
    #expect(try #require(population((1...32).map { $0 < 25 ? 0 : $0 - 24 }).deviation).lag > 0.6)
    #expect(population((1...32).map { $0 > 16 && $0 < 22 ? 2 : $0 }).deviation == nil)
    #expect(population([]).deviation == nil)
  }

  @Test func onlyEvenGrowthGrowsInEachQuarter() {
    #expect(population((1...20).map { $0 }).growsInEachQuarter(least: SurvivorRules.standard.minQuarter))
    #expect(!population((1...20).map { min($0, 12) }).growsInEachQuarter(least: 0))
    // The numbers grow by the square root, as in a table of names.
    #expect(
      !population((1...20).map { UInt32(10 * Double($0).squareRoot()) }).growsInEachQuarter(
        least: SurvivorRules.standard.minQuarterOfQueue))
    #expect(!population([]).growsInEachQuarter(least: 0))
  }
}
