// The wording of answers about fixes, shared by all renderers.

import LeakDetection
import TextWriting
import Wording

/// Answers and their evidence in words. Names in the texts are not escaped: renderers must escape their output.
package enum FixWords {
  package static func name(_ answer: FixAnswer) -> String {
    switch answer {
    case .worse: "worse"
    case .same: "same"
    case .fewer: "fewer"
    case .flaky: "flaky"
    case .notExercised: "not exercised"
    case .notKnown: "not known"
    case .gone: "gone"
    }
  }

  /// Returns the answer to the question of the command: fixed, not fixed, or not proven. Includes the counts.
  package static func conclusion(_ report: FixReport) -> String {
    let counts = FixAnswer.allCases.compactMap { answer -> String? in
      let count = report.fixes(answer).count
      return count == 0 ? nil : "\(Decimal.grouped(UInt64(count))) \(name(answer))"
    }
    let new = report.newFindings.isEmpty ? [] : ["\(Decimal.grouped(UInt64(report.newFindings.count))) new"]
    let all = (counts + new).joined(separator: ", ")
    if report.fixes.isEmpty, report.newFindings.isEmpty {
      return report.unjudged.isEmpty
        ? "Nothing to verify: the old run has no findings, and the new \(runs(report)) none."
        : "Not judged: \(report.unjudged.count == 1 ? "a run's" : "some runs'") findings are not known."
    }
    if !report.unjudged.isEmpty, !report.hasFailed { return "Not judged: \(all)." }
    if report.hasFailed { return report.fixes.contains { $0.answer.isPresent } ? "Not fixed: \(all)." : "New: \(all)." }
    return report.isUndecided ? "Not proven: \(all)." : "Fixed: \(all), nothing new."
  }

  private static func runs(_ report: FixReport) -> String { report.new.runs.count == 1 ? "run has" : "runs have" }

  /// Returns the facts behind an answer, as part of a sentence.
  package static func evidence(_ fix: CheckedFix) -> String {
    let count = fix.runs.count
    switch fix.answer {
    case .gone:
      let share = count == 1 ? "" : "in \(fix.goneRuns) of \(count) runs; "
      let rest = fix.goneRuns < count ? "; " + others(fix) : ""
      return share + site(fix) + rest
    case .flaky:
      let rest = fix.goneRuns + fix.presentRuns < count ? "; " + others(fix) : ""
      return "gone in \(fix.goneRuns) of \(count) runs, still in \(fix.presentRuns) with \(instances(fix))\(rest)"
    case .notExercised, .notKnown:
      let share = count == 1 ? "" : "absent in all \(count) runs, but "
      return share + (fix.gap.map { explanation($0, isOneRun: count == 1) } ?? "the runs prove nothing")
    case .worse, .same, .fewer:
      let share = fix.presentRuns == count ? "" : " in \(fix.presentRuns) of \(count) runs; " + others(fix)
      return figures(fix) + share
    }
  }

  /// Returns the number of instances in the new runs that have the finding: `3 instances`, `3 to 5 instances`.
  private static func instances(_ fix: CheckedFix) -> String {
    let counts = fix.runs.map(\.instances).filter { $0 > 0 }
    guard let least = counts.min(), let most = counts.max() else { return "no instance" }
    return least == most
      ? Decimal.counted(least, "instance") : "\(Decimal.grouped(least)) to \(Decimal.counted(most, "instance"))"
  }

  /// Returns the figures that changed; the instances if none did.
  private static func figures(_ fix: CheckedFix) -> String {
    let changed = fix.figures.filter { $0.direction != .same }
    let shown = changed.isEmpty ? fix.figures.filter { $0.figure == .instances } : changed
    return shown.map { "\(DiffWords.name($0.figure)) \(DiffWords.step($0))" }.joined(separator: ", ")
  }

  /// Returns the use of the site in the runs that reached it.
  private static func site(_ fix: CheckedFix) -> String {
    let counts = fix.runs.compactMap { run -> UInt64? in
      if run.isGone, case .reached(let blocks) = run.site { blocks } else { nil }
    }
    guard let least = counts.min(), let most = counts.max() else { return "samples show that its site was reached" }
    let made =
      least == most
      ? Decimal.counted(most, "object") : "\(Decimal.grouped(least)) to \(Decimal.counted(most, "object"))"
    let before = fix.oldBlocks > 0 ? ", and \(Decimal.grouped(fix.oldBlocks)) in the old run" : ""
    return "its site made \(made)\(before)"
  }

  /// Returns a sentence about the runs that decide nothing.
  private static func others(_ fix: CheckedFix) -> String {
    let open = fix.runs.filter { $0.instances == 0 && !$0.site.isReached }
    let missed = open.count { $0.site.gap?.isCertain ?? false }
    let parts = [(missed, "did not reach its site"), (open.count - missed, "may not have reached it")]
    return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }

  /// Returns the reason why a run proves nothing, as part of a sentence.
  package static func explanation(_ gap: ExerciseGap, isOneRun: Bool = true) -> String {
    let run = isOneRun ? "the new run" : "they"
    switch gap {
    case .functionUnseen(let function):
      return "\(run) allocated nothing in \(function.isEmpty ? "its function" : function)"
    case .notAllocated(let type, let function): return "\(run) called \(function) and made no \(type) there"
    case .functionRemoved(let function): return "the new build has no \(function), and no similar site"
    case .otherCallers(let function, let missing): return "\(function) was not called through \(missing)"
    case .inspection: return "an inspection shows no allocations"
    case .notSampled: return "no sample shows its site"
    case .siteUnknown: return "the old run does not show its site"
    case .fewSamples: return "too few of its blocks are sampled"
    }
  }

  /// Returns advice for findings that the runs did not decide; nil if there are none.
  package static func advice(_ report: FixReport) -> String? {
    let gaps = report.fixes.filter(\.answer.isUndecided).compactMap(\.gap)
    guard !gaps.isEmpty else { return nil }
    if gaps.contains(where: \.isCertain) {
      return "Run the work that leaked before, and verify again. These runs prove nothing about such a finding."
    }
    if gaps.contains(.inspection) || gaps.contains(.notSampled) || gaps.contains(.fewSamples) {
      return "Record the whole run with 'leaktrace record' to see whether the code was reached."
    }
    return nil
  }
}
