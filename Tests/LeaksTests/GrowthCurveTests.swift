// The shapes of curves that leaks have, and shapes that only look like leaks, with many random seeds.

import Foundation
import TestRequirements
import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct GrowthCurveTests {
  /// The numbers of images in a watch.
  private static let counts = TestTier.arguments([6, 12, 36], of: [6, 8, 10, 12, 16, 24, 36, 60, 150])
  private static let seeds = 500

  /// Returns how many curves in a thousand are suspected, and how many strongly, for a number of images.
  private static func suspected(_ count: Int, _ make: (inout Dice, Int) -> [Double]) -> (all: Int, strong: Int) {
    var (all, strong) = (0, 0)
    for seed in 0..<seeds {
      var dice = Dice(seed: UInt64(seed) << 16 | UInt64(count))
      let values = make(&dice, count)
      let times = (0..<count).map { 600 * Double($0) }
      guard case .suspect(let suspicion) = GrowthCurve(times: times, values: values).judged() else { continue }
      all += 1
      if suspicion.isStrong { strong += 1 }
    }
    return (all * 1000 / seeds, strong * 1000 / seeds)
  }

  /// Random numbers of the usual distributions.
  struct Dice {
    var random: SeededRandom
    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func part() -> Double { Double.random(in: 0..<1, using: &random) }
    mutating func between(_ low: Double, _ high: Double) -> Double { low + (high - low) * part() }
    mutating func normal() -> Double { (-2 * log(max(part(), 1e-300))).squareRoot() * cos(2 * .pi * part()) }
    /// The number of independent events in an interval.
    mutating func poisson(_ mean: Double) -> Double {
      if mean > 50 { return max(0, (mean + normal() * mean.squareRoot()).rounded()) }
      let end = exp(-mean)
      var (count, product) = (-1.0, 1.0)
      repeat {
        count += 1
        product *= part()
      } while product > end
      return count
    }
    /// Returns a size from 10 to 10 to the power of `power`.
    mutating func size(_ power: Double) -> Double { pow(10, between(1, power)) }
  }

  /// A shape that is not a leak, and the number of curves in a thousand that may be strongly suspected.
  struct Harmless: CustomTestStringConvertible {
    var testDescription: String
    var most = 0
    var make: @Sendable (inout Dice, Int) -> [Double]
  }

  static let harmlessShapes = [
    Harmless(testDescription: "independent things in use") { dice, count in
      let mean = dice.size(4)
      return (0..<count).map { _ in dice.poisson(mean) }
    },
    Harmless(testDescription: "a queue that swings back", most: 8) { dice, count in
      let (mean, memory) = (dice.between(10, 1000), dice.between(0.5, 0.95))
      var swing = 0.0
      return (0..<count).map { _ in
        swing = memory * swing + mean * 0.1 * dice.normal()
        return max(0, (mean + swing).rounded())
      }
    },
    Harmless(testDescription: "a cache that fills with random keys", most: 4) { dice, count in
      let (limit, time) = (dice.size(5), dice.between(2, 10))
      return (0..<count).map { (limit * (1 - exp(-time * Double($0) / Double(count - 1)))).rounded() }
    },
    Harmless(testDescription: "a cache that reaches its limit") { dice, count in
      let (limit, part) = (dice.size(5), dice.between(0.1, 0.7))
      return (0..<count).map { min(limit, limit * Double($0) / part / Double(count - 1)).rounded() }
    },
    Harmless(testDescription: "a pool that warms up") { dice, count in
      let size = dice.size(3)
      return (0..<count).map { $0 == 0 ? 1 : size.rounded() }
    },
    Harmless(testDescription: "load that comes and goes") { dice, count in
      let (mean, swing) = (dice.between(20, 1000), dice.between(0.3, 0.95))
      let (period, phase) = (1 / dice.between(1, 6), dice.part())
      return (0..<count).map {
        dice.poisson(mean * (1 + swing * sin(2 * .pi * (phase + Double($0) / Double(count) / period))))
      }
    },
    Harmless(testDescription: "half a day of a load that comes and goes", most: 30) { dice, count in
      let (mean, swing) = (dice.between(20, 1000), dice.between(0.3, 0.95))
      let (period, phase) = (1 / dice.between(0.5, 1), dice.part())
      return (0..<count).map {
        dice.poisson(mean * (1 + swing * sin(2 * .pi * (phase + Double($0) / Double(count) / period))))
      }
    },
    Harmless(testDescription: "a cache that is emptied again and again") { dice, count in
      let (size, times, phase) = (dice.size(4), dice.between(2, 8), dice.part())
      return (0..<count).map {
        let place = phase + times * Double($0) / Double(count)
        return ((place - place.rounded(.down)) * size + dice.poisson(2)).rounded()
      }
    },
    Harmless(testDescription: "a cache that is emptied at any time") { dice, count in
      let size = dice.size(4)
      var (value, end) = (0.0, size * dice.between(0.6, 1.4))
      return (0..<count).map { _ in
        value += size * 3 / Double(count)
        if value > end { (value, end) = (0, size * dice.between(0.6, 1.4)) }
        return value.rounded()
      }
    },
    Harmless(testDescription: "traffic that rises in a few steps", most: 15) { dice, count in
      let (steps, mean) = (1 + Int(dice.between(0, 4)), dice.between(10, 200))
      let at = (0..<steps).map { _ in dice.between(0, Double(count)) }
      return (0..<count).map { index in
        dice.poisson(mean * (1 + Double(at.count { $0 < Double(index) })))
      }
    },
  ]

  @Test("Harmless curves are not strongly suspected", arguments: harmlessShapes)
  func harmless(_ shape: Harmless) {
    for count in Self.counts {
      let found = Self.suspected(count, shape.make)
      #expect(found.strong <= shape.most, "\(count) images: \(found)")
    }
  }

  /// A shape that is a leak. With at least `images` images, at least `least` curves in a thousand must be found.
  struct Leak: CustomTestStringConvertible {
    var testDescription: String
    var images: Int
    var least: Int
    var make: @Sendable (inout Dice, Int) -> [Double]
  }

  static let leakShapes = [
    Leak(testDescription: "a steady leak", images: 8, least: 1000) { dice, count in
      let step = pow(10, dice.between(0.5, 2.5))
      return (0..<count).map { (step * Double($0)).rounded() + 5 }
    },
    Leak(testDescription: "a leak with each of some requests", images: 8, least: 950) { dice, count in
      let step = pow(10, dice.between(0.7, 2.7))
      var value = 0.0
      return (0..<count).map { _ in
        value += dice.poisson(step)
        return value
      }
    },
    Leak(testDescription: "a leak under traffic that varies threefold", images: 10, least: 940) { dice, count in
      var value = 0.0
      return (0..<count).map { _ in
        value += dice.poisson(20 * dice.between(0.5, 1.5))
        return value
      }
    },
    Leak(testDescription: "a leak among objects that come and go", images: 24, least: 980) { dice, count in
      var value = 0.0
      return (0..<count).map { _ in
        value += dice.poisson(20 * dice.between(0.5, 1.5))
        return value + dice.poisson(60)
      }
    },
    Leak(testDescription: "a leak under the load of four days", images: 24, least: 980) { dice, count in
      var value = 0.0
      return (0..<count).map {
        let load = 1 + 0.6 * sin(2 * .pi * Double($0) / Double(count) * 4)
        value += dice.poisson(30 * load)
        return value + dice.poisson(60 * load)
      }
    },
    Leak(testDescription: "a leak that begins late", images: 24, least: 980) { dice, count in
      var value = 100.0
      return (0..<count).map { index in
        if index > count / 2 { value += dice.poisson(20) }
        return value
      }
    },
    Leak(testDescription: "a leak after a warm-up", images: 24, least: 980) { dice, count in
      var value = 0.0
      return (0..<count).map { index in
        value += dice.poisson(20)
        return value + (index > 0 ? 500 : 0)
      }
    },
  ]

  @Test("A leak's curve is suspected", arguments: leakShapes)
  func leaks(_ shape: Leak) {
    for count in Self.counts where count >= shape.images {
      let found = Self.suspected(count, shape.make)
      #expect(found.all >= shape.least, "\(count) images: \(found)")
    }
  }

  private static func judgement(_ values: [Double], kept: [Double?] = []) -> GrowthCurve.Judgement {
    GrowthCurve(times: values.indices.map { 600 * Double($0) }, values: values, kept: kept).judged()
  }

  @Test func fewImagesGiveNoSuspicion() {
    #expect(Self.judgement([0, 100, 200, 300, 400]) == .innocent(.tooFewImages))
    #expect(Self.judgement([]) == .innocent(.tooFewImages))
  }

  /// Labels that appear one after the other in half a minute of scrapes.
  @Test func curveThatLevelsOffInItsLastQuarterIsNotSuspected() {
    let times = [3.0, 5, 7, 9, 11, 15, 17, 19, 21, 25, 27, 29, 31, 33, 37, 39, 41, 43, 47, 49, 51, 53, 57, 60]
    let values = [
      23.0, 77, 166, 299, 461, 910, 1187, 1503, 1866, 2603, 2973, 3332, 3701, 4060, 4733, 5036, 5302, 5543, 5940, 6088,
      6197, 6272, 6359, 6391,
    ]
    #expect(GrowthCurve(times: times, values: values).judged() == .innocent(.levelsOff))
    // The values keep growing as fast as at first. Some blocks come and go besides.
    let leak = times.enumerated().map { $1 * 100 + Double($0 % 3) * 40 }
    guard case .suspect = GrowthCurve(times: times, values: leak).judged() else {
      Issue.record("a steady leak is not suspected")
      return
    }
  }

  @Test func nineMoreObjectsAreNotEnough() {
    #expect(Self.judgement([0, 2, 4, 5, 7, 9]) == .innocent(.hardlyGrows))
  }

  @Test func replacedObjectsAreNotSuspected() {
    let values = (0..<12).map { 100.0 + 50 * Double($0) }
    guard case .suspect(let suspicion) = Self.judgement(values, kept: values.map { _ in 0.95 }) else {
      Issue.record("a leak whose objects stay is not suspected")
      return
    }
    #expect(suspicion.isStrong && suspicion.images == 12 && suspicion.rise == 550)
    #expect(Self.judgement(values, kept: values.map { _ in 0.2 }) == .innocent(.turnsOver))
  }

  @Test func unevenIntervalsAreWeightedByLength() {
    let times = [0.0, 1, 2, 3, 60, 120, 121, 122, 123, 200, 201, 260]
    let curve = GrowthCurve(times: times, values: times.map { ($0 * 10).rounded() })
    guard case .suspect = curve.judged() else {
      Issue.record("a steady leak at uneven times is not suspected")
      return
    }
  }
}
