// Tells changes of estimated amounts from what sampling may have made of nothing.

import AllocationReports

/// A figure of estimates on both sides.
package struct EstimateChange: Hashable, Sendable {
  /// With the direction `same` if sampling, or the other causes of chance, may have made the difference.
  package var change: FigureChange
  /// Standard errors of the medians, in bytes.
  package var oldError: Double
  package var newError: Double

  package init(change: FigureChange, oldError: Double, newError: Double) {
    (self.change, self.oldError, self.newError) = (change, oldError, newError)
  }
}

/// A difference counts if it does for figures that were counted, and sampling does not explain it. For one run a side,
/// that is so if it exceeds `errors` combined standard errors and `unseenPeriods` periods together.
///
/// The first part is what estimates of equal amounts stray by. It comes from the samples themselves, and knows nothing
/// of what no sample has met: a block of 2 MiB, at one sample in 512 KiB, is missed once in 55 times, and both
/// estimates, the one with it and the one without, take themselves for nearly exact. The second part is for those.
/// Sampling meets a byte in so many: that it misses all of N periods' bytes has the probability e⁻ᴺ, however large their
/// blocks are.
struct EstimateJudgement {
  /// Standard errors of a difference, with which samples of many blocks reach four times in a hundred thousand.
  static let errors = 4.0
  /// Periods whose bytes may all have been missed on one side: e⁻¹² is six in a million.
  static let unseenPeriods = 12.0
  /// Least part of the whole estimate that a difference has to be: reports are of places that matter, and each place
  /// less that is judged is one chance less to be wrong.
  static let leastPart = 0.01
  /// The standard error of a median of many runs to that of their mean: the root of π / 2. Of one or two it is the mean.
  private static let errorOfMedian = 1.2533

  private let figures: FigureJudgement
  /// Bytes from one sample to the next on the side where there are fewer samples.
  private let period: Double

  init(_ figures: FigureJudgement, period: UInt64) { (self.figures, self.period) = (figures, Double(period)) }

  /// Judges a site's figure by its estimates in the runs of both sides. `whole`: the estimate of the whole program.
  func change(_ figure: Figure, old: [ByteEstimate], new: [ByteEstimate], whole: Double) -> EstimateChange {
    func values(_ estimates: [ByteEstimate]) -> [Double] { estimates.map { Double($0.bytes) } }
    var change = figures.change(figure, old: values(old), new: values(new), whole: whole)
    let (oldError, newError) = (Self.error(of: old), Self.error(of: new))
    // The old estimate is expected again, for the new amount of work.
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
