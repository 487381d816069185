// The changes of findings.

import LeakDetection
import LeakGates

/// Compares the matched findings of both sides, figure by figure.
struct FindingChanges {
  private let old: [ComparedFindings.Entry]
  private let new: [ComparedFindings.Entry]
  private let judgement: FigureJudgement
  private let vocabulary: Vocabulary
  private let runs: (old: Int, new: Int)

  init(
    _ old: [ComparedFindings.Entry], _ new: [ComparedFindings.Entry], judgement: FigureJudgement,
    vocabulary: Vocabulary, runs: (old: Int, new: Int)
  ) {
    (self.old, self.new, self.judgement, self.vocabulary, self.runs) = (old, new, judgement, vocabulary, runs)
  }

  struct Result {
    var section = DiffSection<FindingChange>(changes: [], unchanged: 0, moved: 0, unsteady: 0)
    /// All findings of the new side.
    var judged: [JudgedFinding] = []
  }

  func compare(_ matching: NameMatching, _ alike: [FindingLikeness.Pair]) -> Result {
    var pairs: [Pair] = []
    var likeOld: Set<Int> = []
    var likeNew: Set<Int> = []
    for pair in alike {
      likeOld.insert(pair.old)
      likeNew.insert(pair.new)
      pairs.append(self.pair(pair.old, pair.new, .likeness(pair.differences), isRemainder: pair.isRemainder))
    }
    for (index, partner) in matching.partners.enumerated() {
      if let partner {
        pairs.append(pair(index, partner.new, partner.isRenamed ? .renamed(renames(of: old[index])) : .exact))
      } else if !likeOld.contains(index) {
        pairs.append(pair(index, nil, nil))
      }
    }
    for (index, isTaken) in matching.isTaken.enumerated() where !isTaken && !likeNew.contains(index) {
      pairs.append(pair(nil, index, nil))
    }
    var result = Result()
    for pair in Self.joined(pairs) { add(pair, to: &result) }
    result.section.changes.sort(by: Self.precedes)
    result.judged.sort { Self.size($0.finding) > Self.size($1.finding) }
    return result
  }

  /// A change of matched findings. `kind`: nil if nothing has changed.
  private struct Pair {
    var change: FindingChange
    var kind: DiffKind?
  }

  private func pair(_ before: Int?, _ after: Int?, _ match: DiffMatch?, isRemainder: Bool = false) -> Pair {
    let none = (old: Array(repeating: 0.0, count: runs.old), new: Array(repeating: 0.0, count: runs.new))
    let figures = Figure.ofFindings.map { figure in
      judgement.change(
        figure, old: before.map { old[$0].values(figure) } ?? none.old,
        new: after.map { new[$0].values(figure) } ?? none.new,
        blockSize: chanceBlock([before.map { old[$0].finding }, after.map { new[$0].finding }].compactMap { $0 }))
    }
    let isWorse = figures.contains { $0.direction == .worse }
    let isBetter = figures.contains { $0.direction == .better }
    let isWeak = (before.map { old[$0].finding.isWeak } ?? true) && (after.map { new[$0].finding.isWeak } ?? true)
    let kind: DiffKind?
    if isWeak || isDrawn(before.map { old[$0].finding }, after.map { new[$0].finding }) {
      // Chance decides whether such suspicions and sampled places are found.
      kind = nil
    } else if before == nil {
      kind = isWorse ? .new : nil
    } else if after == nil {
      kind = isBetter ? .gone : nil
    } else if isRemainder {
      // The old finding's objects also retained this memory, and they no longer leak.
      kind = .better
    } else {
      kind = isWorse ? .worse : isBetter ? .better : nil
    }
    let change = FindingChange(
      kind: kind ?? .worse, old: before.map { old[$0].finding }, new: after.map { new[$0].finding }, match: match,
      figures: figures,
      oldRuns: before.map { old[$0].foundIn } ?? 0, newRuns: after.map { new[$0].foundIn } ?? 0)
    return Pair(change: change, kind: kind)
  }

  /// Returns whether sampling may explain the difference. For lost memory without a type, only samples show where it
  /// was allocated. Chance decides whether there are samples, and how many blocks they represent.
  func isDrawn(_ before: Finding?, _ after: Finding?) -> Bool {
    let drawn = [before, after].compactMap { $0 }.filter(\.isReportedBySamples)
    guard let only = drawn.first else { return false }
    return before != nil && after != nil || Double(only.sampledInstances) < EstimateJudgement.unseenPeriods
  }

  /// Returns the size in bytes of one block of those whose number depends on chance. Returns 0 for unreachable memory
  /// in a deterministic program, because chance has no influence there.
  func chanceBlock(_ findings: [Finding]) -> Double {
    guard judgement.tolerance.isTimeDependent || findings.contains(where: { $0.certainty == .suspected }) else {
      return 0
    }
    return findings.map { Double($0.retainedBytes.rawValue) / Double(max(1, $0.retainedBlocks)) }.max() ?? 0
  }

  /// Joins the changes of one cause at several places if they are of the same kind.
  private static func joined(_ pairs: [Pair]) -> [Pair] {
    struct Key: Hashable {
      var kind: DiffKind?
      var old: String?
      var new: String?
    }
    var numbers: [Key: Int] = [:]
    var result: [Pair] = []
    for pair in pairs {
      let key = Key(kind: pair.kind, old: pair.change.old?.fingerprint, new: pair.change.new?.fingerprint)
      guard pair.change.match == nil || pair.change.match == .exact, let known = numbers[key] else {
        if pair.change.match == nil || pair.change.match == .exact { numbers[key] = result.count }
        result.append(pair)
        continue
      }
      result[known].change.add(pair.change)
    }
    return result
  }

  private func add(_ pair: Pair, to result: inout Result) {
    let change = pair.change
    if pair.kind != nil {
      result.section.changes.append(change)
    } else {
      result.section.unchanged += 1
      if let match = change.match, match != .exact { result.section.moved += 1 }
      if change.oldRuns < runs.old || change.newRuns < runs.new { result.section.unsteady += 1 }
    }
    guard let finding = change.new else { return }
    let standing: JudgedFinding.Standing
    switch pair.kind {
    case .new?: standing = .new
    case .worse?: standing = .worse(DiffWords.figures(change))
    default:
      standing = .known(
        reason: pair.kind == nil && change.old == nil ? "met in \(change.newRuns) of \(runs.new) runs" : "")
    }
    // Suspicions count here. The finding is absent in the old build, and that is stronger evidence than a suspicion
    // alone.
    result.judged.append(JudgedFinding(finding, standing, judgesSuspicions: true))
  }

  func renames(of entry: ComparedFindings.Entry) -> [DiffRename] {
    let parts = Set(entry.item.parts { $0 }.own)
    return DiffRename.simplest(
      parts.compactMap { part in
        vocabulary.successors[part].map { DiffRename(old: vocabulary.name(part), new: vocabulary.name($0)) }
      }.sorted())
  }

  private static func size(_ finding: Finding) -> (UInt64, Int, String) {
    (finding.retainedBytes.rawValue, finding.instances, finding.fingerprint)
  }

  /// Orders changes by the difference in retained bytes, then in instances; the largest comes first.
  private static func precedes(_ a: FindingChange, _ b: FindingChange) -> Bool {
    func key(_ change: FindingChange) -> (Double, Double, String) {
      func difference(_ figure: Figure) -> Double { abs(change.figures.first { $0.figure == figure }?.difference ?? 0) }
      return (difference(.retainedBytes), difference(.instances), change.finding.fingerprint)
    }
    return key(a) > key(b)
  }
}

extension FindingChange {
  /// Adds the change of the same cause at another place.
  fileprivate mutating func add(_ other: FindingChange) {
    if let more = other.old { old?.add(more) }
    if let more = other.new { new?.add(more) }
    figures = zip(figures, other.figures).map { own, more in
      var sum = own
      sum.old += more.old
      sum.new += more.new
      sum.expected += more.expected
      if sum.direction == .same { sum.direction = more.direction }
      return sum
    }
    (oldRuns, newRuns) = (max(oldRuns, other.oldRuns), max(newRuns, other.newRuns))
  }
}

extension Spread {
  fileprivate static func += (a: inout Spread, b: Spread) {
    a.lowest += b.lowest
    a.median += b.median
    a.highest += b.highest
  }
}
