// The probability that ordinary siblings live as long as the survivors do.

import Glibc

/// Odds derived from the lives of ended siblings. A value.
///
/// `beyond` of a family's ended siblings lived longer than a limit. So at one moment, chance lets about `beyond` + 1
/// siblings live past the limit: the next may have been one. Lifetimes have long tails. Beyond the limit, the number is
/// assumed to fall only in proportion to the age, which is slower than in any family that mostly dies young. The
/// expected number of survivors at `ratio` times the limit is then (beyond + 1) / ratio. Poisson's distribution gives
/// the probability of the actual number.
struct SurvivalOdds: Comparable {
  /// Probability that chance keeps as many as there are.
  let chance: Double

  static func < (a: Self, b: Self) -> Bool { a.chance < b.chance }

  /// `greatestRatio`: see `OutlivingRules.greatestAgeRatio`.
  init(survivors: Int, beyond: UInt64, ratio: Double, greatestRatio: Double) {
    let expected = (Double(beyond) + 1) / min(max(1, ratio), greatestRatio)
    chance = Self.poissonTail(atLeast: survivors, mean: expected)
  }

  /// P(X ≥ n) for Poisson's distribution. O(n), at most some thousand terms.
  static func poissonTail(atLeast count: Int, mean: Double) -> Double {
    guard count > 0 else { return 1 }
    guard mean > 0 else { return 0 }
    if Double(count) <= mean { return 1 }
    // From the first term on, they fall at least as fast as (mean / count)ⁿ. The difference 1 - P(X < n) would cancel.
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
