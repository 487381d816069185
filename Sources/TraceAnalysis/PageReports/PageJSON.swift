// Parts of a page's data that pages about processes and pages about comparisons have in common.

import LeakDetection
import TextWriting
import TraceReading
import TraceReports

enum PageJSON {
  /// Returns the drawing and the text of a finding's view.
  static func picture(_ finding: Finding) -> JSONValue {
    let picture = FindingPicture(finding)
    return .object([
      ("headline", .string(FindingDocument.headline(finding))), ("text", .string(FindingDocument.body(finding))),
      ("root", .optional(picture.root)),
      (
        "rows",
        .array(
          picture.rows.map { row in
            .object([
              ("name", .string(row.name)), ("function", .string(row.function)), ("position", .string(row.position)),
              ("reference", .optional(row.reference)), ("suspect", .bool(row.isSuspect)),
              ("folded", .bool(row.isFolded)), ("library", .string(row.library)),
            ])
          })
      ),
      ("back", .optional(picture.back)), ("backSuspect", .bool(picture.isBackSuspect)),
    ])
  }

  /// Returns source excerpts around the places of findings.
  static func sources(_ findings: [Finding]) -> JSONValue {
    var excerpts = SourceExcerpts()
    for finding in findings { excerpts.add(finding) }
    return .array(
      excerpts.all.map { excerpt in
        .object([
          ("file", .string(excerpt.file)), ("line", .number(UInt64(excerpt.line))),
          ("first", .number(UInt64(excerpt.first))),
          ("lines", .array(excerpt.lines.map { .string($0) })),
        ])
      })
  }

  /// Returns the fields of a flame graph.
  static func fields(_ flame: FlameTree) -> [(String, JSONValue)] {
    [
      (
        "measures",
        .array(
          flame.measures.map {
            .object([
              ("key", .string($0.rawValue)), ("title", .string($0.title)), ("unit", .string($0.unit.rawValue)),
            ])
          })
      ),
      (
        "frames",
        .array(
          flame.frames.map {
            .array([.string($0.name), .string($0.place), .string($0.kind.rawValue), .string($0.image)])
          })
      ),
      ("nodeFrames", .array(flame.nodes.map { .number(UInt64($0.subject)) })),
      ("values", values(flame.tree, flame.measures.indices)),
    ] + fields(flame.tree)
  }

  /// Returns the fields for the shape of a tree.
  static func fields(_ tree: WeightedTree) -> [(String, JSONValue)] {
    [
      ("parents", .array(tree.nodes.map { .integer(Int64($0.parent)) })),
      ("omitted", .number(UInt64(tree.omittedCount))),
    ]
  }

  static func values(_ tree: WeightedTree, _ measures: Range<Int>) -> JSONValue {
    .array(measures.map { measure in .array(tree.nodes.map { .number($0.own[measure]) }) })
  }
}
