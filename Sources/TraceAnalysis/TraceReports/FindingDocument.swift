// Judged findings for other programs and for pull requests: the common part of all their formats.

import LeakDetection
import LeakGates
import RunDiff
import TraceReading
import Wording

/// The findings of one program and the outcomes of its gates, ready to be written in a format that CI systems read.
///
/// Only formats. Source files are read when it is made, and not afterwards.
package struct FindingDocument: Sendable {
  /// A finding with its places in the source tree.
  struct Entry {
    var judged: JudgedFinding
    var notes: [SourceTree.Note]

    var finding: Finding { judged.finding }
    var place: SourcePlace? { notes.first?.place }
  }

  /// Path of the executable; empty if the trace does not have it.
  let program: String
  let entries: [Entry]
  let gates: [GateOutcome]
  /// Absolute; nil if there is no source tree.
  let root: String?
  let toolVersion: String
  let remarks: [String]
  /// The reason why leaks could not be judged; nil if they were. A report with a reason must not look like *no leaks*.
  let unjudged: String?

  /// `judged`: in the order of the report; weak suspicions are left out. `remarks`: sentences about facts that make
  /// findings less certain. `unjudged`: the reason why leaks could not be judged; nil if they were.
  package init(
    program: String, judged: [JudgedFinding], gates: [GateOutcome], source: SourceTree, toolVersion: String,
    remarks: [String], unjudged: String? = nil
  ) {
    self.program = program
    let judged = judged.filter { !$0.finding.isWeak }
    let notes = source.notes(on: judged.map(\.finding))
    entries = zip(judged, notes).map { Entry(judged: $0, notes: $1) }
    self.gates = gates
    root = source.root
    self.toolVersion = toolVersion
    self.remarks = remarks
    self.unjudged = unjudged
  }

  /// SARIF 2.1.0, for code scanning.
  package func sarif() -> String { SarifLog(document: self).text }

  /// JUnit XML, with one test for each finding. Gates are properties of the suite.
  package func junit() -> String { JUnitXML(document: self).text }

  /// Commands for a GitHub Actions log, one a line, that annotate the findings that make a gate fail. Empty if no gate
  /// fails.
  package func annotations() -> String { WorkflowAnnotations(document: self).text }

  /// Issues for GitLab's code quality report, as JSON.
  package func codeQuality() -> String { CodeQualityReport(document: self).text }

  /// For a comment on a pull request, or a step's summary.
  package func markdown() -> String { FindingMarkdown(document: self).text }

  // MARK: Words

  var programName: String { program.isEmpty ? "unknown program" : PlainText.escaped(fileName(ofPath: program)) }

  /// `Retain cycle: Parent ⇄ Child`. Equal for equal findings of other runs.
  package static func headline(_ finding: Finding) -> String {
    let subject = PlainText.escaped(FindingTitle.subject(finding))
    let title = VerdictWords(finding.evidence).title
    return subject.isEmpty ? title : "\(title): \(subject)"
  }

  /// Returns a finding's standing relative to known findings: `worse: 2 → 5 instances`; nil if it is new.
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

  /// Returns the words before the reason why a finding does not count as the program's.
  static func owner(_ finding: Finding) -> String {
    finding.owner == .unknown ? "Of unknown origin" : "Not caused by the program"
  }

  /// Extent, standing, tests and advice, a line each, for formats that can show only a few lines.
  static func summary(_ judged: JudgedFinding, separator: String = "\n") -> String {
    let extent = FindingTitle.extent(judged.finding) + (standing(judged).map { "; \($0)" } ?? "") + "."
    let advice = judged.finding.advice.map { PlainText.escaped(AdviceWords.sentence($0)) }
    return ([extent, TestWords.sentence(judged.finding)].compactMap(\.self) + advice).joined(separator: separator)
  }

  /// `leaks cannot be judged: app left no heap image`; nil if they were judged.
  var obstacle: String? { unjudged.map { "leaks cannot be judged: \(PlainText.escaped($0))" } }

  /// The executable's path below the root of the tree; nil if it is elsewhere, or not known.
  var programPathInTree: String? {
    guard let root, program.utf8.starts(with: (root + "/").utf8) else { return nil }
    return String(decoding: program.utf8.dropFirst(root.utf8.count + 1), as: UTF8.self)
  }

  /// A whole finding, as in a text report.
  package static func body(_ finding: Finding) -> String {
    var text = FindingText.text(finding, style: TextStyle(width: 100))
    while text.last == "\n" { text.removeLast() }
    return text
  }
}
