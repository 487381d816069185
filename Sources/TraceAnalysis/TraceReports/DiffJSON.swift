// A comparison of builds as JSON, as docs/report-schema.md describes it.

import LeakGates
import RunDiff
import TextWriting
import TraceReading
import Wording

/// Renders all results of a comparison. Formats only; makes no decisions.
package enum DiffJSON {
  /// The version of the format. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  package static func text(_ report: DiffReport, gates: [GateOutcome]) -> String {
    document(report, gates: gates).text + "\n"
  }

  package static func document(_ report: DiffReport, gates: [GateOutcome]) -> JSONValue {
    .object([
      ("schema", .string("leaktrace.diff")),
      ("schemaVersion", .number(schemaVersion)),
      ("old", value(report.old)),
      ("new", value(report.new)),
      ("areInspections", .bool(report.areInspections)),
      ("listsHolders", .bool(report.listsHolders)),
      ("comparedBy", .string(key(report.unit))),
      ("comparedByScope", .optional(scope(report.unit))),
      ("gates", .array(gates.map(SarifLog.value))),
      ("totals", .array(report.totals.map(value))),
      ("findings", report.findings.map { section($0, value) } ?? .null),
      ("findingsUnavailable", .optional(report.findingsUnavailable)),
      ("types", section(report.types, value)),
      ("sites", section(report.sites, value)),
      ("estimatedSites", report.estimatedSites.map { section($0, value) } ?? .null),
      ("renames", .array(report.renames.map(value))),
      ("judged", .array(report.judged.map(value))),
      ("remarks", .array(report.remarks.map { .string($0) })),
    ])
  }

  // MARK: Sides

  static func value(_ side: DiffSide) -> JSONValue {
    .object([
      ("program", .string(side.program)),
      (
        "runs",
        .array(
          side.runs.map {
            .object([("path", .string($0.path)), ("events", .number($0.events)), ("work", .decimal($0.work))])
          })
      ),
    ])
  }

  private static func key(_ unit: DiffReport.Unit) -> String {
    switch unit {
    case .run: "run"
    case .events: "events"
    case .scope: "scope"
    }
  }

  private static func scope(_ unit: DiffReport.Unit) -> String? {
    if case .scope(let name) = unit { name } else { nil }
  }

  // MARK: Changes

  private static func section<Change>(_ section: DiffSection<Change>, _ value: (Change) -> JSONValue) -> JSONValue {
    .object([
      ("changes", .array(section.changes.map(value))),
      ("unchanged", .integer(Int64(section.unchanged))),
      ("moved", .integer(Int64(section.moved))),
      ("unsteady", .integer(Int64(section.unsteady))),
    ])
  }

  private static func value(_ change: FindingChange) -> JSONValue {
    .object([
      ("kind", .string(change.kind.rawValue)),
      ("match", value(change.match)),
      ("oldRuns", .integer(Int64(change.oldRuns))),
      ("newRuns", .integer(Int64(change.newRuns))),
      ("figures", .array(change.figures.map(value))),
      ("old", change.old.map(FindingJSON.value) ?? .null),
      ("new", change.new.map(FindingJSON.value) ?? .null),
    ])
  }

  private static func value(_ change: AllocationChange) -> JSONValue {
    .object([
      ("kind", .string(change.kind.rawValue)),
      ("name", .string(change.name)),
      ("oldName", .optional(change.oldName)),
      ("match", value(change.match)),
      ("weight", .decimal(change.weight)),
      ("figures", .array(change.figures.map(value))),
      ("frames", .array(change.frames.map(value))),
    ])
  }

  private static func value(_ change: EstimatedSiteChange) -> JSONValue {
    .object([
      ("kind", .string(change.kind.rawValue)),
      ("name", .string(change.name)),
      ("match", value(change.match)),
      ("weight", .decimal(change.weight)),
      (
        "figures",
        .array(
          change.figures.map { estimate in
            .object(
              fields(estimate.change) + [
                ("oldStandardError", .decimal(estimate.oldError)), ("newStandardError", .decimal(estimate.newError)),
              ])
          })
      ),
      ("frames", .array(change.frames.map(value))),
    ])
  }

  private static func value(_ frame: DiffFrame) -> JSONValue {
    .object([
      ("function", .string(frame.function)), ("stableName", .string(frame.stableName)), ("file", .optional(frame.file)),
      ("line", frame.line.map { .integer(Int64($0)) } ?? .null),
    ])
  }

  static func value(_ change: FigureChange) -> JSONValue { .object(fields(change)) }

  private static func fields(_ change: FigureChange) -> [(String, JSONValue)] {
    [
      ("figure", .string(change.figure.rawValue)),
      ("direction", .string(key(change.direction))),
      ("old", value(change.old)),
      ("new", value(change.new)),
      ("expected", .decimal(change.expected)),
      ("difference", .decimal(change.difference)),
      ("ratio", .optional(change.ratio)),
    ]
  }

  private static func key(_ direction: FigureChange.Direction) -> String {
    switch direction {
    case .worse: "worse"
    case .better: "better"
    case .same: "same"
    }
  }

  private static func value(_ spread: Spread) -> JSONValue {
    .object([
      ("lowest", .decimal(spread.lowest)), ("median", .decimal(spread.median)), ("highest", .decimal(spread.highest)),
    ])
  }

  static func value(_ match: DiffMatch?) -> JSONValue {
    switch match {
    case nil: .null
    case .exact?: .object([("kind", .string("exact")), ("renames", .array([])), ("differences", .array([]))])
    case .renamed(let renames)?:
      .object([("kind", .string("renamed")), ("renames", .array(renames.map(value))), ("differences", .array([]))])
    case .likeness(let differences)?:
      .object([
        ("kind", .string("likeness")), ("renames", .array([])),
        ("differences", .array(differences.map { .string($0) })),
      ])
    }
  }

  static func value(_ rename: DiffRename) -> JSONValue {
    .object([("old", .string(rename.old)), ("new", .string(rename.new))])
  }

  private static func value(_ judged: JudgedFinding) -> JSONValue {
    let (standing, explanation): (String, String) =
      switch judged.standing {
      case .new: ("new", "")
      case .worse(let how): ("worse", how)
      case .known(let reason): ("known", reason)
      case .hidden(let pattern): ("hidden", pattern)
      case .library: ("library", judged.finding.owner.reason ?? "")
      }
    return .object([
      ("standing", .string(standing)), ("explanation", .string(explanation)),
      ("finding", FindingJSON.value(judged.finding)),
    ])
  }
}
