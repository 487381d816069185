// Counts the live objects of a family in the course of the run, and judges whether their number grew.

import TraceReading

/// The live objects of several sites together, between two moments.
struct Population {
  /// The span, in events of the process.
  let start: UInt64
  let end: UInt64
  private let curves: [LiveCurve]

  init(_ curves: [LiveCurve], from start: UInt64, to end: UInt64) {
    (self.curves, self.start, self.end) = (curves, start, end)
  }

  /// Returns the number of live objects after a part of the span, from 0 to 1. Linear in the sites.
  func live(at part: Double) -> UInt64 {
    let moment = start + UInt64(Double(end - min(start, end)) * min(1, max(0, part)))
    return curves.reduce(0) { $0 &+ $1.live(at: moment) }
  }

  /// The number of live objects after each quarter of the span.
  var quarters: [UInt64] { [0.25, 0.5, 0.75, 1].map(live) }

  /// Returns the median and the spread of the number of live objects in a part of the span.
  func level(_ parts: ClosedRange<Double>) -> (median: Double, spread: Double) {
    let steps = 8
    let counts = (0...steps).map {
      Double(live(at: parts.lowerBound + (parts.upperBound - parts.lowerBound) * Double($0) / Double(steps)))
    }.sorted()
    return (counts[steps / 2], (counts.last ?? 0) - (counts.first ?? 0))
  }

  /// Returns the largest fall of the number, from any moment in a part of the span to a later one. Each moment counts
  /// by the median of the moments around it, since a peak at a single moment differs from run to run.
  private func maxFall(_ parts: ClosedRange<Double>) -> Double {
    let counts = (0...LiveCurves.intervals).map { step in
      Double(
        live(at: parts.lowerBound + (parts.upperBound - parts.lowerBound) * Double(step) / Double(LiveCurves.intervals))
      )
    }
    var highest = 0.0
    var fall = 0.0
    for start in 0...(counts.count - Self.momentsOfMedian) {
      let count = counts[start..<(start + Self.momentsOfMedian)].sorted()[Self.momentsOfMedian / 2]
      highest = max(highest, count)
      fall = max(fall, highest - count)
    }
    return fall
  }

  private static let momentsOfMedian = 5

  enum Growth: Equatable {
    /// The survivors were added to the objects that come and go.
    case added
    /// The survivors took the places of other objects, and the number stayed.
    case bounded
    /// The number of objects that come and go varies by more than there are survivors.
    case unclear
    /// The number stayed, but the objects that come and go became fewer by as many as the survivors. So falling traffic
    /// hides growth.
    case hidden
  }

  /// Returns whether survivors made between the early and the late part of the span made the population larger, and
  /// their number. `positions`: the time of each birth, from 0 to 1.
  ///
  /// In a full cache, a pool or a set of open sessions, the oldest members look forgotten, but the population stays the
  /// same. Objects that are really forgotten add up.
  func growth(by positions: [Double], _ rules: SurvivorRules) -> (made: Int, kind: Growth) {
    let early = level(rules.early)
    let late = level(rules.late)
    let made = positions.count { $0 > rules.early.middle && $0 <= rules.late.middle }
    let spread = max(early.spread, late.spread)
    if spread > Double(made) { return (made, .unclear) }
    let missing = rules.minAdded * Double(made) - (late.median - early.median)
    if missing <= 0 { return (made, .added) }
    return (
      made,
      missing <= maxFall(rules.early.lowerBound...rules.late.upperBound) ? .hidden : .bounded
    )
  }

  /// Returns the greatest distances of a curve of births above and below even growth, as shares of the number.
  /// `positions`: the time of each instance's birth, from 0 to 1, in order. Both distances are 0 for even growth, and 1
  /// if all instances were made at one end. Source: the distance of Kolmogorov and Smirnov from the uniform
  /// distribution. Linear in the positions.
  static func deviation(of positions: [Double]) -> (lead: Double, lag: Double) {
    var (lead, lag) = (0.0, 0.0)
    let count = Double(max(1, positions.count))
    for (index, position) in positions.enumerated() {
      lead = max(lead, Double(index + 1) / count - position)
      lag = max(lag, position - Double(index) / count)
    }
    return (lead, lag)
  }

  /// The greatest distances of the number of live instances above and below even growth, as shares of the final number.
  /// Nil if the number falls from one part of the span to the next. Linear in the sites.
  var deviation: (lead: Double, lag: Double)? {
    let parts = 16
    let counts = (1...parts).map { live(at: Double($0) / Double(parts)) }
    guard let end = counts.last, end > 0, zip(counts, counts.dropFirst()).allSatisfy({ $0 <= $1 }) else { return nil }
    let differences = counts.enumerated().map { Double($1) / Double(end) - Double($0 + 1) / Double(parts) }
    return (max(0, differences.max() ?? 0), max(0, -(differences.min() ?? 0)))
  }

  /// Returns whether the population grew in each quarter, by at least a share of its final number.
  func growsInEachQuarter(least share: Double) -> Bool {
    let quarters = self.quarters
    guard let last = quarters.last, last > 0 else { return false }
    var before: UInt64 = 0
    for count in quarters {
      guard count > before, Double(count - before) >= share * Double(last) else { return false }
      before = count
    }
    return true
  }
}

extension ClosedRange<Double> {
  fileprivate var middle: Double { (lowerBound + upperBound) / 2 }
}
