// Separates changes of estimated amounts from sampling noise.

import AllocationReports

/// The change of an estimated figure from the old build to the new one.
package struct EstimateChange: Hashable, Sendable {
  /// The direction is `same` if sampling, or another cause of chance, may have made the difference.
  package var change: FigureChange
  /// The standard error of each side's median, in bytes.
  package var oldError: Double
  package var newError: Double

  package init(change: FigureChange, oldError: Double, newError: Double) {
    (self.change, self.oldError, self.newError) = (change, oldError, newError)
  }
}

/// Decides which differences of estimates count. A difference must pass two tests. It must count for exact figures, and
/// sampling error must not explain it. To pass the second test, it must exceed the sum of two terms: `errors` combined
/// standard errors, and `unseenPeriods` sample periods.
///
/// The first term covers the noise of the samples that were taken. It cannot cover blocks that no sample hit. At one
/// sample in 512 KiB, a block of 2 MiB is missed once in 55 times. The estimate then looks precise, although it lacks
/// the block. The second term covers missed blocks. Sampling misses all bytes of N periods with the probability e⁻ᴺ,
/// regardless of block sizes.
struct EstimateJudgement {
  /// The number of standard errors that a difference must exceed. If many blocks were sampled, a chance difference
  /// exceeds this four times in a hundred thousand.
  static let errors = 4.0
  /// The number of sample periods whose bytes one side may have missed by chance: e⁻¹² is six in a million.
  static let unseenPeriods = 12.0
  /// The share of the whole program's estimate that a difference must exceed. Smaller sites hardly matter, and judging
  /// fewer sites means fewer false changes.
  static let minPart = 0.01
  /// The standard error of the median of many runs, divided by the standard error of their mean: the square root of π /
  /// 2. With one or two runs, the median is the mean, so no factor is needed.
  private static let errorOfMedian = 1.2533

  private let figures: FigureJudgement
  /// Average number of bytes from one sample to the next, on the side with the larger average.
  private let period: Double

  init(_ figures: FigureJudgement, period: UInt64) { (self.figures, self.period) = (figures, Double(period)) }

  /// Judges a figure of a site by the site's estimates in the runs of both sides. `whole`: the estimate of the whole
  /// program.
  func change(_ figure: Figure, old: [ByteEstimate], new: [ByteEstimate], whole: Double) -> EstimateChange {
    func values(_ estimates: [ByteEstimate]) -> [Double] { estimates.map { Double($0.bytes) } }
    var change = figures.change(figure, old: values(old), new: values(new), whole: whole)
    let (oldError, newError) = (Self.error(of: old), Self.error(of: new))
    // Without a change, the new estimate is the old one, scaled to the new amount of work.
    let scale = change.old.median > 0 ? change.expected / change.old.median : 1
    let combined = (scale * scale * oldError * oldError + newError * newError).squareRoot()
    let least = max(
      Self.errors * combined + Self.unseenPeriods * period * max(1, scale),
      figures.tolerance == .none ? 0 : Self.minPart * whole)
    if abs(change.difference) <= least { change.direction = .same }
    return EstimateChange(change: change, oldError: oldError, newError: newError)
  }

  /// Returns the standard error of the median of independent estimates.
  private static func error(of estimates: [ByteEstimate]) -> Double {
    guard !estimates.isEmpty else { return 0 }
    let mean =
      estimates.reduce(0) { $0 + $1.error * $1.error }.squareRoot() / Double(estimates.count)
    return estimates.count > 2 ? errorOfMedian * mean : mean
  }
}
