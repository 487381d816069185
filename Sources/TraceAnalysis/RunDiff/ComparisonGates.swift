// Judges gates that compare two builds.

import LeakDetection
import LeakGates

extension GateList {
  /// Returns the outcome of each condition. A condition fails if it cannot be judged because a build has no heap image
  /// or did not record the figure.
  package func outcomes(_ report: DiffReport) -> [GateOutcome] { conditions.map { outcome($0, report) } }

  private func outcome(_ condition: GateCondition, _ report: DiffReport) -> GateOutcome {
    switch condition.name {
    case .leaks, .newLeaks, .suspects, .newSuspects, .worse, .retained:
      if report.findings == nil {
        let reason = report.findingsUnavailable ?? "a build has no heap image"
        return GateOutcome(gate: condition.text, hasFailed: true, explanation: "cannot be judged: \(reason)")
      }
      switch condition.name {
      case .leaks:
        return Self.outcome(
          condition, findings: report.judged.filter { $0.isOfProgram && $0.finding.certainty == .proven },
          "of the program")
      case .newLeaks:
        return Self.outcome(
          condition, findings: report.judged.filter { $0.standing == .new && $0.finding.certainty == .proven },
          noun: "new finding")
      case .suspects: return Self.outcome(condition, suspicions: report.judged.filter(\.isOfProgram))
      case .newSuspects: return Self.outcome(condition, suspicions: report.judged.filter { $0.standing == .new })
      default:
        return Self.outcome(
          condition, worse: report.judged.filter { $0.isWorse && isWorse($0.finding, condition, report) })
      }
    case .libraryLeaks:
      // The parser accepts this condition only for a single build.
      return GateOutcome(gate: condition.text, hasFailed: true, explanation: "cannot be judged: it is about one build")
    case .growth: return outcome(condition, figures: [.liveBytes], report)
    case .peak: return outcome(condition, figures: [.peakBytes], report)
    case .allocations: return outcome(condition, figures: [.allocatedBytes, .allocatedBlocks], report)
    case .temporary: return outcome(condition, figures: [.temporaryBlocks], report)
    case .retains: return outcome(condition, figures: [.retains, .releases], report)
    case .regressions: return outcome(condition, figures: nil, report)
    }
  }

  /// Returns whether the finding got worse by at least the threshold.
  private func isWorse(_ finding: Finding, _ condition: GateCondition, _ report: DiffReport) -> Bool {
    guard let threshold = condition.threshold else { return true }
    // A finding without such a change is worse than the baseline only. The comparison with the baseline already applied
    // the same threshold.
    guard
      let change = report.findings?.changes.first(where: {
        $0.new?.fingerprint == finding.fingerprint && $0.kind == .worse
      })
    else { return true }
    return change.figures.contains { $0.direction == .worse && Self.reaches(threshold, $0) }
  }

  /// `figures`: the condition fails if one of these fails; nil for all figures of the report.
  private func outcome(_ condition: GateCondition, figures: [Figure]?, _ report: DiffReport) -> GateOutcome {
    let changes = report.totals.filter { figures?.contains($0.figure) ?? true }
    guard !changes.isEmpty else {
      return GateOutcome(
        gate: condition.text, hasFailed: true, explanation: "cannot be judged: a build did not record it")
    }
    let worse = changes.filter { Self.isWorse($0, condition.threshold) }
    let words = (worse.isEmpty ? (figures == nil ? [] : changes) : worse).map(DiffWords.change).joined(separator: ", ")
    let limit = condition.threshold.map { "; fails at \(Self.words($0)) more" } ?? ""
    return GateOutcome(
      gate: condition.text, hasFailed: !worse.isEmpty,
      explanation: (words.isEmpty ? "no figure got worse" : words) + limit)
  }

  /// Without a threshold, the comparison decides. With a threshold, the change must reach it, and must also be worse by
  /// the comparison or exceed the runs' spread.
  private static func isWorse(_ change: FigureChange, _ threshold: GateCondition.Threshold?) -> Bool {
    guard let threshold else { return change.direction == .worse }
    return (change.direction == .worse || isBeyondSpread(change)) && reaches(threshold, change)
  }

  private static func isBeyondSpread(_ change: FigureChange) -> Bool {
    let scale = change.old.median > 0 ? change.expected / change.old.median : 1
    return change.difference > 0 && change.new.lowest > change.old.highest * scale
  }

  private static func reaches(_ threshold: GateCondition.Threshold, _ change: FigureChange) -> Bool {
    switch threshold {
    // A number of blocks cannot reach a size in bytes, and bytes cannot reach a number.
    case .count(let least): !change.figure.isBytes && change.difference >= Double(least)
    case .bytes(let least): change.figure.isBytes && change.difference >= Double(least)
    // A change that is exactly at the threshold must fail despite rounding in the division.
    case .part(let least): change.difference > 0 && (change.ratio.map { $0 - 1 >= least - 1e-9 } ?? true)
    }
  }
}
