// Answers about fixes as Markdown, for a comment on a pull request.

import LeakDetection
import RunDiff
import TextWriting
import TraceReading
import Wording

/// Renders the answers of `leaktrace verify` as a table, and each remaining or new finding as a folded section. Formats
/// only; makes no decisions.
package enum FixMarkdown {
  package static func text(_ report: FixReport) -> String {
    var markdown = MarkdownText()
    markdown.line("### leaktrace: \(MarkdownText.escaped(FixWords.conclusion(report)))")
    markdown.line()
    markdown.line("Old: \(MarkdownText.escaped(DiffWords.side(report.old)))  ")
    markdown.line("New: \(MarkdownText.escaped(DiffWords.side(report.new)))")
    markdown.line()
    writeTable(report, to: &markdown)
    writeDetails(report, to: &markdown)
    if let advice = FixWords.advice(report) { _ = markdown.line(ifRoom: "\(MarkdownText.escaped(advice))\n") }
    for run in report.unjudged {
      _ = markdown.line(
        ifRoom: "> not judged: \(MarkdownText.code(run.path)): \(MarkdownText.escaped(run.reason))\n")
    }
    for remark in report.remarks { _ = markdown.line(ifRoom: "> \(MarkdownText.escaped(remark))\n") }
    return markdown.text
  }

  private static func writeTable(_ report: FixReport, to markdown: inout MarkdownText) {
    var rows = report.fixes.map { fix in
      [
        "\(mark(fix.answer)) \(FixWords.name(fix.answer))", FindingMarkdown.title(fix.new ?? fix.old),
        MarkdownText.escaped(FixWords.evidence(fix)),
      ]
    }
    rows += report.newFindings.map { new in
      let runs = report.new.runs.count > 1 ? "in \(new.runs) of \(report.new.runs.count) runs; " : ""
      return ["❌ new", FindingMarkdown.title(new.finding), runs + FindingTitle.extent(new.finding)]
    }
    guard !rows.isEmpty else { return }
    markdown.line("| | finding | evidence |")
    markdown.line("| --- | --- | --- |")
    var shown = 0
    for row in rows {
      guard markdown.line(ifRoom: MarkdownText.row(row)) else { break }
      shown += 1
    }
    if shown < rows.count { markdown.line(MarkdownText.row(["", "… \(rows.count - shown) more", ""])) }
    markdown.line()
  }

  private static func mark(_ answer: FixAnswer) -> String {
    answer.isPresent ? "❌" : answer.isUndecided ? "❔" : "✅"
  }

  private static func writeDetails(_ report: FixReport, to markdown: inout MarkdownText) {
    let findings =
      report.fixes.filter(\.answer.isPresent).map { (FixWords.name($0.answer), $0.new ?? $0.old) }
      + report.newFindings.map { ("new", $0.finding) }
    for (index, (name, finding)) in findings.enumerated() {
      let section = FindingMarkdown.details("\(name): \(FindingMarkdown.title(finding))", FindingDocument.body(finding))
      guard markdown.line(ifRoom: section) else {
        markdown.line("… and \(findings.count - index) more that do not fit here.")
        markdown.line()
        return
      }
    }
  }
}
