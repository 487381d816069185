// What all gates of one run say, and what the baseline has that is gone.

/// The outcome of gates, for the end of a report.
public struct GateReport: Hashable, Sendable {
  public var outcomes: [GateOutcome]
  /// The baseline's path as it was given; nil if there is none.
  public var baselinePath: String?
  /// Accepted findings that were not found.
  public var gone: [Baseline.Entry]

  public init(outcomes: [GateOutcome], baselinePath: String? = nil, gone: [Baseline.Entry] = []) {
    (self.outcomes, self.baselinePath, self.gone) = (outcomes, baselinePath, gone)
  }

  public var hasFailed: Bool { outcomes.contains(where: \.hasFailed) }
  /// There is nothing to say.
  public var isEmpty: Bool { outcomes.isEmpty && gone.isEmpty }

  /// A sentence for each accepted finding that is gone.
  public var remarks: [String] {
    gone.map { "accepted in \(baselinePath ?? "the baseline") and gone: \($0.verdict) \($0.subject) (\($0.fingerprint)); --update-baseline removes it" }
  }
}
