// Finds the rows that grow in a series of heap images, and the rows that are suspected of a leak.

import HeapAnalysis
import TraceReading

/// The growth of a series, ready to be shown.
package struct SeriesGrowth: Sendable {
  package struct Row: Hashable, Sendable {
    package var row: HolderCensus.Row
    /// The figures of the row in each heap image.
    package var figures: [HolderFigures]
    package var judgement: GrowthCurve.Judgement

    package var grown: Int64 { Int64(clamping: figures.last!.count) - Int64(clamping: figures.first!.count) }
    var grownBytes: Int64 { Int64(clamping: figures.last!.bytes) - Int64(clamping: figures.first!.bytes) }
    var grownRetained: Int64 {
      Int64(clamping: figures.last!.retainedBytes) - Int64(clamping: figures.first!.retainedBytes)
    }
    package var suspicion: GrowthSuspicion? { if case .suspect(let found) = judgement { found } else { nil } }
  }

  package var moments: [ImageMoment]
  /// The number of heap images taken, including those that were dropped.
  package var taken: Int
  /// One row for each cause, in descending order of retained growth.
  package var suspects: [Row] = []
  /// Other rows that grew from the first heap image to the last, in descending order of retained growth. Leaves out
  /// rows whose objects a suspect keeps.
  package var grown: [Row] = []
  /// Proven findings with their instances in each heap image, in descending order of retained bytes.
  package var findings: [ImageSeries.FindingHistory] = []
  /// The level of the live memory, if no row is suspected; nil if memory still grows.
  package var level: MemoryLevel?
}

extension ImageSeries {
  /// Judges all rows that grew. O(rows · images).
  package func growth(rules: GrowthRules = .standard) -> SeriesGrowth {
    var growth = SeriesGrowth(moments: moments, taken: taken)
    growth.findings = findings.values.sorted {
      ($1.finding.retainedBytes.rawValue, $0.finding.fingerprint)
        < ($0.finding.retainedBytes.rawValue, $1.finding.fingerprint)
    }
    guard moments.count > 1 else { return growth }
    let times = moments.map(\.time)
    let totals = totalsByType()
    let platformTypes = Set(rows.values.lazy.filter(\.row.isPlatform).map(\.row.key.type))
    var found: [SeriesGrowth.Row] = []
    for history in rows.values {
      var row = SeriesGrowth.Row(
        row: history.row, figures: history.figures, judgement: .innocent(.hardlyGrows))
      guard row.grown > 0 || row.grownBytes > 0 else { continue }
      if row.row.isJudged {
        row.judgement = judge(history, times, totals, platformTypes, rules)
      }
      found.append(row)
    }
    // A collection has no samples. If the objects of its holder are replaced by others, so are its elements.
    let replaced = Set(found.filter { $0.judgement == .innocent(.turnsOver) }.map(\.row.key.holder))
    for index in found.indices where found[index].row.kind.isCollection && found[index].suspicion != nil {
      if replaced.contains(found[index].row.key.holder) { found[index].judgement = .innocent(.turnsOver) }
    }
    found.sort { ($1.grownRetained, $1.grown, $0.row.key) < ($0.grownRetained, $0.grown, $1.row.key) }
    choose(from: found, into: &growth)
    if growth.suspects.isEmpty { growth.level = memoryLevel }
    return growth
  }

  private func totalsByType() -> [String: [Double]] {
    var totals: [String: [Double]] = [:]
    for history in rows.values {
      var total = totals[history.row.key.type] ?? Array(repeating: 0, count: moments.count)
      for (index, figures) in history.figures.enumerated() { total[index] += Double(figures.count) }
      totals[history.row.key.type] = total
    }
    return totals
  }

  private func judge(
    _ history: History, _ times: [Double], _ totals: [String: [Double]], _ platformTypes: Set<String>,
    _ rules: GrowthRules
  ) -> GrowthCurve.Judgement {
    let total = totals[history.row.key.type] ?? []
    let values = Self.withoutMoves(history.figures.map { Double($0.count) }, total: total)
    let judgement = GrowthCurve(times: times, values: values, kept: history.kept).judged(by: rules)
    guard case .suspect(var suspicion) = judgement else { return judgement }
    // If objects only move to this holder from another one, the total of their type does not grow.
    let judged = total.suffix(suspicion.images)
    let third = max(1, judged.count / 3)
    if let first = judged.prefix(third).min(), let last = judged.suffix(third).min(),
      last - first < Self.minShareOfType * suspicion.rise
    {
      return .innocent(.sways)
    }
    let start = times.count - suspicion.images
    if !lasts(history.row.key, values, from: start, rules) { return .innocent(.turnsOver) }
    // Growth in proportion to the number of holders is harmless. But if the holders are a library's objects, such as
    // timers, the program made them. Then judge the program's own objects in them.
    if let owner = history.row.owner, let holders = totals[owner],
      !(history.row.isOwnObject && platformTypes.contains(owner)),
      Self.growsWith(holders[start...], values[start...], rules)
    {
      return .innocent(.growsWithHolder)
    }
    switch history.row.holderKind {
    // The objects that tasks hold mostly belong to work in progress, which grows with the load.
    case .task: suspicion.isStrong = false
    case .library:
      let kept = history.kept[(start + 1)...].compactMap(\.self).sorted()
      if kept.isEmpty || kept[kept.count / 2] < rules.minKeptByLibrary { suspicion.isStrong = false }
    default: break
    }
    return .suspect(suspicion)
  }

  /// Fills gaps where objects have another holder in one heap image and their old holder again in the next. While a
  /// collection grows, the thread that grows it is briefly the only holder of its memory.
  private static func withoutMoves(_ values: [Double], total: [Double]) -> [Double] {
    var result = values
    for index in values.indices.dropFirst().dropLast() where total.count == values.count {
      let (before, now, after) = (result[index - 1], values[index], values[index + 1])
      guard now < before, after >= before else { continue }
      let elsewhere = (total[index] - now) - (total[index - 1] - values[index - 1])
      if elsewhere >= before - now { result[index] = before }
    }
    return result
  }

  /// Returns whether enough objects of an earlier heap image still exist to account for the growth up to that image.
  private func lasts(_ key: HolderCensus.Key, _ values: [Double], from start: Int, _ rules: GrowthRules) -> Bool {
    guard let (image, share) = lastingShare(of: key, from: start) else { return true }
    let grown = values[image] - (image >= start ? values[start] : values[0])
    return grown < rules.minRise || share * values[image] >= rules.minLasting * grown
  }

  /// Returns whether the number of holders grew, while the number of objects per holder did not. Compares the averages
  /// of the first third and the last third.
  private static func growsWith(
    _ holders: ArraySlice<Double>, _ values: ArraySlice<Double>, _ rules: GrowthRules
  ) -> Bool {
    let third = max(1, values.count / 3)
    func mean(_ values: ArraySlice<Double>) -> Double { values.reduce(0, +) / Double(values.count) }
    let (fewer, more) = (mean(holders.prefix(third)), mean(holders.suffix(third)))
    guard more - fewer >= rules.minRise else { return false }
    let (early, late) = (max(1, mean(values.prefix(third))), mean(values.suffix(third)))
    return late / more <= rules.maxForEachHolder * early / max(1, fewer)
  }

  /// Minimum growth of all objects of a type, as a share of the growth of the objects that one holder has.
  private static let minShareOfType = 0.5

  /// Separates the causes from the rows whose objects they keep.
  private func choose(from found: [SeriesGrowth.Row], into growth: inout SeriesGrowth) {
    // Among the objects that one holder keeps, the program's own are the most informative.
    let candidates = found.filter { $0.suspicion != nil }.sorted {
      ($0.row.rank, -$0.grownRetained, $0.row.key) < ($1.row.rank, -$1.grownRetained, $1.row.key)
    }
    // The growing types that a type's objects hold, and the types whose objects hold a type, by type.
    var held: [String: Set<String>] = [:]
    var holding: [String: Set<String>] = [:]
    for row in found {
      guard let owner = row.row.owner else { continue }
      held[owner, default: []].insert(row.row.key.type)
      holding[row.row.key.type, default: []].insert(owner)
    }
    func isHeld(_ row: SeriesGrowth.Row, by types: Set<String>) -> Bool {
      row.row.owner.map { types.contains($0) } ?? false
    }
    // If the objects of a suspect grow in number, the objects that they keep grow too, directly or through others. So
    // these are not causes. The exception is the program's own objects that a library's objects hold: the program's
    // objects are more informative.
    let below = Self.reached(from: candidates.filter { !$0.row.isPlatform }.map(\.row.key.type), held)
    let above = Self.reached(from: candidates.filter { $0.row.isOwnObject }.compactMap(\.row.owner), holding)
    let causes = candidates.filter { row in
      !isHeld(row, by: below) && !(row.row.isPlatform && above.contains(row.row.key.type))
    }
    var holders: Set<String> = []
    for row in causes.isEmpty ? candidates : causes where holders.insert(row.row.key.holder).inserted {
      growth.suspects.append(row)
    }
    growth.suspects.sort { ($1.grownRetained, $0.row.key) < ($0.grownRetained, $1.row.key) }
    let kept = Self.reached(from: growth.suspects.map(\.row.key.type), held)
    growth.grown = found.filter { row in !holders.contains(row.row.key.holder) && !isHeld(row, by: kept) }
  }

  /// Returns the types and all types that they lead to. Linear in the result.
  private static func reached(from types: [String], _ next: [String: Set<String>]) -> Set<String> {
    var reached = Set(types)
    var pending = Array(reached)
    while let type = pending.popLast() {
      for other in next[type] ?? [] where reached.insert(other).inserted { pending.append(other) }
    }
    return reached
  }
}

extension HolderCensus.Row {
  /// True if the row's growth can be suspected: the holder must have a name and must last. Objects that threads work
  /// with come and go, and unreachable objects are findings already. Libraries have caches of their own. So among the
  /// objects that libraries hold, only the program's own objects are judged.
  package var isJudged: Bool {
    switch holderKind {
    case .field, .variable, .task: kind != .sideTable
    case .library: isOwnObject
    case .thread, .mapping, .nothing: false
    }
  }

  /// True if the row's objects are of a class of the program.
  var isOwnObject: Bool { kind == .object && !isPlatform }

  /// The rank of the row's kind by how informative its objects are; 0 is the most informative.
  var rank: Int {
    switch kind {
    case .object: isPlatform ? 2 : 0
    case .closure, .task, .box, .error: 1
    case .array, .dictionary, .set: 3
    case .malloc, .sideTable: 4
    }
  }
}
