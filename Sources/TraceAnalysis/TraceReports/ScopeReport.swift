// The objects that a scope left behind, for programs: the output of `leaktrace scope-report`.

import LeakDetection
import TextWriting
import TraceReading

/// The leaks of one scope in one heap image, as JSON.
///
/// ```json
/// {"scope": {"number": 3, "name": "checkout", "file": "Shop/Checkout.swift", "line": 12, "isEnded": true},
/// "liveBlocks": 12,
///  "findings": [{"title": "…", "text": "…", "types": ["Basket"], "instances": 1, "retainedBytes": 48, "library":
///  false, "finding": {…}}], "remarks": ["…"]}
/// ```
/// `types`: the types of the objects on the path, without module names. `finding`: the same fields as in the report of
/// `analyze`.
package struct ScopeReport {
  package var births: ScopeBirths
  package var findings: [Finding]
  package var remarks: [String]
  private let name: String
  private let file: String

  /// `marks`: the table with the name and the file of the scope's beginning.
  package init(_ births: ScopeBirths, marks: MarkTable, findings: [Finding], remarks: [String]) {
    self.births = births
    self.findings = findings
    self.remarks = remarks
    name = births.beginning.map { marks.text($0.name) } ?? ""
    file = births.beginning.map { marks.text($0.file) } ?? ""
  }

  /// The program's findings, without library findings.
  package var programFindings: [Finding] { findings.filter { !$0.isLibrary } }

  package func json() -> String {
    let scope: JSONValue = .object([
      ("number", .number(births.beginning?.number ?? 0)),
      ("name", .string(name)),
      ("file", .string(file)),
      ("line", .number(UInt64(births.beginning?.line ?? 0))),
      ("isEnded", .bool(births.end != nil)),
    ])
    return JSONValue.object([
      ("scope", scope),
      ("liveBlocks", .number(UInt64(births.live.count))),
      ("findings", .array(findings.map(value))),
      ("remarks", .array(remarks.map { .string($0) })),
    ]).text + "\n"
  }

  /// Returns every finding as text.
  package func text(style: TextStyle = TextStyle()) -> String {
    findings.map { FindingText.text($0, style: style) }.joined()
  }

  private func value(_ finding: Finding) -> JSONValue {
    let text = FindingText.text(finding, style: TextStyle(width: 100))
    let title = text.split(separator: "\n").first.map(String.init) ?? ""
    return .object([
      ("title", .string(title)),
      ("text", .string(text)),
      ("types", .array(finding.path.map { .string($0.type) })),
      ("instances", .number(UInt64(finding.instances))),
      ("retainedBytes", .number(finding.retainedBytes.rawValue)),
      ("library", .bool(finding.isLibrary)),
      ("finding", FindingJSON.value(finding)),
    ])
  }
}
