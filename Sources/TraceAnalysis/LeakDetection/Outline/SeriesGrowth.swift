// What grows in a series of images, and which of it is suspected.

import HeapAnalysis
import TraceReading

/// The growth of a series, ready to be shown. A value.
package struct SeriesGrowth: Sendable {
  package struct Row: Hashable, Sendable {
    package var row: HolderCensus.Row
    /// By image.
    package var figures: [HolderFigures]
    package var judgement: GrowthCurve.Judgement

    package var grown: Int64 { Int64(clamping: figures.last!.count) - Int64(clamping: figures.first!.count) }
    package var grownBytes: Int64 { Int64(clamping: figures.last!.bytes) - Int64(clamping: figures.first!.bytes) }
    package var grownRetained: Int64 {
      Int64(clamping: figures.last!.retainedBytes) - Int64(clamping: figures.first!.retainedBytes)
    }
    package var suspicion: GrowthSuspicion? { if case .suspect(let found) = judgement { found } else { nil } }
  }

  package var moments: [ImageMoment]
  /// Images that were taken, those that are not looked at any more included.
  package var taken: Int
  /// One for each cause, the most retained growth first.
  package var suspects: [Row] = []
  /// What else has become more from the first image to the last, the most retained growth first. What a suspect keeps
  /// is left out.
  package var grown: [Row] = []
  /// Proven findings, those with the most retained bytes first; their instances by image.
  package var findings: [ImageSeries.FindingHistory] = []
}

extension ImageSeries {
  /// O(rows · images).
  package func growth(rules: GrowthRules = .standard) -> SeriesGrowth {
    var growth = SeriesGrowth(moments: moments, taken: taken)
    growth.findings = findings.values.sorted {
      ($1.finding.retainedBytes.rawValue, $0.finding.fingerprint)
        < ($0.finding.retainedBytes.rawValue, $1.finding.fingerprint)
    }
    guard moments.count > 1 else { return growth }
    let times = moments.map(\.time)
    let totals = totalsByType()
    var found: [SeriesGrowth.Row] = []
    for history in rows.values {
      var row = SeriesGrowth.Row(
        row: history.row, figures: history.figures, judgement: .innocent(.hardlyGrows))
      guard row.grown > 0 || row.grownBytes > 0 else { continue }
      if row.row.isJudged {
        row.judgement = judge(history, times, total: totals[history.row.key.type] ?? [], rules)
      }
      found.append(row)
    }
    found.sort { ($1.grownRetained, $1.grown, $0.row.key) < ($0.grownRetained, $0.grown, $1.row.key) }
    choose(from: found, into: &growth)
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

  private func judge(_ history: History, _ times: [Double], total: [Double], _ rules: GrowthRules)
    -> GrowthCurve.Judgement
  {
    let curve = GrowthCurve(times: times, values: history.figures.map { Double($0.count) }, kept: history.kept)
    guard case .suspect(var suspicion) = curve.judged(by: rules) else { return curve.judged(by: rules) }
    // Objects of one type that move from one holder to another are no more than before.
    let judged = total.suffix(suspicion.images)
    let third = max(1, judged.count / 3)
    if let first = judged.prefix(third).min(), let last = judged.suffix(third).min(),
      last - first < Self.leastShareOfType * suspicion.rise
    {
      return .innocent(.sways)
    }
    // What tasks hold is mostly work under way, of which there is more when there is more to do.
    if history.row.holderKind == .task { suspicion.isStrong = false }
    return .suspect(suspicion)
  }

  /// The growth of all objects of a type, as a part of that of those with one holder.
  private static let leastShareOfType = 0.5

  /// Tells causes from what they keep.
  private func choose(from found: [SeriesGrowth.Row], into growth: inout SeriesGrowth) {
    // Of all that one holder keeps the program's own objects tell most.
    let candidates = found.filter { $0.suspicion != nil }.sorted {
      ($0.row.rank, -$0.grownRetained, $0.row.key) < ($1.row.rank, -$1.grownRetained, $1.row.key)
    }
    let types = Set(candidates.map(\.row.key.type))
    var holders: Set<String> = []
    var kept: Set<String> = []
    // What a suspect's objects have in their fields grows with them.
    let causes = candidates.filter { $0.row.owner.map { !types.contains($0) } ?? true }
    for row in causes.isEmpty ? candidates : causes where holders.insert(row.row.key.holder).inserted {
      growth.suspects.append(row)
      kept.insert(row.row.key.type)
    }
    growth.suspects.sort { ($1.grownRetained, $0.row.key) < ($0.grownRetained, $1.row.key) }
    // So does all that hangs from those.
    var hasMore = true
    while hasMore {
      hasMore = false
      for row in found where row.row.owner.map({ kept.contains($0) }) ?? false {
        if kept.insert(row.row.key.type).inserted { hasMore = true }
      }
    }
    growth.grown = found.filter { row in
      !holders.contains(row.row.key.holder) && !(row.row.owner.map { kept.contains($0) } ?? false)
    }
  }
}

extension HolderCensus.Row {
  /// Growth of it can be suspected: it is held by something that has a name and is there to hold. What threads work
  /// with comes and goes, libraries have caches of their own, and what nothing holds is a finding already.
  package var isJudged: Bool {
    switch holderKind {
    case .field, .variable, .task: kind != .sideTable
    case .thread, .library, .mapping, .nothing: false
    }
  }

  /// How much it tells: the lowest tells most.
  var rank: Int {
    switch kind {
    case .object: isPlatform ? 2 : 0
    case .closure, .task, .box, .error: 1
    case .array, .dictionary, .set: 3
    case .malloc, .sideTable: 4
    }
  }
}
