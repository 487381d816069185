// Separates real changes of a figure from chance.

/// The smallest difference that counts as a change. Each property is one limit that a difference must exceed.
package struct FigureTolerance: Hashable, Sendable {
  /// Share of the old value.
  var part: Double
  /// With one run per side: share of the old peak. The peak depends on the allocations that coincide.
  var partOfPeak: Double
  /// With one run per side: share of the old value of a site or type. The seeds of hash tables decide the order of
  /// encoded values, and the times when collections grow.
  var partOfSite: Double
  /// With one run per side: number of standard deviations of a count of independent events.
  var deviations: Double
  /// Average number of blocks and references that one event makes. If things come in groups, their count varies more.
  var cluster = 1.0
  /// Average number of blocks of one event that are live at the same time.
  var liveCluster = 1.0
  /// For a site or type: share of the whole program's figure. Chance, such as the order of threads or of a hash table,
  /// often decides which part of a program allocates a few blocks.
  var minPart: Double
  /// For a site or type: share of the whole program's live figure at one moment.
  var minLivePart: Double

  /// For several runs per side, and for deterministic programs. Only the seeds of their hash tables may vary.
  package static let standard = FigureTolerance(
    part: 0.05, partOfPeak: 0.05, deviations: 4, partOfSite: 0.2, minPart: 0.005, minLivePart: 0.005)
  /// For a few runs per side of a program whose work depends on timing. With several busy threads, scheduling decides
  /// how tasks are split, which blocks are temporary and which coincide. Scheduling also decides whether an actor gets
  /// one job or two for each waiter. A task in progress has about three blocks. One site of a small server had 7 jobs
  /// in one run and 114 in another; the numbers of live blocks were 220 and 337.
  static let timeDependent: FigureTolerance = {
    var tolerance = FigureTolerance(
      part: 0.05, partOfPeak: 0.5, deviations: 6, partOfSite: 0.5, minPart: 0.02, minLivePart: 0.05)
    (tolerance.cluster, tolerance.liveCluster) = (3, 3)
    return tolerance
  }()
  /// For a program with a run loop, whose number of turns depends on time. One turn of the run loop of
  /// swift-corelibs-foundation makes about eight blocks. The turns of 30 timers made 443 temporary blocks in one run
  /// and 233 in the next.
  static let runLoop: FigureTolerance = {
    var tolerance = timeDependent
    tolerance.cluster = 8
    return tolerance
  }()
  /// For one process that was inspected twice. The seeds of its hash tables are the same, and the user wants to see its
  /// growth, so all differences beyond Poisson noise count.
  static let sameProcess: FigureTolerance = {
    var tolerance = FigureTolerance(
      part: 0, partOfPeak: 0, deviations: 2, partOfSite: 0, minPart: 0, minLivePart: 0)
    tolerance.liveCluster = 1
    return tolerance
  }()
  /// True if chance decides which function does which work, and when.
  var isTimeDependent: Bool { self == .timeDependent || self == .runLoop }
  /// Every difference counts.
  package static let none = FigureTolerance(
    part: 0, partOfPeak: 0, deviations: 0, partOfSite: 0, minPart: 0, minLivePart: 0)

  /// `part`: 0.05 for five percent.
  package init(part: Double) {
    self =
      part == 0
      ? .none
      : FigureTolerance(
        part: part, partOfPeak: part, deviations: 4, partOfSite: part, minPart: 0.0025, minLivePart: 0.0025)
  }

  private init(
    part: Double, partOfPeak: Double, deviations: Double, partOfSite: Double, minPart: Double, minLivePart: Double
  ) {
    (self.part, self.partOfPeak, self.deviations, self.partOfSite) = (part, partOfPeak, deviations, partOfSite)
    (self.minPart, self.minLivePart) = (minPart, minLivePart)
  }
}

/// Decides which differences between two builds' figures exceed chance.
///
/// Several runs per side show the effect of chance. A change then counts if all values of one side are above all values
/// of the other, and the gap is larger than the wider side's range. With more runs, a smaller gap suffices.
///
/// One run per side does not show the effect of chance. A change must then exceed the tolerance and the Poisson noise
/// of a count of that size.
struct FigureJudgement {
  var tolerance: FigureTolerance
  /// The amount of work of each run in the requested unit; nil if runs are compared as they are.
  var work: (old: [Double], new: [Double])?
  /// True if work is counted in events, not in units that the program names. A part of a figure may then grow with the
  /// work while the rest stays constant.
  var isWorkDerived = false

  init(tolerance: FigureTolerance = .standard, work: (old: [Double], new: [Double])? = nil, isWorkDerived: Bool = false)
  {
    (self.tolerance, self.work, self.isWorkDerived) = (tolerance, work, isWorkDerived)
  }

  /// Assumed bytes of a block if block sizes are not known.
  static let smallBlock = 64.0

  /// The new amount of work divided by the old one; 1 if runs are compared as they are.
  var workRatio: Double {
    guard let work else { return 1 }
    let old = Spread(work.old).median
    return old > 0 ? Spread(work.new).median / old : 1
  }

  /// Judges a figure by its values in the runs of both sides.
  ///
  /// With a unit of work, a figure counts as independent of the work if it stays the same while the amount of work
  /// differs. All other figures are expected to be proportional to the work.
  ///
  /// `expected`: for a sum, the sum of the expected values of its parts. `stray`: for a sum, the largest change that
  /// chance may make. `whole`: for a part of the program, the whole program's figure. `blockSize`: for a figure in
  /// bytes, the size of one block whose existence may depend on chance.
  func change(
    _ figure: Figure, old: [Double], new: [Double], expected: Double? = nil, stray: Double = 0, whole: Double = 0,
    blockSize: Double = Self.smallBlock
  ) -> FigureChange {
    let plain = FigureChange(
      figure: figure, old: Spread(old), new: Spread(new), expected: Spread(old).median, direction: .same)
    let runs = min(old.count, new.count)
    let isLive = figure == .liveBytes || figure == .liveBlocks || figure == .peakBytes
    let least = max(
      whole * (isLive ? tolerance.minLivePart : tolerance.minPart), runs > 1 || tolerance == .none ? 0 : stray)
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
    // The figure changed, but by less than the work did. A constant part would explain that, so the change does not
    // count.
    if isWorkDerived, inProportion.direction != asIs.direction {
      var between = inProportion
      between.direction = .same
      return between
    }
    return inProportion
  }

  /// Returns the values that are expected if each run does the median amount of work of its side.
  private func perWork(_ values: [Double], _ work: [Double]) -> [Double] {
    let middle = Spread(work).median
    return zip(values, work).map { $1 > 0 ? $0 * middle / $1 : $0 }
  }

  /// `factor`: multiplies the old values to make them comparable.
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
      // If a cause occurs in every run of one side and in no run of the other, the range of the values does not matter.
      let isPresence = Figure.ofFindings.contains(change.figure) && min(old.highest, new.highest) == 0
      let width = max(old.highest - old.lowest, new.highest - new.lowest)
      guard gap > (isPresence ? 0 : width * Self.margin(runs: runs)) else { return change }
    }
    change.direction = difference > 0 ? .worse : .better
    return change
  }

  /// Returns the minimum gap between the sides, as a share of the wider side's range. Fewer runs show less of the
  /// effect of chance, so they need a larger gap.
  private static func margin(runs: Int) -> Double {
    switch runs {
    case 2: 1
    case 3: 0.5
    // With five runs per side, chance puts all values of one side above all of the other in 1 of 126 cases, for each
    // figure that varies at all. With eight runs, it does so in 1 of 6,435 cases.
    case 4...7: 0.25
    default: 0
    }
  }

  /// Relates the figures of one item to each other. If a leak is fixed, its objects get one more release and may become
  /// temporary. So releases count only if retains changed in the same direction. Temporary blocks count only if
  /// allocations changed about as much.
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
    // There are few causes, and each one is judged by itself.
    case .instances: return max(relative, 0.5)
    // The retained memory includes parts that vary by chance, such as the links of queues and a timer's contents.
    case .retainedBytes: return max(relative, 32, runs > 1 ? 0 : chance(max(old, new) / max(blockSize, 1)) * blockSize)
    // The quarters of the work depend on the time of the heap image, and so does the growth.
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
    // References are copied in groups: a lookup in a hash table compares the key with all keys on its probe path, and
    // the seed differs in each run.
    case .retains, .releases:
      return max(relative, 64, runs > 1 ? 0 : Self.referenceCluster * chance(max(old, new), by: tolerance.cluster))
    }
  }

  /// Retains vary by this factor more than a count of independent events. With NSCache, which looks up a key by its
  /// text, two runs of one build had 985 and 1,285 retains.
  private static let referenceCluster = 3.0

  /// Returns the variation of a count by chance. The count is of independent events, or of things that such events make
  /// in groups of `cluster`.
  private func chance(_ count: Double, by cluster: Double = 1) -> Double {
    tolerance.deviations * (cluster * count).squareRoot()
  }
}

extension Spread {
  /// There should be at least one value. For an even number of values, the median is the mean of the middle two.
  init(_ values: [Double]) {
    let sorted = values.sorted()
    self.init(
      lowest: sorted.first ?? 0,
      median: sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2,
      highest: sorted.last ?? 0)
  }
}
