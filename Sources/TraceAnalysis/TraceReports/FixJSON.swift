// Answers about fixes as JSON, as docs/report-schema.md describes it.

import LeakDetection
import RunDiff
import TextWriting
import TraceReading

/// Renders all answers of `leaktrace verify`. Formats only; makes no decisions.
package enum FixJSON {
  /// The version of the format. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  package static func text(_ report: FixReport) -> String { document(report).text + "\n" }

  package static func document(_ report: FixReport) -> JSONValue {
    .object([
      ("schema", .string("leaktrace.verify")),
      ("schemaVersion", .number(schemaVersion)),
      ("conclusion", .string(conclusion(report))),
      ("summary", .string(FixWords.conclusion(report))),
      ("old", DiffJSON.value(report.old)),
      ("new", DiffJSON.value(report.new)),
      ("fixes", .array(report.fixes.map { value($0, report) })),
      ("newFindings", .array(report.newFindings.map(value))),
      (
        "unjudged",
        .array(report.unjudged.map { .object([("path", .string($0.path)), ("reason", .string($0.reason))]) })
      ),
      ("renames", .array(report.renames.map(DiffJSON.value))),
      ("remarks", .array(report.remarks.map { .string($0) })),
    ])
  }

  static func conclusion(_ report: FixReport) -> String {
    if report.hasFailed { return "notFixed" }
    if !report.unjudged.isEmpty { return "notJudged" }
    return report.isUndecided ? "notProven" : "fixed"
  }

  private static func value(_ fix: CheckedFix, _ report: FixReport) -> JSONValue {
    .object([
      ("answer", .string(fix.answer.rawValue)),
      ("fingerprint", .string(fix.old.fingerprint)),
      ("explanation", .string(FixWords.evidence(fix))),
      ("match", DiffJSON.value(fix.match)),
      ("figures", .array(fix.figures.map(DiffJSON.value))),
      ("oldBlocks", .number(fix.oldBlocks)),
      ("runs", .array(zip(report.new.runs, fix.runs).map(value))),
      ("oldFinding", FindingJSON.value(fix.old)),
      ("newFinding", fix.new.map(FindingJSON.value) ?? .null),
    ])
  }

  private static func value(_ run: DiffSide.Run, _ share: CheckedFix.Run) -> JSONValue {
    let (site, blocks): (String, JSONValue) =
      switch share.site {
      case .reached(let blocks): ("reached", .number(blocks))
      case .sampled: ("sampled", .null)
      case .notReached(let gap): (gap.isCertain ? "notReached" : "notKnown", .null)
      }
    return .object([
      ("path", .string(run.path)), ("instances", .number(share.instances)), ("site", .string(site)),
      ("siteBlocks", blocks), ("siteExplanation", .optional(share.site.gap.map { FixWords.explanation($0) })),
    ])
  }

  private static func value(_ new: NewFinding) -> JSONValue {
    .object([("runCount", .integer(Int64(new.runs))), ("finding", FindingJSON.value(new.finding))])
  }
}
