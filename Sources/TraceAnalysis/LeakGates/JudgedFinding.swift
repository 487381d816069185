// Findings with their standing, which gates judge.

import LeakDetection

/// A finding, compared with a baseline or another build.
package struct JudgedFinding: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    /// Not known before.
    case new
    /// Known before, and worse now. The text describes the change.
    case worse(String)
    /// Known before, and not worse. `reason`: the reason for accepting the finding; empty if none was given.
    case known(reason: String)
    /// A suppression hides the finding.
    case hidden(pattern: String)
    /// A finding of the platform's libraries, not of the program.
    case library
  }

  package var finding: Finding
  package var standing: Standing

  /// True if suspicions are judged like proofs: in a comparison with another build, or if a gate requests it.
  package var judgesSuspicions = false

  package init(_ finding: Finding, _ standing: Standing, judgesSuspicions: Bool = false) {
    (self.finding, self.standing, self.judgesSuspicions) = (finding, standing, judgesSuspicions)
  }

  /// True if the finding is new or worse. False for hidden findings and library findings.
  package var isUnaccepted: Bool {
    switch standing {
    case .new, .worse: true
    case .known, .hidden, .library: false
    }
  }

  /// Whether the finding can make a gate fail.
  package var isFailing: Bool { isUnaccepted && (finding.certainty == .proven || judgesSuspicions && !finding.isWeak) }
}

/// The outcome of one gate.
package struct GateOutcome: Hashable, Sendable {
  /// The text of the gate, such as `new-leaks` or `retains:10%`.
  package var gate: String
  package var hasFailed: Bool
  /// The result, and the smallest amount that fails the gate if that is not obvious.
  package var explanation: String

  package init(gate: String, hasFailed: Bool, explanation: String) {
    (self.gate, self.hasFailed, self.explanation) = (gate, hasFailed, explanation)
  }
}
