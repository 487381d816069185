// Judged findings for other programs and for pull requests: the part that all formats share.

import LeakDetection
import LeakGates
import RunDiff
import TextWriting
import TraceReading
import Wording

/// The findings of one program and the outcomes of its gates, to be written in formats for CI systems.
///
/// Formats only; makes no decisions. Reads source files only in `init`.
package struct FindingDocument: Sendable {
  /// A finding with its places in the source tree.
  struct Entry {
    var judged: JudgedFinding
    var notes: [SourceTree.Note]
    /// The lines along the path from the root, in order.
    var pathNotes: [SourceTree.Note]

    var finding: Finding { judged.finding }
    var place: SourcePlace? { notes.first?.place }
    /// First the path from the root in order, then the other lines. Leaves out the best line, unless the path has it.
    var related: [SourceTree.Note] {
      pathNotes + notes.dropFirst().filter { note in !pathNotes.contains { $0.place == note.place } }
    }
  }

  /// Path of the executable; empty if the trace does not name it.
  let program: String
  let entries: [Entry]
  let gates: [GateOutcome]
  /// Absolute path of the source tree; nil if there is none.
  let root: String?
  let toolVersion: String
  let remarks: [String]
  /// The reason why leaks could not be judged; nil if they were judged. If there is a reason, no format may look like
  /// *no leaks*.
  let unjudged: String?

  /// `judged`: the findings in order of the report; weak suspicions are left out. `remarks`: sentences about facts that
  /// make findings less certain. `unjudged`: the reason why leaks could not be judged; nil if they were judged.
  package init(
    program: String, judged: [JudgedFinding], gates: [GateOutcome], source: SourceTree, toolVersion: String,
    remarks: [String], unjudged: String? = nil
  ) {
    self.program = program
    let judged = judged.filter { !$0.finding.isWeak }
    let notes = source.notes(on: judged.map(\.finding))
    let pathNotes = source.pathNotes(on: judged.map(\.finding))
    entries = judged.indices.map { Entry(judged: judged[$0], notes: notes[$0], pathNotes: pathNotes[$0]) }
    self.gates = gates
    root = source.root
    self.toolVersion = toolVersion
    self.remarks = remarks
    self.unjudged = unjudged
  }

  /// Returns a SARIF 2.1.0 log, for code scanning.
  package func sarif() -> String { SarifLog(document: self).text }

  /// Returns JUnit XML, with one test for each finding. Gates are properties of the suite.
  package func junit() -> String { JUnitXML(document: self).text }

  /// Returns commands for a GitHub Actions log, one per line. They annotate the findings that make a gate fail. Empty
  /// if no gate fails.
  package func annotations() -> String { WorkflowAnnotations(document: self).text }

  /// Returns the issues of GitLab's code quality report, as JSON.
  package func codeQuality() -> String { CodeQualityReport(document: self).text }

  /// Returns lines as a compiler prints them, for editors. Empty if no finding needs attention.
  package func compilerLines() -> String { CompilerLines(document: self).text }

  /// Returns Markdown for a comment on a pull request, or for a step's summary.
  package func markdown() -> String { FindingMarkdown(document: self).text }

  // MARK: Words

  var programName: String { program.isEmpty ? "unknown program" : PlainText.escaped(fileName(ofPath: program)) }

  /// Returns a headline such as `Retain cycle: Parent ⇄ Child`. Equal findings of other runs have the same headline.
  package static func headline(_ finding: Finding) -> String {
    let subject = PlainText.escaped(FindingTitle.subject(finding))
    let title = VerdictWords(finding.evidence).title
    return subject.isEmpty ? title : "\(title): \(subject)"
  }

  /// Returns a finding's standing relative to known findings, such as `worse: 2 → 5 instances`; nil if the finding is
  /// new.
  static func standing(_ judged: JudgedFinding) -> String? {
    switch judged.standing {
    case .new: judged.isFailing ? nil : "suspected, not proven"
    case .worse(let how): how.isEmpty ? "worse" : "worse: \(PlainText.escaped(how))"
    case .known(let reason): reason.isEmpty ? "known" : "known: \(PlainText.escaped(reason))"
    case .hidden(let pattern): "hidden by the suppression \(PlainText.escaped(pattern))"
    case .library:
      (judged.finding.owner == .unknown ? "of unknown origin" : "not the program's")
        + (judged.finding.owner.reason.map { ": \(PlainText.escaped($0))" } ?? "")
    }
  }

  /// Returns the introduction to the reason why a finding is not the program's.
  static func owner(_ finding: Finding) -> String {
    finding.owner == .unknown ? "Of unknown origin" : "Not caused by the program"
  }

  /// Returns extent, standing, tests and advice, one per line, for formats that can show only a few lines.
  static func summary(_ judged: JudgedFinding, separator: String = "\n") -> String {
    let extent = FindingTitle.extent(judged.finding) + (standing(judged).map { "; \($0)" } ?? "") + "."
    let advice = judged.finding.advice.map { PlainText.escaped(AdviceWords.sentence($0)) }
    return ([extent, TestWords.sentence(judged.finding)].compactMap(\.self) + advice).joined(separator: separator)
  }

  /// A sentence such as `leaks cannot be judged: app left no heap image`; nil if they were judged.
  var obstacle: String? { unjudged.map { "leaks cannot be judged: \(PlainText.escaped($0))" } }

  /// The executable's path relative to the source tree's root; nil if the executable is elsewhere or unknown.
  var programPathInTree: String? {
    guard let root, program.utf8.starts(with: (root + "/").utf8) else { return nil }
    return String(decoding: program.utf8.dropFirst(root.utf8.count + 1), as: UTF8.self)
  }

  /// Returns the whole text of a finding, as in a text report.
  package static func body(_ finding: Finding) -> String {
    var text = FindingText.text(finding, style: TextStyle(width: 100))
    while text.last == "\n" { text.removeLast() }
    return text
  }
}
