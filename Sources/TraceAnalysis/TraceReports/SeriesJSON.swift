// A series of heap images as JSON, as docs/watching.md describes it.

import LeakDetection
import LeakGates
import TextWriting
import TraceReading
import Wording

/// Renders all results of a series. Formats only; makes no decisions.
package enum SeriesJSON {
  /// The version of the format. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  package static func text(
    _ process: WatchedProcess, _ growth: SeriesGrowth, leaks: LeakReport?, gates: GateReport,
    queues: TaskInventory? = nil
  ) -> String {
    document(process, growth, leaks: leaks, gates: gates, queues: queues).text + "\n"
  }

  /// - Parameter queues: the tasks of the newest heap image, with the actors whose queues only grow; nil if there are
  ///   none.
  package static func document(
    _ process: WatchedProcess, _ growth: SeriesGrowth, leaks: LeakReport?, gates: GateReport,
    queues: TaskInventory? = nil
  ) -> JSONValue {
    let head: [(String, JSONValue)] = [
      ("schema", .string("leaktrace.watch")), ("schemaVersion", .number(schemaVersion)),
    ]
    let remarks = process.remarks + (leaks?.remarks ?? [])
    let findings: [(String, JSONValue)] = [
      ("findings", leaks.map { .array($0.findings.map(FindingJSON.value)) } ?? .null),
      ("remarks", .array(remarks.map { .string($0) })),
    ]
    let growing: [(String, JSONValue)] = [("queues", .array(queues.map(TaskJSON.queues) ?? []))]
    return .object(head + GateText.fields(gates) + fields(process, growth) + growing + findings)
  }

  /// Returns the part of the document about the heap images and the growth between them.
  package static func growth(_ process: WatchedProcess, _ growth: SeriesGrowth) -> JSONValue {
    .object(fields(process, growth) + [("remarks", .array(process.remarks.map { .string($0) }))])
  }

  private static func fields(_ process: WatchedProcess, _ growth: SeriesGrowth) -> [(String, JSONValue)] {
    [
      ("program", .string(process.program)),
      ("processID", .number(UInt64(process.processID))),
      ("imagesTaken", .number(UInt64(growth.taken))),
      ("images", .array(growth.moments.map(value))),
      ("suspects", .array(growth.suspects.map(value))),
      ("grown", .array(growth.grown.map(value))),
      ("level", growth.level.map(FindingJSON.value) ?? .null),
      ("proven", .array(growth.findings.map(value))),
    ]
  }

  private static func value(_ moment: ImageMoment) -> JSONValue {
    .object([
      ("seconds", .decimal(moment.time)),
      ("nanosecondsSince1970", moment.realtime == 0 ? .null : .string(String(moment.realtime))),
      ("residentBytes", .optional(moment.resident)), ("liveBytes", .number(moment.live)),
      ("liveBlocks", .number(moment.blocks)),
    ])
  }

  private static func value(_ row: SeriesGrowth.Row) -> JSONValue {
    .object([
      ("type", .string(row.row.key.type)), ("name", .string(row.row.name)), ("kind", .string(row.row.kind.key)),
      ("holder", .string(row.row.key.holder)), ("holderKind", .string(row.row.holderKind.rawValue)),
      ("counts", .array(row.figures.map { .number($0.count) })),
      ("bytes", .array(row.figures.map { .number($0.bytes) })),
      ("retainedBytes", .array(row.figures.map { .number($0.retainedBytes) })),
      ("judgement", .string(key(row.judgement))), ("suspicion", row.suspicion.map(value) ?? .null),
    ])
  }

  private static func key(_ judgement: GrowthCurve.Judgement) -> String {
    switch judgement {
    case .suspect: "suspect"
    case .innocent(let reason): reason.rawValue
    }
  }

  private static func value(_ suspicion: GrowthSuspicion) -> JSONValue {
    .object([
      ("strength", .string(suspicion.isStrong ? "strong" : "weak")),
      ("images", .integer(Int64(suspicion.images))), ("rise", .decimal(suspicion.rise)),
      ("perHour", .decimal(suspicion.perSecond * 3600)), ("lateShare", .decimal(suspicion.lateShare)),
      (
        "marks",
        .array(suspicion.marks.map { .object([("seconds", .decimal($0.time)), ("value", .decimal($0.value))]) })
      ),
    ])
  }

  private static func value(_ history: ImageSeries.FindingHistory) -> JSONValue {
    .object([
      ("fingerprint", .string(history.finding.fingerprint)),
      ("verdict", .string(history.finding.verdict.rawValue)),
      ("title", .string(FindingTitle.subject(history.finding))),
      ("isLibrary", .bool(history.finding.isLibrary)),
      ("instances", .array(history.instances.map { .integer(Int64($0)) })),
    ])
  }
}
