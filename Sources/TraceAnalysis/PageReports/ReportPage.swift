// One page with all of a report: it opens from a file, and needs nothing else.

import AllocationReports
import LeakDetection
import LeakGates
import Mustache
import TraceExports
import TraceReading
import TraceReports

/// A report as a self-contained HTML page.
///
/// The page has its data as JSON, which its script puts on the screen as text. A content security policy lets the page
/// load nothing, and run no script but its own. Only formats; source files are read when it is made.
package struct ReportPage: Sendable {
  /// What the page is about.
  package struct Contents: Sendable {
    package var report: AllocationReport
    package var leaks: LeakReport
    package var profile: StackProfile
    package var timeline: LiveTimeline
    package var toolVersion: String

    package init(
      report: AllocationReport, leaks: LeakReport, profile: StackProfile, timeline: LiveTimeline, toolVersion: String
    ) {
      (self.report, self.leaks, self.profile) = (report, leaks, profile)
      (self.timeline, self.toolVersion) = (timeline, toolVersion)
    }
  }

  private let contents: Contents

  package init(_ contents: Contents) { self.contents = contents }

  /// The page. `nonce`: 32 hexadecimal digits that nobody could foresee, which its own script and style are known by.
  /// Linear in the report.
  package func html(nonce: String = Self.nonce()) throws -> String {
    let template = try MustacheTemplate(string: String(decoding: PackageResources.page_mustache, as: UTF8.self))
    let program = contents.report.traces.first?.program ?? ""
    return template.render([
      "title": "\(PlainText.escaped(fileName(ofPath: program))): leaktrace", "nonce": nonce,
      "style": String(decoding: PackageResources.page_css, as: UTF8.self),
      "script": String(decoding: PackageResources.page_js, as: UTF8.self), "data": Self.embedded(data.compactText),
    ])
  }

  package static func nonce() -> String {
    let digits =
      String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: max(0, 32 - digits.count)) + digits
  }

  /// JSON that no reader of HTML takes for markup. The characters stand in strings alone.
  static func embedded(_ json: String) -> String {
    json.replacing("&", with: "\\u0026").replacing("<", with: "\\u003c").replacing(">", with: "\\u003e")
      .replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
  }

  // MARK: Data

  private var data: JSONValue {
    var excerpts = SourceExcerpts()
    let listed = contents.leaks.findings.filter { $0.suppression == nil && contents.leaks.isListed($0) }
    for finding in listed { excerpts.add(finding) }
    return .object([
      ("version", .string(contents.toolVersion)),
      ("report", AllocationJSON.document([contents.report], leaks: [contents.leaks])),
      ("pictures", .object(listed.map { ($0.fingerprint, Self.value($0)) })),
      ("timeline", timeline), ("flame", Self.value(FlameTree(contents.profile))),
      ("sources", .array(excerpts.all.map(Self.value))),
    ])
  }

  private static func value(_ finding: Finding) -> JSONValue {
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

  private var timeline: JSONValue {
    guard let analysis = contents.report.traces.first?.analysis else { return .null }
    let clock = analysis.clock
    func seconds(_ ticks: UInt64) -> JSONValue { .optional(clock.seconds(at: ticks)) }
    let intervals = contents.timeline.intervals
    return .object([
      ("seconds", .array(intervals.map { seconds($0.end) })),
      ("liveBytes", .array(intervals.map { .number($0.liveBytes) })),
      ("liveBlocks", .array(intervals.map { .number($0.liveBlocks) })),
      (
        "resident",
        .array(
          analysis.definitions.memorySamples.map {
            .object([("seconds", seconds($0.time)), ("bytes", .number($0.residentOfProgram))])
          })
      ),
      (
        "images",
        .array(
          (contents.leaks.snapshot.map { [$0] } ?? []).map {
            .object([("seconds", seconds($0.time)), ("number", .number(UInt64($0.number)))])
          })
      ),
    ])
  }

  private static func value(_ tree: FlameTree) -> JSONValue {
    .object([
      (
        "measures",
        .array(
          tree.measures.map {
            .object([
              ("key", .string($0.rawValue)), ("title", .string($0.title)), ("unit", .string($0.unit.rawValue)),
            ])
          })
      ),
      (
        "frames",
        .array(
          tree.frames.map {
            .array([.string($0.name), .string($0.place), .string($0.kind.rawValue)])
          })
      ),
      ("parents", .array(tree.nodes.map { .integer(Int64($0.parent)) })),
      ("nodeFrames", .array(tree.nodes.map { .number(UInt64($0.frame)) })),
      (
        "values",
        .array(tree.measures.indices.map { measure in .array(tree.nodes.map { .number($0.own[measure]) }) })
      ),
      ("omitted", .number(UInt64(tree.omittedCount))),
    ])
  }

  private static func value(_ excerpt: SourceExcerpt) -> JSONValue {
    .object([
      ("file", .string(excerpt.file)), ("line", .number(UInt64(excerpt.line))),
      ("first", .number(UInt64(excerpt.first))),
      ("lines", .array(excerpt.lines.map { .string($0) })),
    ])
  }
}
