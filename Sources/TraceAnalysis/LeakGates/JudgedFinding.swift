// Findings as a gate judges them: known and accepted ones, and others.

import LeakDetection

/// A finding, compared with a baseline or another build.
package struct JudgedFinding: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    /// Not known before.
    case new
    /// Known before, and now worse: how, in words.
    case worse(String)
    /// Known before, and no worse. `reason`: why it was accepted; empty if none was given.
    case known(reason: String)
    /// A suppression's pattern hides it.
    case hidden(pattern: String)
    /// A finding of the platform's libraries, not of the program.
    case library
  }

  package var finding: Finding
  package var standing: Standing

  /// True if suspicions are judged like proofs, since there is another build to compare with, or since it was asked
  /// for.
  package var judgesSuspicions = false

  package init(_ finding: Finding, _ standing: Standing, judgesSuspicions: Bool = false) {
    (self.finding, self.standing, self.judgesSuspicions) = (finding, standing, judgesSuspicions)
  }

  /// It is the program's, not hidden, and new or worse.
  package var isUnaccepted: Bool {
    switch standing {
    case .new, .worse: true
    case .known, .hidden, .library: false
    }
  }

  /// It makes a gate fail, or could.
  package var isFailing: Bool { isUnaccepted && (finding.certainty == .proven || judgesSuspicions && !finding.isWeak) }
}

/// The outcome of one gate.
package struct GateOutcome: Hashable, Sendable {
  /// The text of the gate, such as `new-leaks` or `retains:10%`.
  package var gate: String
  package var hasFailed: Bool
  /// A sentence: the result, and the amount that would have passed.
  package var explanation: String

  package init(gate: String, hasFailed: Bool, explanation: String) {
    (self.gate, self.hasFailed, self.explanation) = (gate, hasFailed, explanation)
  }
}
