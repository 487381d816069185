// The points of the rules about suspicions.

/// The points that each rule adds to a suspicion. Their sum is the strength of the suspicion: see
/// `SuspicionAccount.Outcome`. Rules that choose the instances of a suspicion have no points.
///
/// A rule of −20 points decides alone. `scripts/blind` tries other points on recorded programs, and
/// docs/engineering/blind-programs.md has the result.
package struct RulePoints: Hashable, Sendable {
  /// The points of a rule if its condition holds, and if it does not.
  package struct Pair: Hashable, Sendable {
    package var supports: Int
    package var weakens: Int
  }

  private var pairs: [SuspicionRule: Pair] = [:]

  package init() {
    func set(_ rules: [SuspicionRule], _ supports: Int, _ weakens: Int) {
      for rule in rules { pairs[rule] = Pair(supports: supports, weakens: weakens) }
    }
    set([.growsSteadily], 3, -20)
    set([.evenGrowth, .leftBehind], 3, 0)
    set([.minority], 1, -1)
    set([.capturedByCallback], 4, -20)
    set([.number, .madeThroughout, .madeBeforeTheEnd, .populationGrew, .knownHolder, .holderIsOlder], 0, -20)
    set([.holderUnused, .workUnderWay, .openConnections, .youngerThanOthers, .keepsNothing], 0, -10)
    set([.odds], 0, -6)
    set([.unusedAtTheEnd, .noResult, .usedSingly, .referredTo], 0, -5)
    set([.swept], 5, 0)
    set([.many, .heldAlike, .madeToKeep], 0, -4)
    set([.usedBriefly], 0, -3)
    set([.siblingsKept], 0, -2)
  }

  /// The rules with points, sorted by name.
  package var rules: [SuspicionRule] { pairs.keys.sorted { $0.rawValue < $1.rawValue } }

  package subscript(rule: SuspicionRule) -> Pair {
    get { pairs[rule] ?? Pair(supports: 0, weakens: 0) }
    set { pairs[rule] = newValue }
  }
}
