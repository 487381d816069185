// Findings as Markdown, for a comment on a pull request or a step's summary.

import LeakDetection
import LeakGates
import RunDiff
import TextWriting
import TraceReading
import Wording

/// Renders a headline, the gates, a table of the findings that make a gate fail, and each finding as a folded section.
/// Formats only; makes no decisions.
struct FindingMarkdown {
  let document: FindingDocument

  var text: String {
    var markdown = MarkdownText()
    let failing = document.entries.filter(\.judged.isFailing)
    let others = document.entries.filter { !$0.judged.isFailing }
    markdown.line("### leaktrace: \(headline(failing)) in \(MarkdownText.code(document.programName))")
    markdown.line()
    Self.write(document.gates, to: &markdown)
    Self.writeTable(failing, to: &markdown)
    Self.writeDetails(failing, to: &markdown)
    if !others.isEmpty {
      markdown.line(
        "<details><summary>\(Decimal.counted(UInt64(others.count), "finding")) that \(others.count == 1 ? "does" : "do") not fail a gate</summary>"
      )
      markdown.line()
      var shown = 0
      for entry in others {
        let standing = MarkdownText.escaped(FindingDocument.standing(entry.judged) ?? "")
        guard
          markdown.line(ifRoom: "- \(Self.title(entry.finding)), \(FindingTitle.extent(entry.finding)): \(standing)")
        else { break }
        shown += 1
      }
      if shown < others.count { markdown.line("- … \(others.count - shown) more") }
      markdown.line()
      markdown.line("</details>")
      markdown.line()
    }
    if let obstacle = document.obstacle, !document.remarks.contains(obstacle) {
      _ = markdown.line(ifRoom: "> \(MarkdownText.escaped(obstacle))\n")
    }
    for remark in document.remarks { _ = markdown.line(ifRoom: "> \(MarkdownText.escaped(remark))\n") }
    return markdown.text
  }

  private func headline(_ failing: [FindingDocument.Entry]) -> String {
    if failing.isEmpty, document.unjudged != nil { return "leaks cannot be judged" }
    if document.entries.isEmpty { return "no leaks" }
    let new = failing.count { $0.judged.standing == .new }
    let parts = [(new, "new"), (failing.count - new, "worse")].filter { $0.0 > 0 }.map {
      "\(Decimal.grouped(UInt64($0))) \($1)"
    }
    return parts.isEmpty ? "no new leaks" : "\(parts.joined(separator: " and ")) leak\(failing.count == 1 ? "" : "s")"
  }

  static func write(_ gates: [GateOutcome], to markdown: inout MarkdownText) {
    for gate in gates {
      let words = gate.hasFailed ? "failed" : "passed"
      let explanation = gate.explanation.isEmpty ? "" : ": \(MarkdownText.escaped(gate.explanation))"
      markdown.line("- \(gate.hasFailed ? "❌" : "✅") gate \(MarkdownText.code(gate.gate)) \(words)\(explanation)")
    }
    if !gates.isEmpty { markdown.line() }
  }

  private static func writeTable(_ entries: [FindingDocument.Entry], to markdown: inout MarkdownText) {
    guard !entries.isEmpty else { return }
    markdown.line("| | finding | instances | retained | where |")
    markdown.line("| --- | --- | ---: | ---: | --- |")
    var shown = 0
    for entry in entries.prefix(50) {
      let finding = entry.finding
      let state = if case .worse = entry.judged.standing { "worse" } else { "new" }
      let retained = finding.verdict == .dangling ? "" : Decimal.bytes(finding.retainedBytes.rawValue)
      let place = entry.place.map { MarkdownText.code("\($0.path):\($0.line)") } ?? ""
      let cells = [state, title(finding), Decimal.grouped(UInt64(max(0, finding.instances))), retained, place]
      guard markdown.line(ifRoom: MarkdownText.row(cells)) else { break }
      shown += 1
    }
    if shown < entries.count { markdown.line(MarkdownText.row(["", "… \(entries.count - shown) more", "", "", ""])) }
    markdown.line()
  }

  private static func writeDetails(_ entries: [FindingDocument.Entry], to markdown: inout MarkdownText) {
    for (index, entry) in entries.enumerated() {
      let standing = FindingDocument.standing(entry.judged).map { " · \(MarkdownText.escaped($0))" } ?? ""
      guard markdown.line(ifRoom: details("\(title(entry.finding))\(standing)", FindingDocument.body(entry.finding)))
      else {
        markdown.line("… and \(entries.count - index) more that do not fit here.")
        markdown.line()
        return
      }
    }
  }

  /// Returns a collapsible section below `summary`. `summary` must already be Markdown.
  static func details(_ summary: String, _ body: String) -> String {
    "<details><summary>\(summary)</summary>\n\n\(MarkdownText.preformatted(body))\n\n</details>\n"
  }

  static func title(_ finding: Finding) -> String {
    let subject = FindingTitle.subject(finding)
    let title = VerdictWords(finding.evidence).title
    return subject.isEmpty ? title : "\(title): \(MarkdownText.code(subject))"
  }
}
