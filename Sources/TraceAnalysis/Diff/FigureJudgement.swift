// When a figure has changed, and when it only looks so.

/// Decides what difference between two builds' figures is more than chance.
///
/// Several runs of a side show what chance does: a change counts if all of one side's values lie beyond all of the other's, by more than either side is
/// wide. With one run a side nothing shows it, and a change must be beyond the tolerance, and beyond what counting things that happen independently
/// would do to a number of that size.
public struct FigureJudgement: Hashable, Sendable {
  /// Part of the old value that a change has to exceed.
  public var tolerance: Double
  /// By run, in the unit that was asked for. nil: runs are compared as they are.
  public var work: (old: [Double], new: [Double])?

  public init(tolerance: Double = 0.05, work: (old: [Double], new: [Double])? = nil) { (self.tolerance, self.work) = (tolerance, work) }

  public static func == (a: Self, b: Self) -> Bool { a.tolerance == b.tolerance && a.work?.old == b.work?.old && a.work?.new == b.work?.new }
  public func hash(into hasher: inout Hasher) { hasher.combine(tolerance) }

  /// New work to old work; 1 if runs are compared as they are.
  var workRatio: Double {
    guard let work else { return 1 }
    let old = Spread(work.old).median
    return old > 0 ? Spread(work.new).median / old : 1
  }

  /// Judges a figure by its values in the runs of both sides.
  ///
  /// With a unit of work, what stays the same although the work does not is taken to be independent of it; all else should be in proportion.
  /// `expected`: that of the parts of a sum, if it is one. `whole`: the program's figure, if this is a part of it. Which of a program's parts
  /// a few blocks are asked for by is often chance (who comes first, the order of a hash table), so that one run cannot show a part's change that is nothing to
  /// the whole.
  func change(_ figure: Figure, old: [Double], new: [Double], expected: Double? = nil, whole: Double = 0) -> FigureChange {
    let plain = FigureChange(figure: figure, old: Spread(old), new: Spread(new), expected: Spread(old).median, direction: .same)
    let runs = min(old.count, new.count)
    let least = runs > 1 || tolerance == 0 ? 0 : whole * Self.leastPart
    guard work != nil else { return judged(plain, least: least, runs: runs) }
    if let expected {
      var change = plain
      let factor = plain.expected > 0 ? expected / plain.expected : 1
      change.expected = expected
      return judged(change, factor: factor, least: least, runs: runs)
    }
    let asIs = judged(plain, least: least, runs: runs)
    if asIs.direction == .same { return asIs }
    var scaled = FigureChange(
      figure: figure, old: Spread(perWork(old, work!.old)), new: Spread(perWork(new, work!.new)), expected: 0, direction: .same)
    scaled.expected = scaled.old.median * workRatio
    return judged(scaled, factor: workRatio, least: least, runs: runs)
  }

  /// Values as they would be had each run done the middle amount of its side's work.
  private func perWork(_ values: [Double], _ work: [Double]) -> [Double] {
    let middle = Spread(work).median
    return zip(values, work).map { $1 > 0 ? $0 * middle / $1 : $0 }
  }

  /// `factor`: what old values are multiplied by to be comparable.
  private func judged(_ change: FigureChange, factor: Double = 1, least: Double, runs: Int) -> FigureChange {
    var change = change
    let old = Spread(lowest: change.old.lowest * factor, median: change.expected, highest: change.old.highest * factor)
    let new = change.new
    let difference = new.median - old.median
    guard abs(difference) > max(least, threshold(change.figure, old.median, new.median, runs: runs)) else { return change }
    if runs > 1 {
      let gap = difference > 0 ? new.lowest - old.highest : old.lowest - new.highest
      // A cause that no run of one side has, and every run of the other, is told by that alone.
      let isPresence = Figure.ofFindings.contains(change.figure) && min(old.highest, new.highest) == 0
      let width = max(old.highest - old.lowest, new.highest - new.lowest)
      guard gap > (isPresence ? 0 : width * Self.margin(runs: runs)) else { return change }
    }
    change.direction = difference > 0 ? .worse : .better
    return change
  }

  /// Part of the whole program's figure.
  private static let leastPart = 0.0025

  /// How much of a side's width has to lie between the sides: the fewer the runs, the less of what chance does have they shown.
  private static func margin(runs: Int) -> Double {
    switch runs {
    case 2: 1
    case 3: 0.5
    case 4: 0.25
    default: 0
    }
  }

  private func threshold(_ figure: Figure, _ old: Double, _ new: Double, runs: Int) -> Double {
    if tolerance == 0 { return 0 }
    let relative = old * tolerance
    switch figure {
    // Causes are few, and each is looked at by itself.
    case .instances: return max(relative, 0.5)
    case .retainedBytes: return max(relative, 32)
    case .growth: return max(2 * relative, 2)
    case .peakBytes: return max(relative, 4096)
    case .liveBytes, .allocatedBytes: return max(relative, 1024, runs > 1 ? 0 : chance(max(old, new) / 64) * 64)
    case .liveBlocks, .allocatedBlocks, .temporaryBlocks: return max(relative, 8, runs > 1 ? 0 : chance(max(old, new)))
    case .retains, .releases: return max(relative, 64, runs > 1 ? 0 : chance(max(old, new)))
    }
  }

  /// Four times the standard deviation of a count of independent events.
  private func chance(_ count: Double) -> Double { 4 * count.squareRoot() }
}

extension Spread {
  /// Of at least one value. Of an even number of them the median is between the two in the middle.
  init(_ values: [Double]) {
    let sorted = values.sorted()
    self.init(lowest: sorted.first ?? 0, median: sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2, highest: sorted.last ?? 0)
  }
}
