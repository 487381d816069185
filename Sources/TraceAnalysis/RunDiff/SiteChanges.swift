// The changes of sites, and of types as sums of their sites.

import TraceReading

/// Pairs of sites that belong together, judged figure by figure.
struct SiteChanges {
  private struct Pair {
    /// The index of the site on the old side; nil if that side has no such site.
    var old: Int?
    var new: Int?
    var match: DiffMatch?
  }

  private let old: [ComparedSites.Entry]
  private let new: [ComparedSites.Entry]
  private let judgement: FigureJudgement
  private let vocabulary: Vocabulary
  private var pairs: [Pair] = []
  private let noneOld: [SiteTotal]
  private let noneNew: [SiteTotal]
  /// The whole program's figures.
  private let wholes: [Figure: Double]

  init(
    old: [ComparedSites.Entry], new: [ComparedSites.Entry], wholes: [Figure: Double], judgement: FigureJudgement,
    vocabulary: Vocabulary
  ) {
    (self.old, self.new, self.wholes, self.judgement, self.vocabulary) = (old, new, wholes, judgement, vocabulary)
    noneOld = Array(repeating: SiteTotal(), count: old.first?.totals.count ?? judgement.work?.old.count ?? 1)
    noneNew = Array(repeating: SiteTotal(), count: new.first?.totals.count ?? judgement.work?.new.count ?? 1)
  }

  mutating func match(_ matching: NameMatching, alike: [(old: Int, new: Int)]) {
    var alikeOld: Set<Int> = []
    var alikeNew: Set<Int> = []
    for pair in alike {
      alikeOld.insert(pair.old)
      alikeNew.insert(pair.new)
      let differences = SiteLikeness.differences(
        Array(old[pair.old].functions), Array(new[pair.new].functions), vocabulary)
      pairs.append(Pair(old: pair.old, new: pair.new, match: .likeness(differences)))
    }
    for (index, partner) in matching.partners.enumerated() {
      if let partner {
        pairs.append(
          Pair(
            old: index, new: partner.new,
            match: partner.isRenamed ? .renamed(vocabulary.renames(of: old[index].parts)) : .exact))
      } else if !alikeOld.contains(index) {
        pairs.append(Pair(old: index, new: nil, match: nil))
      }
    }
    for (index, isTaken) in matching.isTaken.enumerated() where !isTaken && !alikeNew.contains(index) {
      pairs.append(Pair(old: nil, new: index, match: nil))
    }
  }

  private func values(_ pair: Pair, _ figure: Figure) -> (old: [Double], new: [Double]) {
    if isChance(pair) { return (noneOld.map { _ in 0 }, noneNew.map { _ in 0 }) }
    return (
      (pair.old.map { old[$0].totals } ?? noneOld).map { Double($0[figure]) },
      (pair.new.map { new[$0].totals } ?? noneNew).map { Double($0[figure]) }
    )
  }

  /// Returns whether chance decides the number of the site's blocks. libdispatch keeps the links of its queues for
  /// reuse, so the number of links depends on how much was queued at the same time.
  private func isChance(_ pair: Pair) -> Bool {
    guard judgement.tolerance.isTimeDependent, let entry = pair.new.map({ new[$0] }) ?? pair.old.map({ old[$0] }) else {
      return false
    }
    return vocabulary.name(entry.type) == QueueLinks.name
      || entry.functions.first.map { QueueLinks.allocators.matches(vocabulary.name($0)) } ?? false
  }

  private func change(_ pair: Pair, _ figure: Figure) -> FigureChange {
    let (before, after) = values(pair, figure)
    return judgement.change(
      figure, old: before, new: after, whole: wholes[figure] ?? 0, blockSize: blockSize(pair, figure))
  }

  /// Returns the block size for judging a figure. If work depends on timing, chance decides which function allocates a
  /// large block, so use the site's average block size.
  private func blockSize(_ pair: Pair, _ figure: Figure) -> Double {
    guard judgement.tolerance.isTimeDependent, figure == .allocatedBytes || figure == .liveBytes else {
      return FigureJudgement.smallBlock
    }
    let blocks: Figure = figure == .liveBytes ? .liveBlocks : .allocatedBlocks
    let totals = (pair.old.map { old[$0].totals } ?? []) + (pair.new.map { new[$0].totals } ?? [])
    return totals.map { Double($0[figure]) / max(1, Double($0[blocks])) }.max().map {
      max($0, FigureJudgement.smallBlock)
    } ?? FigureJudgement.smallBlock
  }

  /// Returns the sum of the sites' expected values.
  func expectedSum(_ figure: Figure) -> Double { pairs.reduce(0) { $0 + expected($1, figure) } }

  /// Returns the variation by chance of the sum of all sites, in bytes. If a site's number of blocks differs between
  /// the sides, the number varies by up to its square root. For example, reading a directory allocates a buffer of 32
  /// KiB. One more such buffer is not a change, even in a small program.
  func strayOfSum(_ figure: Figure) -> Double {
    let count: Figure
    switch figure {
    case .allocatedBytes: count = .allocatedBlocks
    case .liveBytes: count = .liveBlocks
    default: return 0
    }
    func sum(_ totals: [SiteTotal], _ figure: Figure) -> Double { totals.reduce(0) { $0 + Double($1[figure]) } }
    let variance = pairs.reduce(0.0) { variance, pair in
      let (before, after) = (pair.old.map { old[$0].totals } ?? noneOld, pair.new.map { new[$0].totals } ?? noneNew)
      let (blocks, more) = (sum(before, count), sum(after, count))
      guard blocks != more else { return variance }
      // A change in block sizes does not count here, so use the smaller size.
      let sizes = [(blocks, sum(before, figure)), (more, sum(after, figure))].compactMap { $0 > 0 ? $1 / $0 : nil }
      let size = sizes.min() ?? 0
      return variance + min((more - blocks) * (more - blocks), max(blocks, more)) * size * size
    }
    return Self.strayDeviations * variance.squareRoot()
  }

  /// The number of standard deviations to allow. It is low because a change in the numbers may also be intended.
  private static let strayDeviations = 2.0

  private func expected(_ pair: Pair, _ figure: Figure) -> Double {
    // Sites that are not judged are expected to have their new value, because the sum contains them, too.
    if isChance(pair) { return Spread((pair.new.map { new[$0].totals } ?? noneNew).map { Double($0[figure]) }).median }
    let change = change(pair, figure)
    return change.direction == .same && judgement.work != nil ? change.new.median : change.expected
  }

  // MARK: Reports

  /// Returns the sites that have changed, largest first.
  func sites(_ figures: [Figure], totals: [FigureChange], frames: (ComparedSites.Entry, Vocabulary.Side) -> [DiffFrame])
    -> DiffSection<AllocationChange>
  {
    var section = DiffSection<AllocationChange>(changes: [], unchanged: 0, moved: 0, unsteady: 0)
    for pair in pairs {
      let changes = Self.weighed(figures.map { change(pair, $0) }, totals)
      guard let kind = Self.kind(changes, isOld: pair.old != nil, isNew: pair.new != nil) else {
        if pair.old != nil, pair.new != nil { Self.count(pair.match, in: &section) }
        continue
      }
      let name = vocabulary.name(pair.new.map { new[$0].type } ?? old[pair.old!].type)
      let oldName = pair.old.map { vocabulary.name(old[$0].type) }
      section.changes.append(
        AllocationChange(
          kind: kind, name: name, oldName: oldName == name ? nil : oldName,
          frames: pair.new.map { frames(new[$0], .new) } ?? frames(old[pair.old!], .old),
          match: pair.match, figures: changes, weight: Self.weight(changes, totals)))
    }
    section.changes.sort(by: Self.precedes)
    return section
  }

  /// Returns the types whose sums over their sites have changed.
  func types(_ figures: [Figure], totals: [FigureChange]) -> DiffSection<AllocationChange> {
    struct Sum {
      var oldName: Int32?
      var isOld = false
      var isNew = false
      var pairs: [Pair] = []
    }
    var sums: [Int32: Sum] = [:]
    for pair in pairs {
      let before = pair.old.map { old[$0].type }
      let after = pair.new.map { new[$0].type }
      guard let type = after ?? before.map({ vocabulary.current($0) }) else { continue }
      sums[type, default: Sum()].pairs.append(pair)
      if let before {
        sums[type, default: Sum()].isOld = true
        if before != type { sums[type, default: Sum()].oldName = before }
      }
      if after != nil { sums[type, default: Sum()].isNew = true }
    }
    var section = DiffSection<AllocationChange>(changes: [], unchanged: 0, moved: 0, unsteady: 0)
    for (type, sum) in sums {
      let changes = Self.weighed(figures.map { change(of: sum.pairs, $0) }, totals)
      let match: DiffMatch? =
        sum.oldName.map { .renamed([DiffRename(old: vocabulary.name($0), new: vocabulary.name(type))]) }
        ?? (sum.isOld && sum.isNew ? .exact : nil)
      guard let kind = Self.kind(changes, isOld: sum.isOld, isNew: sum.isNew) else {
        if sum.isOld, sum.isNew { Self.count(match, in: &section) }
        continue
      }
      section.changes.append(
        AllocationChange(
          kind: kind, name: vocabulary.name(type), oldName: sum.oldName.map(vocabulary.name), frames: [], match: match,
          figures: changes,
          weight: Self.weight(changes, totals)))
    }
    section.changes.sort(by: Self.precedes)
    return section
  }

  private func change(of pairs: [Pair], _ figure: Figure) -> FigureChange {
    var before = noneOld.map { _ in 0.0 }
    var after = noneNew.map { _ in 0.0 }
    for pair in pairs {
      let (old, new) = values(pair, figure)
      for index in before.indices { before[index] += old[index] }
      for index in after.indices { after[index] += new[index] }
    }
    // Both sums leave out sites that are not judged.
    let expected =
      judgement.work == nil ? nil : pairs.filter { !isChance($0) }.reduce(0) { $0 + self.expected($1, figure) }
    return judgement.change(figure, old: before, new: after, expected: expected, whole: wholes[figure] ?? 0)
  }

  // MARK: Kinds

  /// Returns the changes that count. A site's share of the peak counts only if the peak itself changed in the same
  /// direction, since chance decides which of two similar peaks is the higher one.
  private static func weighed(_ changes: [FigureChange], _ totals: [FigureChange]) -> [FigureChange] {
    let whole = totals.first { $0.figure == .peakBytes }?.direction
    return FigureJudgement.related(changes).map { change in
      guard change.figure == .peakBytes, change.direction != whole else { return change }
      var change = change
      change.direction = .same
      return change
    }
  }

  private static func kind(_ changes: [FigureChange], isOld: Bool, isNew: Bool) -> DiffKind? {
    let isWorse = changes.contains { $0.direction == .worse }
    let isBetter = changes.contains { $0.direction == .better }
    guard isWorse || isBetter else { return nil }
    if !isOld { return .new }
    if !isNew { return .gone }
    return isWorse ? .worse : .better
  }

  private static func count(_ match: DiffMatch?, in section: inout DiffSection<AllocationChange>) {
    section.unchanged += 1
    if case .exact? = match { return }
    section.moved += 1
  }

  private static func weight(_ changes: [FigureChange], _ totals: [FigureChange]) -> Double {
    var weight = 0.0
    for change in changes where change.direction != .same {
      guard let total = totals.first(where: { $0.figure == change.figure }) else { continue }
      let whole = max(total.old.median, total.new.median, 1)
      weight = max(weight, min(1, abs(change.difference) / whole))
    }
    return weight
  }

  private static func precedes(_ a: AllocationChange, _ b: AllocationChange) -> Bool {
    if a.weight != b.weight { return a.weight > b.weight }
    if a.name != b.name { return a.name < b.name }
    return a.frames.map(\.stableName).lexicographicallyPrecedes(b.frames.map(\.stableName))
  }
}
