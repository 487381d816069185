// The outcomes of all gates of one run, and the baseline's entries that are gone.

/// The outcomes of gates, for the end of a report.
package struct GateReport: Hashable, Sendable {
  package var outcomes: [GateOutcome]
  /// The baseline's path as the user gave it; nil if there is no baseline.
  package var baselinePath: String?
  /// Accepted findings that were not found.
  package var gone: [Baseline.Entry]

  package init(outcomes: [GateOutcome], baselinePath: String? = nil, gone: [Baseline.Entry] = []) {
    (self.outcomes, self.baselinePath, self.gone) = (outcomes, baselinePath, gone)
  }

  package var hasFailed: Bool { outcomes.contains(where: \.hasFailed) }
  /// Whether there is nothing to report.
  package var isEmpty: Bool { outcomes.isEmpty && gone.isEmpty }

  /// A sentence for each accepted finding that is gone.
  package var remarks: [String] {
    gone.map {
      "accepted in \(baselinePath ?? "the baseline") and gone: \($0.verdict) \($0.subject) (\($0.fingerprint)); --update-baseline removes it"
    }
  }
}
