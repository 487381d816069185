// The changes of estimated sites.

import AllocationReports

/// A changed site of light recordings, according to samples.
package struct EstimatedSiteChange: ChangeOfKind {
  /// The kind of change. `new` and `gone` mean that the other side has no sample of the site.
  package var kind: DiffKind
  /// The frames of the site, innermost first; never empty.
  package var frames: [DiffFrame]
  package var match: DiffMatch?
  /// The changes of live and allocated bytes.
  package var figures: [EstimateChange]
  /// The largest change, as a share of the whole program's estimate, from 0 to 1.
  package var weight: Double

  package init(
    kind: DiffKind, frames: [DiffFrame], match: DiffMatch?, figures: [EstimateChange], weight: Double
  ) {
    (self.kind, self.frames, self.match) = (kind, frames, match)
    (self.figures, self.weight) = (figures, weight)
  }

  /// The innermost function's name.
  package var name: String { frames.first?.function ?? "" }
}

/// Pairs of estimated sites that belong together, judged figure by figure.
struct EstimateChanges {
  private struct Pair {
    /// The index of the site on the old side; nil if that side has no such site.
    var old: Int?
    var new: Int?
    var match: DiffMatch?
    var figures: [EstimateChange]

    var isChanged: Bool { figures.contains { $0.change.direction != .same } }
  }

  private let old: ComparedEstimates
  private let new: ComparedEstimates
  private let judgement: EstimateJudgement
  private let vocabulary: Vocabulary
  private let none: (old: [ByteEstimate], new: [ByteEstimate])
  private var pairs: [Pair] = []

  /// `runs`: the number of runs of each side.
  init(
    old: ComparedEstimates, new: ComparedEstimates, judgement: EstimateJudgement, vocabulary: Vocabulary,
    runs: (old: Int, new: Int)
  ) {
    (self.old, self.new, self.judgement, self.vocabulary) = (old, new, judgement, vocabulary)
    func none(_ count: Int) -> [ByteEstimate] { Array(repeating: ByteEstimate(bytes: 0, error: 0), count: count) }
    self.none = (none(runs.old), none(runs.new))
    match()
    matchAlike()
  }

  /// Matches sites by name, with the renames that the comparison has found. There are too few samples to find more
  /// renames.
  private mutating func match() {
    var matching = NameMatching(old: old.entries.map(\.item), new: new.entries.map(\.item))
    matching.matchEqual(old.entries.map(\.item), new.entries.map(\.item), vocabulary, isRenamed: false)
    if matching.follow(old.entries.map(\.item), vocabulary) {
      matching.matchEqual(old.entries.map(\.item), new.entries.map(\.item), vocabulary, isRenamed: true)
    }
    for (index, partner) in matching.partners.enumerated() {
      let functions = old.entries[index].functions
      let isRenamed = functions.contains { vocabulary.successors[$0] != nil }
      let match: DiffMatch? = partner.map { _ in isRenamed ? .renamed(vocabulary.renames(of: functions)) : .exact }
      add(old: index, new: partner?.new, match)
    }
    for (index, isTaken) in matching.isTaken.enumerated() where !isTaken { add(old: nil, new: index, nil) }
  }

  private mutating func add(old before: Int?, new after: Int?, _ match: DiffMatch?) {
    pairs.append(Pair(old: before, new: after, match: match, figures: changes(before, after)))
  }

  private func changes(_ before: Int?, _ after: Int?) -> [EstimateChange] {
    ComparedEstimates.figures.map { figure in
      judgement.change(
        figure, old: before.map { old.entries[$0][figure] } ?? none.old,
        new: after.map { new.entries[$0][figure] } ?? none.new, whole: whole(figure))
    }
  }

  private func whole(_ figure: Figure) -> Double { max(old.wholes[figure] ?? 0, new.wholes[figure] ?? 0) }

  /// Pairs sites that seem gone with sites that seem new, with the same rules as for stacks of sites. Compares only
  /// sites whose change exceeds sampling error, because chance decides which of the other sites have a sample. Compares
  /// no sites if there are too many.
  private mutating func matchAlike() {
    let gone = pairs.indices.filter { pairs[$0].new == nil && pairs[$0].isChanged }
    let come = pairs.indices.filter { pairs[$0].old == nil && pairs[$0].isChanged }
    guard gone.count * come.count <= SiteLikeness.pairLimit else { return }
    var candidates: [(old: Int, new: Int, likeness: Double)] = []
    for a in gone {
      for b in come {
        let likeness = SiteLikeness.stackLikeness(way(old, pairs[a].old), way(new, pairs[b].new), vocabulary)
        if likeness >= LikenessRules.minOfStacks { candidates.append((a, b, likeness)) }
      }
    }
    candidates.sort { ($0.likeness, $1.old, $1.new) > ($1.likeness, $0.old, $0.new) }
    var taken: Set<Int> = []
    for (a, b, _) in candidates where !taken.contains(a) && !taken.contains(b) {
      taken.formUnion([a, b])
      guard let before = pairs[a].old, let after = pairs[b].new else { continue }
      let differences = SiteLikeness.differences(way(old, before), way(new, after), vocabulary)
      add(old: before, new: after, .likeness(differences))
    }
    pairs = pairs.indices.filter { !taken.contains($0) }.map { pairs[$0] }
  }

  private func way(_ side: ComparedEstimates, _ entry: Int?) -> [Int32] {
    entry.map { Array(side.entries[$0].functions.prefix(SiteLikeness.depthLimit)) } ?? []
  }

  /// Returns the sites that have changed, largest first.
  func section(frames: (ComparedEstimates.Entry, Vocabulary.Side) -> [DiffFrame]) -> DiffSection<EstimatedSiteChange> {
    var section = DiffSection<EstimatedSiteChange>(changes: [], unchanged: 0, moved: 0, unsteady: 0)
    for pair in pairs {
      guard pair.isChanged else {
        // A few samples on only one side are not a change either.
        section.unchanged += 1
        if let match = pair.match, match != .exact { section.moved += 1 }
        continue
      }
      let isWorse = pair.figures.contains { $0.change.direction == .worse }
      section.changes.append(
        EstimatedSiteChange(
          kind: pair.old == nil ? .new : pair.new == nil ? .gone : isWorse ? .worse : .better,
          frames: pair.new.map { frames(new.entries[$0], .new) } ?? frames(old.entries[pair.old!], .old),
          match: pair.match, figures: pair.figures, weight: weight(pair)))
    }
    section.changes.sort { a, b in
      if a.weight != b.weight { return a.weight > b.weight }
      return a.frames.map(\.stableName).lexicographicallyPrecedes(b.frames.map(\.stableName))
    }
    return section
  }

  private func weight(_ pair: Pair) -> Double {
    pair.figures.filter { $0.change.direction != .same }.map { change in
      min(1, abs(change.change.difference) / max(1, whole(change.change.figure)))
    }.max() ?? 0
  }
}
