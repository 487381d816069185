// Separates changes of estimated amounts from sampling noise.

import AllocationReports

/// A figure of estimates on both sides.
package struct EstimateChange: Hashable, Sendable {
  /// The direction is `same` if sampling, or another cause of chance, may have made the difference.
  package var change: FigureChange
  /// Standard errors of the medians, in bytes.
  package var oldError: Double
  package var newError: Double

  package init(change: FigureChange, oldError: Double, newError: Double) {
    (self.change, self.oldError, self.newError) = (change, oldError, newError)
  }
}

/// A difference counts if it would count for exact figures, and sampling does not explain it. For one run a side, it
/// must exceed the sum of two parts: `errors` combined standard errors, and `unseenPeriods` periods.
///
/// The first part is the error of estimates of equal amounts. It is computed from the samples, so it ignores blocks
/// that no sample has met. A block of 2 MiB, at one sample in 512 KiB, is missed once in 55 times. Both estimates, with
/// the block and without it, then have small errors. The second part accounts for missed blocks. Sampling misses all
/// bytes of N periods with the probability e⁻ᴺ, however large their blocks are.
struct EstimateJudgement {
  /// Standard errors that a difference must exceed. With samples of many blocks, chance reaches this four times in a
  /// hundred thousand.
  static let errors = 4.0
  /// Periods whose bytes may all have been missed on one side: e⁻¹² is six in a million.
  static let unseenPeriods = 12.0
  /// Least part of the whole estimate that a difference must exceed. Reports are about places that matter, and each
  /// smaller place that is not judged is one chance less to be wrong.
  static let leastPart = 0.01
  /// The standard error of a median of many runs, divided by the error of their mean: the root of π / 2. The median of
  /// one or two runs is their mean.
  private static let errorOfMedian = 1.2533

  private let figures: FigureJudgement
  /// Bytes from one sample to the next on the side with fewer samples.
  private let period: Double

  init(_ figures: FigureJudgement, period: UInt64) { (self.figures, self.period) = (figures, Double(period)) }

  /// Judges a site's figure by its estimates in the runs of both sides. `whole`: the estimate of the whole program.
  func change(_ figure: Figure, old: [ByteEstimate], new: [ByteEstimate], whole: Double) -> EstimateChange {
    func values(_ estimates: [ByteEstimate]) -> [Double] { estimates.map { Double($0.bytes) } }
    var change = figures.change(figure, old: values(old), new: values(new), whole: whole)
    let (oldError, newError) = (Self.error(of: old), Self.error(of: new))
    // The old estimate is expected again, scaled to the new amount of work.
    let scale = change.old.median > 0 ? change.expected / change.old.median : 1
    let combined = (scale * scale * oldError * oldError + newError * newError).squareRoot()
    let least = max(
      Self.errors * combined + Self.unseenPeriods * period * max(1, scale),
      figures.tolerance == .none ? 0 : Self.leastPart * whole)
    if abs(change.difference) <= least { change.direction = .same }
    return EstimateChange(change: change, oldError: oldError, newError: newError)
  }

  /// The standard error of the median of independent estimates.
  private static func error(of estimates: [ByteEstimate]) -> Double {
    guard !estimates.isEmpty else { return 0 }
    let mean =
      estimates.reduce(0) { $0 + $1.error * $1.error }.squareRoot() / Double(estimates.count)
    return estimates.count > 2 ? errorOfMedian * mean : mean
  }
}
