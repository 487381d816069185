// The answers about the findings of an old run, as values.

import LeakDetection

/// The answer to the question whether a finding of the old run is fixed.
package enum FixAnswer: String, CaseIterable, Hashable, Sendable {
  /// More instances or more retained memory than in the old run.
  case worse
  case same
  case fewer
  /// In some of the new runs. The others reached the allocation site and do not have the finding.
  case flaky
  /// In no new run, and no new run reached the allocation site. So the runs prove nothing.
  case notExercised
  /// In no new run, and the new runs do not show whether the allocation site was reached.
  case notKnown
  /// In no new run, and at least one new run reached the allocation site.
  case gone

  /// Whether the finding is in a new run.
  package var isPresent: Bool { [.worse, .same, .fewer, .flaky].contains(self) }
  /// Whether the runs decide nothing.
  package var isUndecided: Bool { self == .notExercised || self == .notKnown }
}

/// The reason why an absent finding does not count as gone.
package enum ExerciseGap: Hashable, Sendable {
  /// No stack of the run's allocations has the function. The name is empty if it is not known.
  case functionUnseen(String)
  /// The function allocated other objects, but none of this type.
  case notAllocated(type: String, function: String)
  /// The new build has no such function, and no site of it is similar.
  case functionRemoved(String)
  /// The function allocated such objects, but no stack has the caller, which the new build still has.
  case otherCallers(function: String, missing: String)
  /// An inspection shows no allocations.
  case inspection
  /// A light recording has no sample of the site. Samples miss most small allocations.
  case notSampled
  /// The old run does not show where the objects were allocated.
  case siteUnknown
  /// Chance decides whether so few samples show the finding.
  case fewSamples

  /// Whether the run certainly did not reach the site.
  package var isCertain: Bool {
    switch self {
    case .functionUnseen, .notAllocated: true
    case .functionRemoved, .otherCallers, .inspection, .notSampled, .siteUnknown, .fewSamples: false
    }
  }
}

/// The use of an allocation site in one run.
package enum SiteUse: Hashable, Sendable {
  /// The site allocated this number of blocks.
  case reached(blocks: UInt64)
  /// Samples show allocations at the site.
  case sampled
  case notReached(ExerciseGap)

  package var isReached: Bool {
    if case .notReached = self { false } else { true }
  }

  package var gap: ExerciseGap? {
    if case .notReached(let gap) = self { gap } else { nil }
  }
}

/// A finding of the old run, with its answer.
package struct CheckedFix: Hashable, Sendable {
  /// A new run's share in the answer.
  package struct Run: Hashable, Sendable {
    /// 0 if the run does not have the finding.
    package var instances: UInt64
    package var site: SiteUse

    package var isGone: Bool { instances == 0 && site.isReached }
  }

  package var answer: FixAnswer
  package var old: Finding
  /// The finding in the new run with the most instances; nil if no new run has it.
  package var new: Finding?
  /// The kind of match with the new finding; nil if there is none.
  package var match: DiffMatch?
  /// The figures in the old run, and in those new runs that have the finding.
  package var figures: [FigureChange]
  /// One element for each new run, in order.
  package var runs: [Run]
  /// The number of blocks that the site allocated in the old run; 0 if it is not known.
  package var oldBlocks: UInt64

  package var goneRuns: Int { runs.count { $0.isGone } }
  package var presentRuns: Int { runs.count { $0.instances > 0 } }
  /// The reason of the first run that does not show that the finding is gone.
  package var gap: ExerciseGap? { runs.lazy.filter { $0.instances == 0 }.compactMap(\.site.gap).first }
}

/// A finding that the new runs have and the old run does not have.
package struct NewFinding: Hashable, Sendable {
  package var finding: Finding
  /// The number of new runs that have it.
  package var runs: Int
}

/// All answers that `leaktrace verify` reports.
package struct FixReport: Sendable {
  /// A run whose findings are not known.
  package struct Unjudged: Hashable, Sendable {
    package var path: String
    package var reason: String
  }

  package var old: DiffSide
  /// The new runs whose findings are known.
  package var new: DiffSide
  /// Findings that need work come first, then those without a proof, then the fixed ones.
  package var fixes: [CheckedFix]
  /// Most retained memory first.
  package var newFindings: [NewFinding]
  /// Runs that do not count, because their findings are not known.
  package var unjudged: [Unjudged]
  package var renames: [DiffRename]
  /// Sentences that a reader needs to judge the answers.
  package var remarks: [String]

  package func fixes(_ answer: FixAnswer) -> [CheckedFix] { fixes.filter { $0.answer == answer } }

  /// Whether an old finding is still there, or there is a new one.
  package var hasFailed: Bool { !newFindings.isEmpty || fixes.contains { $0.answer.isPresent } }
  /// Whether the runs leave it open whether some finding is gone.
  package var isUndecided: Bool { fixes.contains { $0.answer.isUndecided } }
}
