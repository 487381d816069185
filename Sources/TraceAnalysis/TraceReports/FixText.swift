// Answers about fixes as text.

import RunDiff
import TextWriting
import TraceReading

/// Renders the answers of `leaktrace verify` for a terminal or a log. Formats only; makes no decisions.
package struct FixText {
  private let style: TextStyle

  package init(style: TextStyle = TextStyle()) { self.style = style }

  package func text(_ report: FixReport) -> String {
    var lines = TextLines(style: style)
    write("old", report.old, to: &lines)
    if !report.new.runs.isEmpty { write("new", report.new, to: &lines) }
    for run in report.unjudged {
      lines.line("not judged: \(PlainText.escaped(run.path)): \(PlainText.escaped(run.reason))", indent: 2)
    }
    for remark in report.remarks { lines.line("note: \(PlainText.escaped(remark))", indent: 2) }
    lines.blank()
    let conclusion = FixWords.conclusion(report)
    lines.line(conclusion, emphasized: conclusion.prefix { $0 != ":" }.split(separator: " ").count)
    lines.blank()
    for fix in report.fixes { write(fix, to: &lines) }
    for new in report.newFindings {
      let runs = report.new.runs.count
      let share = runs > 1 ? " in \(new.runs) of \(runs) runs" : ""
      lines.line("new\(share)", emphasized: 1, tint: Tint(new.finding))
      FindingText(style: style).write(new.finding, to: &lines)
    }
    if let advice = FixWords.advice(report) { lines.line(advice) }
    return lines.text
  }

  private func write(_ name: String, _ side: DiffSide, to lines: inout TextLines) {
    lines.line("\(name)  \(PlainText.escaped(DiffWords.side(side)))", emphasized: 1)
    for run in side.runs.prefix(Self.shownRuns) { lines.row(PlainText.escaped(run.path), indent: 5) }
    if side.runs.count > Self.shownRuns { lines.row("and \(side.runs.count - Self.shownRuns) more", indent: 5) }
  }

  private static let shownRuns = 5

  private func write(_ fix: CheckedFix, to lines: inout TextLines) {
    let name = FixWords.name(fix.answer)
    lines.line(
      "\(name): \(PlainText.escaped(FixWords.evidence(fix)))", emphasized: name.split(separator: " ").count,
      tint: fix.answer.isPresent ? Tint(fix.new ?? fix.old) : nil)
    if let match = DiffWords.match(fix.match) { lines.line(PlainText.escaped(match), indent: 2) }
    FindingText(style: style).writeHeading(of: fix.new ?? fix.old, to: &lines, indent: 2)
    if let place = (fix.new ?? fix.old).origin {
      let words = [place.function, place.position].compactMap(\.self).joined(separator: "  ")
      lines.row("allocated in \(PlainText.escaped(words))", indent: 2)
    }
    lines.row("Fingerprint: \(PlainText.escaped(fix.old.fingerprint))", indent: 2, isDimmed: true)
    lines.blank()
  }
}
