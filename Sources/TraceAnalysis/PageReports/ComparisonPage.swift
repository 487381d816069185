// The data of a page about two builds.

import LeakGates
import RunDiff
import TextWriting
import TraceReading
import TraceReports

/// All data that a page shows about a comparison. Gathers data only; makes no decisions.
package struct ComparisonPage: Sendable {
  private let report: DiffReport
  private let gates: [GateOutcome]
  private let stacks: ComparedStacks

  /// `stacks`: the stacks of the runs that `report` compares.
  package init(_ report: DiffReport, gates: [GateOutcome], stacks: ComparedStacks) {
    (self.report, self.gates, self.stacks) = (report, gates, stacks)
  }

  var title: String { "\(fileName(ofPath: report.new.program)), old and new" }

  func json(flameLimit: Int) -> JSONValue {
    let changes = report.findings?.changes ?? []
    func words(_ text: String?) -> JSONValue { .optional(text.map { PlainText.escaped($0) }) }
    func side(_ side: DiffSide) -> JSONValue {
      words([DiffWords.side(side), DiffWords.work(side, report.unit)].compactMap { $0 }.joined(separator: ", "))
    }
    return .object([
      ("diff", DiffJSON.document(report, gates: gates)),
      (
        "words",
        .object([
          ("headline", words(DiffWords.headline(report))), ("old", side(report.old)), ("new", side(report.new)),
          ("unit", words(DiffWords.unit(report.unit))), ("gates", .array(gates.map { words(DiffWords.gate($0)) })),
          (
            "findings",
            .array(
              changes.map { change in
                let figures = [DiffWords.figures(change), DiffWords.runs(change, of: report)].compactMap { $0 }
                return .object([
                  ("figures", words(figures.joined(separator: ", "))), ("match", words(DiffWords.match(change.match))),
                ])
              })
          ),
          ("types", .array(report.types.changes.map { words(DiffWords.figures($0)) })),
          ("sites", .array(report.sites.changes.map { words(DiffWords.figures($0)) })),
          (
            "estimatedSites",
            .array((report.estimatedSites?.changes ?? []).map { words(DiffWords.figures($0)) })
          ),
        ])
      ),
      ("pictures", .array(changes.map { PageJSON.picture($0.finding) })),
      ("sources", PageJSON.sources(changes.map(\.finding))), ("flame", flame(limit: flameLimit)),
    ])
  }

  /// Returns the flame graph of both sides. The scales divide each side's sums by its work, so both sides show the work
  /// of one new run.
  private func flame(limit: Int) -> JSONValue {
    let flame = FlameTree(stacks, limit: limit)
    let count = flame.measures.count
    return .object(
      PageJSON.fields(flame) + [
        ("before", PageJSON.values(flame.tree, count..<2 * count)),
        ("scale", .decimal(1 / max(stacks.work.new, .leastNormalMagnitude))),
        ("beforeScale", .decimal(1 / max(stacks.work.old, .leastNormalMagnitude))),
      ])
  }
}
