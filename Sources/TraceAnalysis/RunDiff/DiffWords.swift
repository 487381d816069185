// The wording of a comparison, shared by all its renderers.

import LeakDetection
import LeakGates
import TextWriting
import TraceReading
import Wording

/// Amounts, changes and matches in words. Names in the texts are not escaped: renderers must escape their output.
package enum DiffWords {
  // MARK: Figures

  package static func name(_ figure: Figure) -> String {
    switch figure {
    case .liveBytes: "live bytes"
    case .liveBlocks: "live blocks"
    case .peakBytes: "peak bytes"
    case .allocatedBytes: "allocated bytes"
    case .allocatedBlocks: "allocations"
    case .temporaryBlocks: "temporary blocks"
    case .retains: "retains"
    case .releases: "releases"
    case .instances: "instances"
    case .retainedBytes: "retained bytes"
    case .growth: "growth"
    }
  }

  /// Returns an amount: `1.20 MiB`, `120,000`. The median of an even number of runs may end in a half.
  package static func amount(_ value: Double, of figure: Figure) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "?" }
    if value < 0 { return "−" + amount(-value, of: figure) }
    if figure.isBytes { return Decimal.bytes(UInt64(value.rounded())) }
    if value >= 100 || value == value.rounded() { return Decimal.grouped(UInt64(value.rounded())) }
    return Decimal.fixed(value, places: value < 1 ? 3 : 1)
  }

  /// Returns the old and the new amount: `120,000 → 180,000`. Uses exact amounts if the rounded ones would look equal.
  package static func step(_ change: FigureChange) -> String {
    let (old, new) = (amount(change.old.median, of: change.figure), amount(change.new.median, of: change.figure))
    guard old == new, change.old.median != change.new.median else { return "\(old) → \(new)" }
    return "\(exact(change.old.median, of: change.figure)) → \(exact(change.new.median, of: change.figure))"
  }

  private static func exact(_ value: Double, of figure: Figure) -> String {
    guard value.isFinite, value >= 0, value < 1e15 else { return "?" }
    if figure.isBytes { return "\(Decimal.grouped(UInt64(value.rounded()))) B" }
    return value == value.rounded() ? Decimal.grouped(UInt64(value)) : Decimal.fixed(value, places: 3)
  }

  /// Returns the change of an amount in relation to the expected one: `+50 %`, `×12`, `from nothing`.
  package static func ratio(_ change: FigureChange) -> String {
    guard let ratio = change.ratio else { return change.new.median > 0 ? "from nothing" : "±0 %" }
    guard ratio.isFinite, ratio < 1e15 else { return "?" }
    if ratio >= 10 { return "×\(Decimal.grouped(UInt64(ratio.rounded())))" }
    let percent = (ratio - 1) * 100
    let size = abs(percent)
    if size == 0 { return "±0 %" }
    if size < 0.1 { return percent < 0 ? "less than −0.1 %" : "less than +0.1 %" }
    return "\(percent < 0 ? "−" : "+")\(Decimal.fixed(size, places: size < 9.95 ? 1 : 0)) %"
  }

  /// `retains 120,000 → 180,000 (+50 %)`. Includes the amount expected for the new amount of work, if it differs from
  /// the old amount.
  static func change(_ change: FigureChange) -> String {
    "\(name(change.figure)) \(step(change)) (\(ratio(change))\(expectation(change).map { " of \($0)" } ?? ""))"
  }

  /// Returns the expected amount: `150,000 for as much work`. Returns nil if it equals the old amount.
  package static func expectation(_ change: FigureChange) -> String? {
    let expected = amount(change.expected, of: change.figure)
    return change.expected == change.old.median || expected == amount(change.old.median, of: change.figure)
      ? nil : "\(expected) for as much work"
  }

  /// Returns the ranges of both sides' runs: `old 118,000 to 122,000, new 179,000 to 181,000`; nil if the runs of each
  /// side are equal.
  static func spread(_ change: FigureChange) -> String? {
    guard change.old.lowest != change.old.highest || change.new.lowest != change.new.highest else { return nil }
    return "old \(span(change.old, of: change.figure)), new \(span(change.new, of: change.figure))"
  }

  private static func span(_ spread: Spread, of figure: Figure) -> String {
    let (low, high) = (amount(spread.lowest, of: figure), amount(spread.highest, of: figure))
    return low == high ? low : "\(low) to \(high)"
  }

  /// Returns the changed figures. Figures whose direction gave the change its kind come first.
  static func shown(_ figures: [FigureChange], of kind: DiffKind) -> [FigureChange] {
    let leading: FigureChange.Direction = kind == .better || kind == .gone ? .better : .worse
    return figures.filter { $0.direction == leading }
      + figures.filter { $0.direction != leading && $0.direction != .same }
  }

  // MARK: Findings, types and sites

  /// Returns a finding's change in figures: `2 instances, 96 B retained` if the finding is new or gone, otherwise the
  /// old and the new figures.
  package static func figures(_ change: FindingChange) -> String {
    guard change.kind == .worse || change.kind == .better else { return FindingTitle.extent(change.finding) }
    let shown = shown(change.figures, of: change.kind)
    return shown.isEmpty ? FindingTitle.extent(change.finding) : shown.map { self.change($0) }.joined(separator: ", ")
  }

  /// Returns the change of a type or site. If the type or site is new or gone, returns the amounts on the side that has
  /// it.
  package static func figures(_ change: AllocationChange) -> String {
    switch change.kind {
    case .worse, .better: shown(change.figures, of: change.kind).map { self.change($0) }.joined(separator: ", ")
    case .new: amounts(change.figures) { $0.new.median }
    case .gone: amounts(change.figures) { $0.old.median }
    }
  }

  private static func amounts(_ figures: [FigureChange], _ value: (FigureChange) -> Double) -> String {
    figures.filter { value($0) > 0 }.map { "\(name($0.figure)) \(amount(value($0), of: $0.figure))" }.joined(
      separator: ", ")
  }

  /// Returns the change of an estimated site: `live bytes 4.00 MiB ± 1.40 MiB → 24.0 MiB ± 3.50 MiB (+500 %)`. If one
  /// side has no sample of the site, returns the amount on the other side: `live bytes 24.0 MiB ± 3.50 MiB`.
  package static func figures(_ change: EstimatedSiteChange) -> String {
    let leading: FigureChange.Direction = change.kind == .better || change.kind == .gone ? .better : .worse
    let changed = change.figures.filter { $0.change.direction != .same }
    return (changed.filter { $0.change.direction == leading } + changed.filter { $0.change.direction != leading })
      .map { estimate in
        let figure = estimate.change.figure
        func side(_ spread: Spread, _ error: Double) -> String {
          "\(amount(spread.median, of: figure)) ± \(amount(error, of: figure))"
        }
        let before = side(estimate.change.old, estimate.oldError)
        let after = side(estimate.change.new, estimate.newError)
        switch change.kind {
        case .new: return "\(name(figure)) \(after)"
        case .gone: return "\(name(figure)) \(before)"
        case .worse, .better:
          let expected = expectation(estimate.change).map { " of \($0)" } ?? ""
          return "\(name(figure)) \(before) → \(after) (\(ratio(estimate.change))\(expected))"
        }
      }.joined(separator: ", ")
  }

  /// Describes a match that is not exact: `renamed: A is B now`, `matched by similarity: the type's name differs`.
  package static func match(_ match: DiffMatch?) -> String? {
    switch match {
    case nil, .exact?: nil
    case .renamed(let renames)?:
      renames.isEmpty ? "renamed" : "renamed: " + renames.map { rename($0) }.joined(separator: ", ")
    case .likeness(let differences)?:
      differences.isEmpty ? "matched by similarity" : "matched by similarity: " + differences.joined(separator: ", ")
    }
  }

  static func rename(_ rename: DiffRename) -> String { "\(rename.old) is \(rename.new) now" }

  /// Returns the number of runs with the finding: `in 2 of 5 runs`, `in 1 of 3 old runs and 5 of 5 new ones`. Returns
  /// nil if all runs have it; for new and gone findings, only the runs of one side count.
  package static func runs(_ change: FindingChange, of report: DiffReport) -> String? {
    let (old, new) = ((change.oldRuns, report.old.runs.count), (change.newRuns, report.new.runs.count))
    switch change.kind {
    case .new: return new.0 < new.1 ? "in \(new.0) of \(new.1) runs" : nil
    case .gone: return old.0 < old.1 ? "in \(old.0) of \(old.1) runs" : nil
    case .worse, .better:
      return old.0 < old.1 || new.0 < new.1 ? "in \(old.0) of \(old.1) old runs and \(new.0) of \(new.1) new ones" : nil
    }
  }

  // MARK: Headings

  package static func name(_ kind: DiffKind) -> String { kind.rawValue }

  /// `2 new, 1 worse, 3 gone, 12 unchanged`; `none changed, 12 unchanged`.
  package static func counts<Change>(_ section: DiffSection<Change>) -> String {
    counts(DiffKind.allCases.map { kind in (kind, section[kind].count) }, unchanged: section.unchanged)
  }

  private static func counts(_ kinds: [(DiffKind, Int)], unchanged: Int) -> String {
    let changed = kinds.filter { $0.1 > 0 }.map { "\(Decimal.grouped(UInt64($0.1))) \(name($0.0))" }
    return
      ((changed.isEmpty ? ["none changed"] : changed) + ["\(Decimal.grouped(UInt64(max(0, unchanged)))) unchanged"])
      .joined(separator: ", ")
  }

  /// Describes the unchanged items that need a remark:
  /// `2 matched under another name or by similarity, 1 not in every run`. Nil if there are none.
  package static func restOfSection(moved: Int, unsteady: Int) -> String? {
    var parts: [String] = []
    if moved > 0 { parts.append("\(Decimal.grouped(UInt64(moved))) matched under another name or by similarity") }
    if unsteady > 0 { parts.append("\(Decimal.grouped(UInt64(unsteady))) not in every run") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// The report's first line: `Leaks: 2 new, 1 gone, 12 unchanged`.
  package static func headline(_ report: DiffReport) -> String {
    guard let findings = report.findings else {
      return "Leaks: not compared\(report.findingsUnavailable.map { ": \($0)" } ?? "")"
    }
    return "Leaks: \(counts(findings))"
  }

  /// Describes a side: `app, 3 runs, 1,204,000 events`.
  package static func side(_ side: DiffSide) -> String {
    let events = side.runs.reduce(UInt64(0)) { $0 &+ $1.events }
    let program = side.program.isEmpty ? "unknown program" : fileName(ofPath: side.program)
    let runs = UInt64(side.runs.count)
    switch side.kind {
    case .recorded: return "\(program), \(Decimal.counted(runs, "run")), \(Decimal.counted(events, "event"))"
    // Each heap image lists all blocks again, so the number of events means nothing.
    case .light: return "\(program), \(Decimal.counted(runs, "light recording"))"
    // An inspection knows only the live blocks of a process.
    case .inspected: return "\(program), \(Decimal.counted(runs, "inspection")), \(Decimal.counted(events, "block"))"
    }
  }

  /// Returns the amount of work of a side's runs: `scope "request" ran 1,200, 1,180 times`. Returns nil unless the unit
  /// is a scope.
  package static func work(_ side: DiffSide, _ unit: DiffReport.Unit) -> String? {
    guard case .scope(let name) = unit else { return nil }
    return
      "scope \"\(PlainText.escaped(name))\" ran \(side.runs.map { amount($0.work, of: .instances) }.joined(separator: ", ")) times"
  }

  /// Returns a sentence about the unit of the figures; nil if they are compared as recorded.
  package static func unit(_ unit: DiffReport.Unit) -> String? {
    switch unit {
    case .run: nil
    case .events: "Figures are compared by the number of events: a figure is worse if it grew more than they did."
    case .scope(let name):
      "Figures are compared by runs of the scope \"\(name)\": a figure is worse if it grew more than they did."
    }
  }

  /// `gate new-leaks failed: 2 new leaks`, `gate new-leaks passed: …`.
  package static func gate(_ outcome: GateOutcome) -> String {
    "gate \(outcome.gate) \(outcome.hasFailed ? "failed" : "passed")\(outcome.explanation.isEmpty ? "" : ": \(outcome.explanation)")"
  }
}
