// A comparison as text.

import LeakGates
import RunDiff
import TextWriting
import TraceReading

/// Renders a comparison for a terminal or a log. Formats only; makes no decisions.
package struct DiffText {
  private let style: TextStyle
  /// Maximum number of types, and of sites, to show; nil for all.
  private let limit: Int?

  package init(style: TextStyle = TextStyle(), limit: Int? = 10) { (self.style, self.limit) = (style, limit) }

  package func text(_ report: DiffReport, gates: [GateOutcome] = []) -> String {
    var lines = TextLines(style: style)
    writeSide("old", report.old, report.unit, to: &lines)
    writeSide("new", report.new, report.unit, to: &lines)
    if let unit = DiffWords.unit(report.unit) { lines.line(unit, indent: 2) }
    for remark in report.remarks { lines.line("note: \(PlainText.escaped(remark))", indent: 2) }
    lines.blank()
    writeFindings(report, to: &lines)
    writeTotals(report, to: &lines)
    write("Types", report.types, to: &lines)
    write(report.listsHolders ? "Types and holders" : "Allocation sites", report.sites, to: &lines)
    if let section = report.estimatedSites { write(section, to: &lines) }
    writeRenames(report, to: &lines)
    for gate in gates { lines.line(PlainText.escaped(DiffWords.gate(gate)), emphasized: gate.hasFailed ? 3 : 0) }
    return lines.text
  }

  private func writeSide(_ name: String, _ side: DiffSide, _ unit: DiffReport.Unit, to lines: inout TextLines) {
    let work = DiffWords.work(side, unit).map { ", \($0)" } ?? ""
    let paths = side.runs.map { PlainText.escaped($0.path) }
    lines.line("\(name)  \(PlainText.escaped(DiffWords.side(side)))\(work)", emphasized: 1)
    for path in paths.prefix(3) { lines.row(path, indent: 5) }
    if paths.count > 3 { lines.row("and \(paths.count - 3) more", indent: 5) }
  }

  // MARK: Leaks

  private func writeFindings(_ report: DiffReport, to lines: inout TextLines) {
    lines.line(PlainText.escaped(DiffWords.headline(report)), emphasized: 1)
    guard let section = report.findings else {
      lines.blank()
      return
    }
    if let rest = DiffWords.restOfSection(moved: section.moved, unsteady: section.unsteady) {
      lines.line("of the unchanged: \(rest)", indent: 2)
    }
    lines.blank()
    for kind in DiffKind.allCases {
      for change in section[kind] { write(change, of: report, to: &lines) }
    }
  }

  private func write(_ change: FindingChange, of report: DiffReport, to lines: inout TextLines) {
    let runs = DiffWords.runs(change, of: report).map { ", \($0)" } ?? ""
    let figures = PlainText.escaped(DiffWords.figures(change)) + runs
    lines.line(
      "\(Self.title(change.kind)): \(figures)", emphasized: change.kind == .better || change.kind == .gone ? 0 : 2,
      tint: Tint(change.finding))
    if let match = DiffWords.match(change.match) { lines.line(PlainText.escaped(match), indent: 2) }
    let text = FindingText(style: style)
    switch change.kind {
    case .new, .worse: text.write(change.finding, to: &lines)
    case .better, .gone:
      text.writeHeading(of: change.finding, to: &lines, indent: 2)
      lines.blank()
    }
  }

  private static func title(_ kind: DiffKind) -> String {
    switch kind {
    case .new: "NEW LEAK"
    case .worse: "WORSE LEAK"
    case .better: "better"
    case .gone: "gone"
    }
  }

  // MARK: Figures

  private func writeTotals(_ report: DiffReport, to lines: inout TextLines) {
    lines.line("In all", emphasized: 2)
    let names = report.totals.map { DiffWords.name($0.figure) }
    let steps = report.totals.map { DiffWords.step($0) }
    let nameWidth = names.map(\.count).max() ?? 0
    let stepWidth = steps.map(\.count).max() ?? 0
    for (index, change) in report.totals.enumerated() {
      let name = names[index] + String(repeating: " ", count: nameWidth - names[index].count)
      let step = steps[index] + String(repeating: " ", count: stepWidth - steps[index].count)
      let verdict: String
      switch change.direction {
      case .same:
        verdict =
          abs((change.ratio ?? 1) - 1) < 0.05 ? "unchanged" : "\(DiffWords.ratio(change)), within expected variation"
      case .worse:
        verdict = "worse, \(DiffWords.ratio(change))\(DiffWords.expectation(change).map { " of \($0)" } ?? "")"
      case .better:
        verdict = "better, \(DiffWords.ratio(change))\(DiffWords.expectation(change).map { " of \($0)" } ?? "")"
      }
      lines.row("\(name)  \(step)  \(verdict)", indent: 2)
    }
    lines.blank()
  }

  private func write(_ title: String, _ section: DiffSection<AllocationChange>, to lines: inout TextLines) {
    write(title, section, to: &lines) { change, lines in write(change, to: &lines) }
  }

  private func write(_ section: DiffSection<EstimatedSiteChange>, to lines: inout TextLines) {
    write("Estimated sites", section, to: &lines) { change, lines in
      writeHead(change.kind, DiffWords.figures(change), change.match, to: &lines)
      write(change.frames, to: &lines)
    }
  }

  private func write<Change>(
    _ title: String, _ section: DiffSection<Change>, to lines: inout TextLines,
    _ write: (Change, inout TextLines) -> Void
  ) {
    lines.line("\(title): \(DiffWords.counts(section))", emphasized: title.split(separator: " ").count)
    if let rest = DiffWords.restOfSection(moved: section.moved, unsteady: section.unsteady) {
      lines.line("of the unchanged: \(rest)", indent: 2)
    }
    let shown = section.changes.prefix(limit ?? section.changes.count)
    for change in shown { write(change, &lines) }
    if shown.count < section.changes.count {
      lines.line(
        "\(Decimal.counted(UInt64(section.changes.count - shown.count), "smaller change")); show more with --limit",
        indent: 2)
    }
    lines.blank()
  }

  private func write(_ change: AllocationChange, to lines: inout TextLines) {
    writeHead(change.kind, change.name, change.match, to: &lines)
    lines.line(PlainText.escaped(DiffWords.figures(change)), indent: 6)
    write(change.frames, to: &lines)
  }

  private func writeHead(_ kind: DiffKind, _ text: String, _ match: DiffMatch?, to lines: inout TextLines) {
    lines.line(
      "\(DiffWords.name(kind))  \(PlainText.escaped(text))", indent: 2,
      emphasized: kind == .better || kind == .gone ? 0 : 3)
    if let match = DiffWords.match(match) { lines.line(PlainText.escaped(match), indent: 6) }
  }

  private func write(_ all: [DiffFrame], to lines: inout TextLines) {
    let frames = style.stacks == .full ? all[...] : all.prefix(4)
    for (index, frame) in frames.enumerated() {
      let place = frame.file.map { file in
        "\(PlainText.escaped(fileName(ofPath: file)))\(frame.line.map { ":\($0)" } ?? "")"
      }
      lines.pair(PlainText.escaped(frame.function), place, indent: index == 0 ? 6 : 8, continuation: 10)
    }
    if frames.count < all.count {
      lines.row("… \(Decimal.counted(UInt64(all.count - frames.count), "more caller"))", indent: 8)
    }
  }

  private func writeRenames(_ report: DiffReport, to lines: inout TextLines) {
    guard !report.renames.isEmpty else { return }
    lines.line("Assumed to be renamed", emphasized: 4)
    for rename in report.renames.prefix(20) { lines.row(PlainText.escaped("\(rename.old) → \(rename.new)"), indent: 2) }
    if report.renames.count > 20 { lines.row("… \(report.renames.count - 20) more", indent: 2) }
    lines.blank()
  }
}
