// A comparison of builds as Markdown, for a comment on a pull request.

import LeakGates
import RunDiff
import TextWriting
import TraceReading

/// Renders a comparison for a reviewer: lists the changes, largest first, and counts the unchanged items. Formats only;
/// makes no decisions.
package enum DiffMarkdown {
  /// Maximum number of types, and of sites, to list for each kind of change. The JSON document has all of them.
  private static let listed = 10
  /// Maximum number of findings to list for each kind of change.
  private static let listedFindings = 30

  package static func text(_ report: DiffReport, gates: [GateOutcome]) -> String {
    var markdown = MarkdownText()
    markdown.line("### leaktrace: \(headline(report))")
    markdown.line()
    markdown.line("Old: \(MarkdownText.escaped(DiffWords.side(report.old)))  ")
    markdown.line("New: \(MarkdownText.escaped(DiffWords.side(report.new)))")
    markdown.line()
    FindingMarkdown.write(gates, to: &markdown)
    writeTotals(report, to: &markdown)
    writeFindings(report, to: &markdown)
    write(report.types, "Types", to: &markdown, line)
    write(report.sites, report.listsHolders ? "Types and holders" : "Allocation sites", to: &markdown, line)
    if let section = report.estimatedSites { write(section, "Estimated sites", to: &markdown, line) }
    writeRenames(report.renames, to: &markdown)
    for remark in [DiffWords.unit(report.unit)].compactMap(\.self) + report.remarks {
      _ = markdown.line(ifRoom: "> \(MarkdownText.escaped(remark))\n")
    }
    return markdown.text
  }

  /// Returns the headline, such as `2 new and 1 worse leaks, 3 gone`.
  private static func headline(_ report: DiffReport) -> String {
    guard let findings = report.findings else { return "leaks were not compared" }
    let counts = DiffKind.allCases.compactMap { kind in
      let count = findings[kind].count
      return count == 0 ? nil : "\(Decimal.grouped(UInt64(count))) \(DiffWords.name(kind))"
    }
    guard !counts.isEmpty else { return "no leak changed" }
    return "\(counts.joined(separator: ", ")) leak\(findings.changes.count == 1 ? "" : "s")"
  }

  // MARK: Figures

  private static func writeTotals(_ report: DiffReport, to markdown: inout MarkdownText) {
    let changed = report.totals.filter { $0.direction != .same }
    guard !changed.isEmpty else {
      if !report.totals.isEmpty { markdown.line("No figure of the whole program changed beyond its spread.\n") }
      return
    }
    // The expected amount differs from the old amount only if the two sides did different amounts of work.
    let isRelated = changed.contains { DiffWords.expectation($0) != nil }
    markdown.line("| whole program | old → new |\(isRelated ? " expected |" : "") change | |")
    markdown.line("| --- | ---: |\(isRelated ? " ---: |" : "") ---: | --- |")
    for change in changed {
      var cells = [DiffWords.name(change.figure), DiffWords.step(change)]
      if isRelated { cells.append(DiffWords.amount(change.expected, of: change.figure)) }
      cells += [DiffWords.ratio(change), change.direction == .worse ? "worse" : "better"]
      markdown.line(MarkdownText.row(cells))
    }
    markdown.line()
  }

  // MARK: Findings

  private static func writeFindings(_ report: DiffReport, to markdown: inout MarkdownText) {
    guard let findings = report.findings else {
      markdown.line(
        "Leaks were not compared\(report.findingsUnavailable.map { ": \(MarkdownText.escaped($0))" } ?? "").")
      markdown.line()
      return
    }
    for kind in DiffKind.allCases {
      let changes = findings[kind]
      guard !changes.isEmpty else { continue }
      markdown.line("#### \(kind.rawValue.capitalizedFirst) leaks: \(Decimal.grouped(UInt64(changes.count)))")
      markdown.line()
      let rest = list(changes, limit: listedFindings) { write($0, of: report, to: &markdown) }
      if rest > 0 { markdown.line("… and \(Decimal.grouped(UInt64(rest))) more.\n") }
    }
    markdown.line(unchanged(findings.unchanged, moved: findings.moved, unsteady: findings.unsteady, "leak"))
    markdown.line()
  }

  /// Writes a finding: one line if the leak is gone, otherwise a collapsible section. Returns false if there is no
  /// room.
  private static func write(_ change: FindingChange, of report: DiffReport, to markdown: inout MarkdownText) -> Bool {
    let notes = [DiffWords.figures(change), DiffWords.runs(change, of: report), DiffWords.match(change.match)]
      .compactMap(\.self).filter { !$0.isEmpty }
    let summary = "\(FindingMarkdown.title(change.finding)) · \(MarkdownText.escaped(notes.joined(separator: "; ")))"
    if change.kind == .gone { return markdown.line(ifRoom: "- \(summary)\n") }
    return markdown.line(ifRoom: FindingMarkdown.details(summary, FindingDocument.body(change.finding)))
  }

  // MARK: Types and sites

  private static func write<Change>(
    _ section: DiffSection<Change>, _ title: String, to markdown: inout MarkdownText, _ line: (Change) -> String
  ) {
    guard !section.changes.isEmpty || section.unchanged > 0 else { return }
    guard !section.changes.isEmpty else {
      markdown.line("\(title): \(DiffWords.counts(section)).")
      markdown.line()
      return
    }
    markdown.line("<details><summary>\(title): \(DiffWords.counts(section))</summary>")
    markdown.line()
    for kind in DiffKind.allCases {
      let changes = section[kind]
      guard !changes.isEmpty else { continue }
      markdown.line("**\(kind.rawValue.capitalizedFirst)**")
      markdown.line()
      let rest = list(changes, limit: listed) { change in markdown.line(ifRoom: "- \(line(change))") }
      if rest > 0 { markdown.line("- … \(Decimal.grouped(UInt64(rest))) more") }
      markdown.line()
    }
    if let rest = DiffWords.restOfSection(moved: section.moved, unsteady: section.unsteady) {
      markdown.line("Among the unchanged ones, \(rest).\n")
    }
    markdown.line("</details>")
    markdown.line()
  }

  private static func line(_ change: AllocationChange) -> String {
    line(change.name, change.frames, [DiffWords.figures(change), DiffWords.match(change.match)])
  }

  private static func line(_ change: EstimatedSiteChange) -> String {
    line(change.name, change.frames, [DiffWords.figures(change), DiffWords.match(change.match)])
  }

  private static func line(_ name: String, _ frames: [DiffFrame], _ words: [String?]) -> String {
    var text = MarkdownText.code(name)
    if let frame = frames.first(where: { $0.file != nil }), let file = frame.file {
      text += " at \(MarkdownText.code(fileName(ofPath: file) + (frame.line.map { ":\($0)" } ?? "")))"
    }
    let notes = words.compactMap(\.self).filter { !$0.isEmpty }
    return notes.isEmpty ? text : "\(text): \(MarkdownText.escaped(notes.joined(separator: "; ")))"
  }

  private static func writeRenames(_ renames: [DiffRename], to markdown: inout MarkdownText) {
    guard !renames.isEmpty else { return }
    markdown.line("Taken for renamed:")
    markdown.line()
    let rest = list(renames, limit: listed) {
      markdown.line(ifRoom: "- \(MarkdownText.code($0.old)) → \(MarkdownText.code($0.new))")
    }
    if rest > 0 { markdown.line("- … \(Decimal.grouped(UInt64(rest))) more") }
    markdown.line()
  }

  /// Writes items until `limit` is reached or no room is left. Returns the number of items that were not written.
  private static func list<Item>(_ items: [Item], limit: Int, _ write: (Item) -> Bool) -> Int {
    var shown = 0
    for item in items.prefix(limit) {
      guard write(item) else { break }
      shown += 1
    }
    return items.count - shown
  }

  private static func unchanged(_ count: Int, moved: Int, unsteady: Int, _ noun: String) -> String {
    let rest = DiffWords.restOfSection(moved: moved, unsteady: unsteady).map { "; \($0)" } ?? ""
    return "\(Decimal.counted(UInt64(max(0, count)), noun)) unchanged\(rest)."
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
