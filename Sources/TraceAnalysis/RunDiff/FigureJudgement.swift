// Tells real changes of a figure from apparent ones.

/// The least difference that counts as one.
package struct FigureTolerance: Hashable, Sendable {
  /// Part of the old value.
  var part: Double
  /// The same of the peak, with one run a side: it depends on what comes together when.
  var partOfPeak: Double
  /// The same of a site or type, with one run a side: the seeds of hash tables decide in which order things are
  /// encoded, and what grows when.
  var partOfSite: Double
  /// Of a count of independent events: so many times its standard deviation. With one run a side only.
  var deviations: Double
  /// Blocks and references that one event makes, on average: what comes together strays more.
  var cluster = 1.0
  /// The same of what is live at one moment.
  var liveCluster = 1.0
  /// Of a site or type: part of the whole program's figure. Which of a program's parts a few blocks are asked for by is
  /// often chance (who comes first, the order of a hash table).
  var leastPart: Double
  /// The same of what is live at one moment.
  var leastLivePart: Double

  /// For several runs a side, and for programs that do the same each time but for the seeds of hash tables.
  package static let standard = FigureTolerance(
    part: 0.05, partOfPeak: 0.05, deviations: 4, partOfSite: 0.2, leastPart: 0.005, leastLivePart: 0.005)
  /// For a few runs a side of a program whose work depends on when things happen. Of several busy threads, who runs
  /// when decides how tasks are split, what is temporary, what comes together, and whether an actor that is waited for
  /// gets one job for each who waits or two. A task that is under way has some three blocks: 7 jobs and 114 were seen
  /// at one site of a small server, and 220 live blocks and 337.
  package static let timeDependent: FigureTolerance = {
    var tolerance = FigureTolerance(
      part: 0.05, partOfPeak: 0.5, deviations: 6, partOfSite: 0.5, leastPart: 0.02, leastLivePart: 0.05)
    (tolerance.cluster, tolerance.liveCluster) = (3, 3)
    return tolerance
  }()
  /// The same of a program with a run loop, which turns as often as there is time. A turn of that of
  /// swift-corelibs-foundation makes some eight blocks: 30 timers' turns made 443 temporary blocks in one run, 233 in
  /// the next.
  package static let runLoop: FigureTolerance = {
    var tolerance = timeDependent
    tolerance.cluster = 8
    return tolerance
  }()
  /// For one process that was looked at twice: the seeds of its hash tables are the same, and what grew is asked for.
  /// What independent things sway by is left out.
  package static let sameProcess: FigureTolerance = {
    var tolerance = FigureTolerance(
      part: 0, partOfPeak: 0, deviations: 2, partOfSite: 0, leastPart: 0, leastLivePart: 0)
    tolerance.liveCluster = 1
    return tolerance
  }()
  /// Chance decides which function does what at which time.
  var isTimeDependent: Bool { self == .timeDependent || self == .runLoop }
  /// Every difference counts.
  package static let none = FigureTolerance(
    part: 0, partOfPeak: 0, deviations: 0, partOfSite: 0, leastPart: 0, leastLivePart: 0)

  /// `part`: 0.05 for five percent.
  package init(part: Double) {
    self =
      part == 0
      ? .none
      : FigureTolerance(
        part: part, partOfPeak: part, deviations: 4, partOfSite: part, leastPart: 0.0025, leastLivePart: 0.0025)
  }

  private init(
    part: Double, partOfPeak: Double, deviations: Double, partOfSite: Double, leastPart: Double, leastLivePart: Double
  ) {
    (self.part, self.partOfPeak, self.deviations, self.partOfSite) = (part, partOfPeak, deviations, partOfSite)
    (self.leastPart, self.leastLivePart) = (leastPart, leastLivePart)
  }
}

/// Decides what difference between two builds' figures is more than chance.
///
/// Several runs of a side show what chance does: a change counts if all of one side's values lie beyond all of the
/// other's, by more than either side is wide (the more runs, the less). With one run a side nothing shows it, and a
/// change must be beyond the tolerance, and beyond what counting things that happen independently would do to a number
/// of that size.
struct FigureJudgement {
  var tolerance: FigureTolerance
  /// By run, in the unit that was asked for. nil: runs are compared as they are.
  var work: (old: [Double], new: [Double])?
  /// The work is counted in what the program does anyhow, and not in units that it names: of every figure some part may
  /// come with the work, and the other be the same in all runs.
  var isWorkDerived = false

  init(tolerance: FigureTolerance = .standard, work: (old: [Double], new: [Double])? = nil, isWorkDerived: Bool = false)
  {
    (self.tolerance, self.work, self.isWorkDerived) = (tolerance, work, isWorkDerived)
  }

  /// Bytes of a block where their sizes are not known.
  static let smallBlock = 64.0

  /// New work to old work; 1 if runs are compared as they are.
  var workRatio: Double {
    guard let work else { return 1 }
    let old = Spread(work.old).median
    return old > 0 ? Spread(work.new).median / old : 1
  }

  /// Judges a figure by its values in the runs of both sides.
  ///
  /// With a unit of work, what stays the same although the work does not is taken to be independent of it; all else
  /// should be in proportion.
  /// `expected`: that of the parts of a sum, if it is one; `stray`: by how much chance may change the sum. `whole`: the
  /// program's figure, if this is a part of it. `blockSize`: of bytes, how many a block has, if blocks come or do not
  /// by chance.
  func change(
    _ figure: Figure, old: [Double], new: [Double], expected: Double? = nil, stray: Double = 0, whole: Double = 0,
    blockSize: Double = Self.smallBlock
  ) -> FigureChange {
    let plain = FigureChange(
      figure: figure, old: Spread(old), new: Spread(new), expected: Spread(old).median, direction: .same)
    let runs = min(old.count, new.count)
    let isLive = figure == .liveBytes || figure == .liveBlocks || figure == .peakBytes
    let least = max(
      whole * (isLive ? tolerance.leastLivePart : tolerance.leastPart), runs > 1 || tolerance == .none ? 0 : stray)
    guard work != nil else { return judged(plain, least: least, isPart: whole > 0, runs: runs, blockSize: blockSize) }
    if let expected {
      var change = plain
      let factor = plain.expected > 0 ? expected / plain.expected : 1
      change.expected = expected
      return judged(change, factor: factor, least: least, isPart: whole > 0, runs: runs, blockSize: blockSize)
    }
    let asIs = judged(plain, least: least, isPart: whole > 0, runs: runs, blockSize: blockSize)
    if asIs.direction == .same { return asIs }
    var scaled = FigureChange(
      figure: figure, old: Spread(perWork(old, work!.old)), new: Spread(perWork(new, work!.new)), expected: 0,
      direction: .same)
    scaled.expected = scaled.old.median * workRatio
    let inProportion = judged(
      scaled, factor: workRatio, least: least, isPart: whole > 0, runs: runs, blockSize: blockSize)
    // More than without the work and less than in proportion to it, or the reverse.
    if isWorkDerived, inProportion.direction != asIs.direction {
      var between = inProportion
      between.direction = .same
      return between
    }
    return inProportion
  }

  /// Values as they would be had each run done the middle amount of its side's work.
  private func perWork(_ values: [Double], _ work: [Double]) -> [Double] {
    let middle = Spread(work).median
    return zip(values, work).map { $1 > 0 ? $0 * middle / $1 : $0 }
  }

  /// `factor`: what old values are multiplied by to be comparable.
  private func judged(
    _ change: FigureChange, factor: Double = 1, least: Double, isPart: Bool, runs: Int, blockSize: Double
  ) -> FigureChange {
    var change = change
    let old = Spread(lowest: change.old.lowest * factor, median: change.expected, highest: change.old.highest * factor)
    let new = change.new
    let difference = new.median - old.median
    guard
      abs(difference)
        > max(least, threshold(change.figure, old.median, new.median, isPart: isPart, runs: runs, blockSize: blockSize))
    else { return change }
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

  /// Returns the part of a side's width that has to lie between the sides: the fewer the runs, the less of the effect
  /// of chance they have shown.
  private static func margin(runs: Int) -> Double {
    switch runs {
    case 2: 1
    case 3: 0.5
    // With five runs a side, chance puts all of one side beyond the other in 1 of 126 cases, for each figure that
    // strays at all; with eight in 1 of 6,435.
    case 4...7: 0.25
    default: 0
    }
  }

  /// Figures of one thing beside each other. Objects that die are released once more, and may die soon, than those that
  /// were leaked: more releases without more retains, and more temporary blocks without as many more allocations, are
  /// no worse.
  static func related(_ changes: [FigureChange]) -> [FigureChange] {
    changes.map { change in
      var change = change
      switch change.figure {
      case .releases where change.direction != changes.first(where: { $0.figure == .retains })?.direction:
        change.direction = .same
      case .temporaryBlocks:
        let allocations = changes.first { $0.figure == .allocatedBlocks }?.difference ?? 0
        if abs(change.difference) > 2 * abs(allocations) || (change.difference < 0) != (allocations < 0) {
          change.direction = .same
        }
      default: break
      }
      return change
    }
  }

  private func threshold(_ figure: Figure, _ old: Double, _ new: Double, isPart: Bool, runs: Int, blockSize: Double)
    -> Double
  {
    if tolerance == .none { return 0 }
    let part = figure == .peakBytes ? tolerance.partOfPeak : isPart ? tolerance.partOfSite : tolerance.part
    let relative = old * (runs > 1 ? tolerance.part : part)
    switch figure {
    // Causes are few, and each is looked at by itself.
    case .instances: return max(relative, 0.5)
    // Part of an object's retained memory is the holder's own: links of queues, and what a timer has at the moment.
    case .retainedBytes: return max(relative, 32, runs > 1 ? 0 : chance(max(old, new) / max(blockSize, 1)) * blockSize)
    // The growth at each quarter depends on when the image was taken.
    case .growth: return runs > 1 ? max(2 * relative, 2) : max(old / 2, 3)
    case .peakBytes: return max(relative, 4096)
    case .liveBytes:
      return max(
        relative, 1024, runs > 1 ? 0 : chance(max(old, new) / blockSize, by: tolerance.liveCluster) * blockSize)
    case .allocatedBytes:
      return max(relative, 1024, runs > 1 ? 0 : chance(max(old, new) / blockSize, by: tolerance.cluster) * blockSize)
    case .liveBlocks: return max(relative, 8, runs > 1 ? 0 : chance(max(old, new), by: tolerance.liveCluster))
    case .allocatedBlocks, .temporaryBlocks:
      return max(relative, 8, runs > 1 ? 0 : chance(max(old, new), by: tolerance.cluster))
    // References are copied by the cluster: what is looked for in a hash table is compared with all that is in its way,
    // and the seed is another each time.
    case .retains, .releases:
      return max(relative, 64, runs > 1 ? 0 : Self.referenceCluster * chance(max(old, new), by: tolerance.cluster))
    }
  }

  /// By how much more retains stray than a count of independent events: with NSCache, which looks a key up by its text,
  /// 985 and 1,285 were seen of one build.
  private static let referenceCluster = 3.0

  /// Returns how far a count of independent events strays, or a count of what comes with them.
  private func chance(_ count: Double, by cluster: Double = 1) -> Double {
    tolerance.deviations * (cluster * count).squareRoot()
  }
}

extension Spread {
  /// Of at least one value. Of an even number of them the median is between the two in the middle.
  init(_ values: [Double]) {
    let sorted = values.sorted()
    self.init(
      lowest: sorted.first ?? 0,
      median: sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2,
      highest: sorted.last ?? 0)
  }
}
