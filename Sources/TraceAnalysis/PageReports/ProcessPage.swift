// The data of a page about one process.

import AllocationReports
import HeapAnalysis
import LeakDetection
import LeakGates
import TextWriting
import TraceExports
import TraceReading
import TraceReports
import TraceSymbolication
import Wording

/// All data that a page shows about one process. Gathers data only; makes no decisions.
package struct ProcessPage: Sendable {
  private let report: AllocationReport
  private let leaks: LeakReport
  private let profile: StackProfile
  private let timeline: RunTimeline
  private let outline: HeapOutline?
  private let tasks: TaskInventory?
  private let estimates: (shown: [EstimatedSite], count: Int)

  /// `report` must be about one trace. `outline` and `tasks` must describe the heap image of `leaks`; nil if there is
  /// no heap image. `estimates`: for a light recording, the sites to show, and the number of all sites.
  package init(
    report: AllocationReport, leaks: LeakReport, profile: StackProfile, timeline: RunTimeline, outline: HeapOutline?,
    tasks: TaskInventory?, estimates: (shown: [EstimatedSite], count: Int) = ([], 0)
  ) {
    (self.report, self.leaks, self.profile, self.timeline) = (report, leaks, profile, timeline)
    (self.outline, self.tasks, self.estimates) = (outline, tasks, estimates)
  }

  var title: String { fileName(ofPath: report.traces.first.map { $0.program.isEmpty ? $0.path : $0.program } ?? "") }

  func json(flameLimit: Int, heapLimit: Int) -> JSONValue {
    let listed = leaks.findings.filter { $0.suppression == nil && leaks.isListed($0) }
    return .object([
      ("document", AllocationJSON.document([report], leaks: [leaks])),
      ("pictures", .object(listed.map { ($0.fingerprint, PageJSON.picture($0)) })),
      ("timeline", course), ("typeCurves", typeCurves),
      ("flame", .object(PageJSON.fields(FlameTree(profile, limit: flameLimit)))),
      ("sources", PageJSON.sources(listed)),
      ("heap", outline.map { heap($0, limit: heapLimit) } ?? .null), ("tasks", tasks.map(value) ?? .null),
      ("estimates", .array(estimates.shown.map(AllocationJSON.value))),
      ("estimatesOmitted", .number(UInt64(estimates.count - estimates.shown.count))),
    ])
  }

  // MARK: Time

  private var course: JSONValue {
    guard let analysis = report.traces.first?.analysis else { return .null }
    let clock = analysis.clock
    func seconds(_ ticks: UInt64) -> JSONValue { .optional(clock.seconds(at: ticks)) }
    func value(_ span: RunTimeline.Span) -> JSONValue {
      .object([("name", .string(span.name)), ("from", seconds(span.from)), ("to", span.to.map(seconds) ?? .null)])
    }
    // Without a clock, no event has a place in the chart.
    let hasClock = clock.seconds(at: analysis.header.startTime) != nil
    return .object([
      ("seconds", .array(timeline.intervals.map { seconds($0.end) })),
      ("liveBytes", .array(timeline.intervals.map { .number($0.liveBytes) })),
      ("liveBlocks", .array(timeline.intervals.map { .number($0.liveBlocks) })),
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
          timeline.images.map { .object([("seconds", seconds($0.time)), ("number", .number(UInt64($0.number)))]) })
      ),
      ("pauses", .array(hasClock ? timeline.pauses.map(value) : [])),
      ("scopes", .array(hasClock ? timeline.scopes.map(value) : [])),
      ("scopesOmitted", .number(timeline.omittedScopes)),
    ])
  }

  /// Maximum number of types with a curve, and the number of points of each curve.
  private static let (curveLimit, curvePoints) = (1_000, UInt64(16))

  /// The number of live blocks of each type after equal parts of the run's events.
  private var typeCurves: JSONValue {
    guard let analysis = report.traces.first?.analysis, analysis.eventCount > 0 else { return .array([]) }
    let (step, rest) = analysis.eventCount.quotientAndRemainder(dividingBy: Self.curvePoints)
    let moments = (1...Self.curvePoints).map { $0 * step + $0 * rest / Self.curvePoints }
    var curves: [String: [UInt64]] = [:]
    for site in analysis.sites {
      let curve = site.liveCurve
      let counts = moments.map { curve.live(at: $0) }
      guard counts.contains(where: { $0 > 0 }) else { continue }
      let name = analysis.typeName(of: site)
      if let known = curves[name] {
        curves[name] = zip(known, counts).map { $0 &+ $1 }
      } else {
        curves[name] = counts
      }
    }
    let shown = report.types.lazy.map(\.name).filter { curves[$0] != nil }.prefix(Self.curveLimit)
    return .array(
      shown.map { name in
        .object([("type", .string(name)), ("live", .array((curves[name] ?? []).map { .number($0) }))])
      })
  }

  // MARK: Heap

  /// Maximum number of types in the table, and of holders of each type.
  private static let (typeLimit, holderLimit) = (1_000, 20)

  private func heap(_ outline: HeapOutline, limit: Int) -> JSONValue {
    let omitted = outline.kinds.count
    var tree = WeightedTree(measureCount: 2)
    for group in outline.groups {
      let node = tree.append(parent: group.parent, subject: group.kind)
      tree.add([group.bytes, group.blocks], to: node)
    }
    tree.prune(to: limit, omitted: omitted)
    // Write only the names that are used.
    var names: [Int: UInt64] = [:]
    var used: [Int] = []
    for node in tree.nodes where names[node.subject] == nil {
      names[node.subject] = UInt64(used.count)
      used.append(node.subject)
    }
    let types = outline.types.prefix(Self.typeLimit)
    let rows = Dictionary(uniqueKeysWithValues: types.enumerated().map { ($1.kind, $0) })
    return .object([
      (
        "tree",
        .object(
          PageJSON.fields(tree) + [
            (
              "names",
              .array(used.map { .string($0 == omitted ? "(smaller ones)" : PlainText.escaped(outline.kinds[$0].name)) })
            ),
            ("kinds", .array(used.map { .string($0 == omitted ? "omitted" : outline.kinds[$0].node?.key ?? "root") })),
            ("nodeNames", .array(tree.nodes.map { .number(names[$0.subject] ?? 0) })),
            ("bytes", .array(tree.nodes.map { .number($0.own[0]) })),
            ("blocks", .array(tree.nodes.map { .number($0.own[1]) })),
          ])
      ),
      ("omitted", .number(UInt64(tree.omittedCount))),
      ("types", .array(types.map { value($0, in: outline, rows) })),
      ("typesOmitted", .number(UInt64(outline.types.count - types.count))),
    ])
  }

  /// `rows`: the row of each type in the table, by the type's kind.
  private func value(_ type: HeapOutline.TypeTotal, in outline: HeapOutline, _ rows: [Int: Int]) -> JSONValue {
    .object([
      ("name", .string(PlainText.escaped(outline.kinds[type.kind].name))),
      ("qualifiedName", .string(outline.kinds[type.kind].qualifiedName)),
      ("blocks", .number(type.blocks)), ("bytes", .number(type.bytes)), ("retained", .number(type.retainedBytes)),
      (
        "holders",
        .array(
          type.holders.prefix(Self.holderLimit).map { holder in
            .object([
              ("type", rows[holder.kind].map { .integer(Int64($0)) } ?? .null),
              ("root", .string(PlainText.escaped(outline.kinds[holder.kind].name))),
              ("field", .string(PlainText.escaped(holder.field))), ("references", .number(holder.references)),
            ])
          })
      ),
      ("holdersOmitted", .number(UInt64(max(0, type.holders.count - Self.holderLimit)))),
    ])
  }

  // MARK: Tasks

  private static let taskLimit = 500

  private func value(_ tasks: TaskInventory) -> JSONValue {
    let shown = tasks.rows.prefix(Self.taskLimit)
    let rest = tasks.rows.dropFirst(Self.taskLimit).reduce(0) { $0 + $1.count }
    return .object([
      (
        "groups",
        .array(
          shown.map { row in
            let function = row.stack.first { $0.kind == .user } ?? row.function
            return .object([
              ("function", .optional(function.map { PlainText.escaped($0.function) })),
              ("position", .optional(function.flatMap(Self.position))),
              ("state", .string(PlainText.escaped(TaskWords.state(row)))),
              ("count", .number(UInt64(row.count))), ("bytes", .number(row.bytes)),
              ("oldestSeconds", .optional(row.ages?.upperBound)),
              ("holder", .string(TaskWords.resumer(row).map { PlainText.escaped($0) } ?? "")),
              ("isReachable", .bool(row.resumer != .noCode)),
            ])
          })
      ),
      (
        "notes",
        .array(
          (tasks.deadlocks.map(TaskWords.title) + [TaskWords.starvation(tasks)].compactMap(\.self)).map { .string($0) })
      ),
      ("omitted", .number(UInt64(rest))),
    ])
  }

  private static func position(_ frame: SourceFrame) -> String? {
    frame.file.map { PlainText.escaped(fileName(ofPath: $0)) + (frame.line.map { ":\($0)" } ?? "") }
  }
}
