// What became of findings.

/// Findings of both sides that belong together, judged figure by figure.
struct FindingChanges {
  private let old: [ComparedFindings.Entry]
  private let new: [ComparedFindings.Entry]
  private let judgement: FigureJudgement
  private let vocabulary: Vocabulary
  private let runs: (old: Int, new: Int)

  init(
    _ old: [ComparedFindings.Entry], _ new: [ComparedFindings.Entry], judgement: FigureJudgement, vocabulary: Vocabulary, runs: (old: Int, new: Int)
  ) {
    (self.old, self.new, self.judgement, self.vocabulary, self.runs) = (old, new, judgement, vocabulary, runs)
  }

  struct Result {
    var section = DiffSection<FindingChange>(changes: [], unchanged: 0, moved: 0, unsteady: 0)
    /// All of the new side.
    var judged: [JudgedFinding] = []
  }

  func compare(_ matching: NameMatching, _ alike: [FindingLikeness.Pair]) -> Result {
    var result = Result()
    var likeOld: Set<Int> = []
    var likeNew: Set<Int> = []
    for pair in alike {
      likeOld.insert(pair.old)
      likeNew.insert(pair.new)
      add(pair.old, pair.new, .likeness(pair.differences), isRemainder: pair.isRemainder, to: &result)
    }
    for (index, partner) in matching.partners.enumerated() {
      if let partner {
        add(index, partner.new, partner.isRenamed ? .renamed(renames(of: old[index])) : .exact, to: &result)
      } else if !likeOld.contains(index) {
        add(index, nil, nil, to: &result)
      }
    }
    for (index, isTaken) in matching.isTaken.enumerated() where !isTaken && !likeNew.contains(index) { add(nil, index, nil, to: &result) }
    result.section.changes.sort(by: Self.precedes)
    result.judged.sort { Self.size($0.finding) > Self.size($1.finding) }
    return result
  }

  private func add(_ before: Int?, _ after: Int?, _ match: DiffMatch?, isRemainder: Bool = false, to result: inout Result) {
    let none = (old: Array(repeating: 0.0, count: runs.old), new: Array(repeating: 0.0, count: runs.new))
    let figures = Figure.ofFindings.map { figure in
      judgement.change(figure, old: before.map { old[$0].values(figure) } ?? none.old, new: after.map { new[$0].values(figure) } ?? none.new)
    }
    let isWorse = figures.contains { $0.direction == .worse }
    let isBetter = figures.contains { $0.direction == .better }
    let kind: DiffKind?
    if before == nil {
      kind = isWorse ? .new : nil
    } else if after == nil {
      kind = isBetter ? .gone : nil
    } else if isRemainder {
      // What is retained now was so before, by objects that are not any more.
      kind = .better
    } else {
      kind = isWorse ? .worse : isBetter ? .better : nil
    }
    let change = FindingChange(
      kind: kind ?? .worse, old: before.map { old[$0].finding }, new: after.map { new[$0].finding }, match: match, figures: figures,
      oldRuns: before.map { old[$0].foundIn } ?? 0, newRuns: after.map { new[$0].foundIn } ?? 0)
    if kind != nil {
      result.section.changes.append(change)
    } else {
      result.section.unchanged += 1
      if let match, match != .exact { result.section.moved += 1 }
      if change.oldRuns < runs.old || change.newRuns < runs.new { result.section.unsteady += 1 }
    }
    guard let finding = change.new else { return }
    switch kind {
    case .new?: result.judged.append(JudgedFinding(finding, .new))
    case .worse?: result.judged.append(JudgedFinding(finding, .worse(DiffWords.figures(change))))
    default:
      let reason = kind == nil && before == nil ? "met in \(change.newRuns) of \(runs.new) runs" : ""
      result.judged.append(JudgedFinding(finding, .known(reason: reason)))
    }
  }

  private func renames(of entry: ComparedFindings.Entry) -> [DiffRename] {
    let parts = Set(entry.item.parts { $0 }.own)
    return DiffRename.simplest(
      parts.compactMap { part in vocabulary.successors[part].map { DiffRename(old: vocabulary.name(part), new: vocabulary.name($0)) } }.sorted())
  }

  private static func size(_ finding: Finding) -> (UInt64, Int, String) { (finding.retainedBytes.rawValue, finding.instances, finding.fingerprint) }

  /// By how many bytes more or less are retained, then instances.
  private static func precedes(_ a: FindingChange, _ b: FindingChange) -> Bool {
    func key(_ change: FindingChange) -> (Double, Double, String) {
      func difference(_ figure: Figure) -> Double { abs(change.figures.first { $0.figure == figure }?.difference ?? 0) }
      return (difference(.retainedBytes), difference(.instances), change.finding.fingerprint)
    }
    return key(a) > key(b)
  }
}

extension Verdict {
  /// In a sentence.
  var words: String {
    switch self {
    case .retainCycle: "a retain cycle"
    case .lost: "lost"
    case .deinitialised: "deinitialised and still held"
    case .suspended: "suspended for ever"
    case .dangling: "a dangling reference"
    case .outlived: "outliving its scope"
    case .accumulating: "accumulating"
    case .growing: "growing with each round"
    }
  }
}
