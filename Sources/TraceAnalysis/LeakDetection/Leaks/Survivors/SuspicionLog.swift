// Collects the effects of the rules on candidates for a suspicion.

import HeapAnalysis

/// Collects the effects of the rules on every candidate. For one thread at a time.
final class SuspicionLog {
  struct Candidate {
    var family: SurvivorFinder.Family
    var isSuspected = false
    var outcome = SuspicionAccount.Outcome.excluded
    var points: Int?
    var entries: [SuspicionAccount.Entry] = []
  }

  private var candidates: [Candidate] = []
  /// The candidate that rules judge now; nil for objects of the program's own statements.
  private(set) var current: Int?

  /// Returns the candidates, the last one first. Instances that were not suspected with some siblings are judged again
  /// with more siblings, and the last judgement counts. Linear in the instances.
  func latest() -> [Candidate] {
    var judged: Set<NodeID> = []
    return candidates.reversed().filter { candidate in
      let isReplaced = !candidate.isSuspected && judged.contains(candidate.family.survivors[0])
      judged.formUnion(candidate.family.survivors)
      return !isReplaced
    }
  }

  /// Begins to judge a family.
  func begin(_ family: SurvivorFinder.Family) {
    current = candidates.count
    candidates.append(Candidate(family: family))
  }

  /// Ends the first judgement of the current candidate: it is suspected, or it stays excluded.
  func end(isSuspected: Bool) {
    guard let current else { return }
    candidates[current].isSuspected = isSuspected
    if !isSuspected, !candidates[current].entries.contains(where: { $0.effect == .excludes }) {
      note(.shape, .excludes)
    }
  }

  /// Continues with a candidate that was suspected.
  func resume(_ candidate: Int?) { current = candidate }

  func note(_ rule: SuspicionRule, _ effect: SuspicionAccount.Effect, _ figures: String = "", points: Int = 0) {
    guard let current else { return }
    let entries = candidates[current].entries
    // An entry has the figures of the first holder, and counts the other holders.
    if let known = entries.firstIndex(where: { $0.rule == rule && $0.effect == effect && rule.isOfHolders }) {
      candidates[current].entries[known].times += 1
    } else {
      candidates[current].entries.append(.init(rule: rule, effect: effect, points: points, figures: figures))
    }
  }

  /// Notes the sum of the points of a group. The largest sum counts.
  func sum(_ points: Int) {
    guard let current else { return }
    candidates[current].points = max(points, candidates[current].points ?? points)
  }

  /// Notes that a group is part of a finding of another group.
  func notePart(ofAnotherFinding group: SurvivorGroup) {
    for candidate in group.candidates {
      current = candidate
      note(.partOfAnotherFinding, .excludes, "\(group.survivors.count) instances")
    }
  }

  /// Notes that a finding names a group. The strongest of several findings counts.
  func settle(_ group: SurvivorGroup, _ outcome: SuspicionAccount.Outcome) {
    for candidate in group.candidates where outcome.rank < candidates[candidate].outcome.rank {
      candidates[candidate].outcome = outcome
      candidates[candidate].points = group.evidence.sum
    }
  }
}

extension SurvivorFinder {
  /// Notes the effect of a rule on the current candidate, if there is a log.
  func note(
    _ rule: SuspicionRule, _ effect: SuspicionAccount.Effect, _ figures: @autoclosure () -> String = "", points: Int = 0
  ) {
    log?.note(rule, effect, figures(), points: points)
  }

  /// Notes whether a rule supports the suspicion, and returns the condition. `otherwise`: the effect of the rule if the
  /// condition is false.
  func holds(
    _ rule: SuspicionRule, _ condition: Bool, _ figures: @autoclosure () -> String = "",
    else otherwise: SuspicionAccount.Effect = .excludes
  ) -> Bool {
    note(rule, condition ? .supports : otherwise, figures())
    return condition
  }

  /// Notes the effect of a rule, and adds its points to the evidence. Returns the condition.
  @discardableResult func weigh(
    _ rule: SuspicionRule, _ condition: Bool, _ figures: @autoclosure () -> String = "", in evidence: inout Evidence
  ) -> Bool {
    let points = condition ? rules.points[rule].supports : rules.points[rule].weakens
    evidence.points += points
    log?.note(rule, condition ? .supports : .weakens, figures(), points: points)
    return condition
  }

  func percent(_ part: Double) -> String { "\(Int((part * 100).rounded())) %" }
}
