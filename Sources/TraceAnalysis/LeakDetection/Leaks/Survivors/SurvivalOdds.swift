// The probability that ordinary siblings live as long as the survivors do.

import Glibc

/// Odds derived from the lives of ended siblings.
///
/// In a family, `beyond` of the ended siblings lived longer than a limit. So at one moment, about `beyond` + 1 siblings
/// live past the limit by chance: the next sibling to end may be one of them. Lifetimes have long tails. Beyond the
/// limit, the number is assumed to fall only in proportion to the age. In families that mostly die young, it falls
/// faster. The expected number of survivors at `ratio` times the limit is then (beyond + 1) / ratio. Poisson's
/// distribution gives the probability of the actual number.
struct SurvivalOdds: Comparable {
  /// Probability that at least as many siblings survive by chance.
  let chance: Double

  static func < (a: Self, b: Self) -> Bool { a.chance < b.chance }

  /// `maxRatio`: see `SurvivorRules.maxAgeRatio`.
  init(survivors: Int, beyond: UInt64, ratio: Double, maxRatio: Double) {
    let expected = (Double(beyond) + 1) / min(max(1, ratio), maxRatio)
    chance = Self.poissonTail(atLeast: survivors, mean: expected)
  }

  /// Returns P(X ≥ n) for Poisson's distribution. O(n), at most some thousand terms.
  static func poissonTail(atLeast count: Int, mean: Double) -> Double {
    guard count > 0 else { return 1 }
    guard mean > 0 else { return 0 }
    if Double(count) <= mean { return 1 }
    // From the first term on, the terms fall at least as fast as (mean / count)ⁿ. The formula 1 - P(X < n) would lose
    // digits by cancellation.
    var term = exp(Double(count) * log(mean) - mean - lgamma(Double(count) + 1))
    var sum = 0.0
    var n = count
    while term > 0, n < count + 10_000 {
      sum += term
      n += 1
      term *= mean / Double(n)
      if term < sum * 1e-12 { break }
    }
    return min(1, sum)
  }
}
