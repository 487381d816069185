// Retain histories as JSON, as docs/report-schema.md describes them.

import HeapAnalysis
import LeakDetection
import TextWriting
import TraceReading

/// Renders the answer to `leaktrace history` as one JSON document. Formats only; makes no decisions.
package enum HistoryJSON {
  /// The version of the format. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  /// Returns the document. It has all places and all rows, even those that the text leaves out.
  package static func text(_ report: HistoryReport, subject: String) -> String {
    var fields: [(String, JSONValue)] = [
      ("schema", .string("leaktrace.history")),
      ("schemaVersion", .number(schemaVersion)),
      ("subject", .string(subject)),
      ("type", .string(report.typeName)),
      ("objects", .number(report.objects)),
    ]
    switch report.scope {
    case .live(let snapshot): fields.append(("snapshotNumber", .number(UInt64(snapshot.number))))
    case .ever: fields.append(("snapshotNumber", .null))
    }
    fields += [
      ("example", .address(report.example.rawValue)),
      ("equalCounts", .number(report.counts.equal)),
      ("differentCounts", .number(report.counts.different)),
      ("unknownCounts", .number(report.counts.unknown)),
      ("isIncomplete", .bool(report.gaps.contains(where: \.isIncomplete))),
      (
        "gaps",
        .array(
          report.gaps.map { gap in
            .object([
              ("reason", .string(gap.key)), ("isIncomplete", .bool(gap.isIncomplete)),
              ("explanation", .string(gap.explanation)),
            ])
          })
      ),
      ("retainSites", .array(report.sites.map(value))),
      ("unmatchedReleases", .array(report.unmatchedReleases.map { value($0) })),
      ("object", report.object.map { value($0, count: report.count) } ?? .null),
    ]
    return JSONValue.object(fields).text + "\n"
  }

  private static func value(_ site: RetainSite) -> JSONValue {
    .object(
      [("operation", .string(site.operation.name))] + fields(site.place) + [
        ("taken", .number(site.taken)),
        ("givenUp", .number(site.givenUp)),
        ("notGivenUp", .number(site.rest)),
        ("objects", .number(site.objects)),
        ("openObjects", .number(site.openObjects)),
        ("givenUpAt", .array(site.givenUpAt.map { value($0) })),
      ])
  }

  private static func value(_ release: (place: HistoryPlace, count: UInt64)) -> JSONValue {
    .object(fields(release.place) + [("count", .number(release.count))])
  }

  private static func fields(_ place: HistoryPlace) -> [(String, JSONValue)] {
    [
      ("function", .optional(place.function?.function)),
      ("fullFunction", .optional(place.function?.fullFunction)),
      ("file", .optional(place.function?.file)),
      ("line", place.function?.line.map { .integer(Int64($0)) } ?? .null),
      ("through", .optional(place.through)),
    ]
  }

  private static func value(_ object: ObjectHistory, count: ReferenceCount?) -> JSONValue {
    .object([
      ("address", .address(object.block.address)),
      ("size", .number(object.block.size)),
      ("isFreed", .bool(object.isFreed)),
      ("strongCount", .optional(count.map { UInt64($0.strong) })),
      ("unownedCount", .optional(count.map { UInt64($0.unowned) })),
      ("events", .array(object.rows.enumerated().map { value($1, number: $0 + 1) })),
    ])
  }

  private static func value(_ row: ObjectHistory.Row, number: Int) -> JSONValue {
    .object(
      [
        ("number", .number(UInt64(number))),
        ("operation", .string(row.event.operation.name)),
        ("seconds", .optional(row.seconds)),
        ("thread", .number(UInt64(row.event.thread))),
        ("count", .number(UInt64(row.event.count))),
        ("strong", .integer(row.strong)),
      ] + fields(row.place) + [
        ("pairedWith", .array(row.partners.map { .number(UInt64($0)) })),
        ("unpaired", .integer(row.rest)),
      ])
  }
}
