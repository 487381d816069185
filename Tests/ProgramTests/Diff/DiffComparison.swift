// Compares a diff's report with the expected changes. All functions are pure; their result is the text of the
// mismatches.

import Foundation

enum DiffComparison {
  /// Returns a line for each difference, or none if the report contains all expected changes and no others. The order
  /// of changes does not matter.
  static func mismatches(_ expected: PairCase.Comparison, _ found: ReportedDiff) -> [String] {
    var lines = unmatched(expected.findings ?? [], found.findings.changes, agrees, text, text)
    lines += unmatched(
      expected.types ?? [], found.types.changes, typeAgrees, { "type \(text($0))" }, { "type \(text($0))" })
    lines += unmatched(
      expected.sites ?? [], found.sites.changes, siteAgrees, { "site \(text($0))" }, { "site \(text($0))" })
    func compare<Value: Equatable>(_ what: String, _ expected: Value?, _ found: Value) {
      if let expected, expected != found { lines.append("\(what): \(found), expected \(expected)") }
    }
    compare("unchanged findings", expected.unchanged ?? 0, found.findings.unchanged)
    compare("moved findings", expected.moved, found.findings.moved)
    let totals = expected.totals.map { lookedAt(found.totals, $0.worse, $0.better) } ?? found.totals
    compare("worse totals", (expected.totals?.worse ?? []).sorted(), figures(totals, "worse"))
    compare("better totals", (expected.totals?.better ?? []).sorted(), figures(totals, "better"))
    compare("renames", expected.renames.map { $0.map(text).sorted() }, found.renames.map(text).sorted())
    return lines
  }

  /// The expected report when the sides are exchanged.
  static func mirrored(_ comparison: PairCase.Comparison) -> PairCase.Comparison {
    let opposites = ["new": "gone", "gone": "new", "worse": "better", "better": "worse"]
    var result = comparison
    (result.before, result.after) = (comparison.after, comparison.before)
    result.findings = comparison.findings?.map { finding in
      var finding = finding
      finding.kind = opposites[finding.kind] ?? finding.kind
      (finding.worse, finding.better) = (finding.better, finding.worse)
      return finding
    }
    func mirrored(_ allocation: PairCase.Allocation) -> PairCase.Allocation {
      var result = allocation
      result.kind = opposites[allocation.kind] ?? allocation.kind
      // If a type's name differs between the sides, the names of its functions usually differ as well.
      if let oldName = allocation.oldName {
        (result.name, result.oldName, result.function) = (oldName, allocation.name, nil)
      }
      (result.worse, result.better) = (allocation.better, allocation.worse)
      return result
    }
    result.types = comparison.types?.map(mirrored)
    result.sites = comparison.sites?.map(mirrored)
    result.totals = comparison.totals.map { PairCase.Directions(worse: $0.better, better: $0.worse) }
    result.renames = comparison.renames?.map { PairCase.Rename(old: $0.new, new: $0.old) }
    return result
  }

  private static func unmatched<Expected, Found>(
    _ expected: [Expected], _ found: [Found], _ agree: (Expected, Found) -> Bool, _ expectedText: (Expected) -> String,
    _ foundText: (Found) -> String
  ) -> [String] {
    var left = found
    var lines: [String] = []
    for wanted in expected {
      if let index = left.firstIndex(where: { agree(wanted, $0) }) {
        left.remove(at: index)
      } else {
        lines.append("missing: \(expectedText(wanted))")
      }
    }
    return lines + left.map { "unexpected: \(foundText($0))" }
  }

  private static func agrees(_ expected: PairCase.Finding, _ found: ReportedDiff.FindingChange) -> Bool {
    // A renamed type appears here under one of its two names.
    let sides = [found.new, found.old].compactMap { $0 }
    let types = sides.flatMap { $0.path.compactMap(\.type) }.map(withoutModules)
    guard kindsAgree(expected.kind, expected.worse, expected.better, found.kind),
      sides.allSatisfy({ $0.verdict == expected.verdict }),
      types.contains(expected.type), expected.match == found.match?.kind
    else { return false }
    if let function = expected.function,
      !sides.contains(where: { $0.path.contains { $0.function?.contains(function) ?? false } })
    {
      return false
    }
    return directionsAgree(expected.worse, expected.better, found.figures)
  }

  private static func typeAgrees(_ expected: PairCase.Allocation, _ found: ReportedDiff.AllocationChange) -> Bool {
    namesAgree(expected, found) && kindsAgree(expected.kind, expected.worse, expected.better, found.kind)
      && directionsAgree(expected.worse, expected.better, found.figures)
  }

  private static func siteAgrees(_ expected: PairCase.Allocation, _ found: ReportedDiff.AllocationChange) -> Bool {
    namesAgree(expected, found) && kindsAgree(expected.kind, expected.worse, expected.better, found.kind)
      && (expected.function.map { function in found.frames.contains { $0.function.contains(function) } } ?? true)
      && directionsAgree(expected.worse, expected.better, found.figures)
  }

  private static func namesAgree(_ expected: PairCase.Allocation, _ found: ReportedDiff.AllocationChange) -> Bool {
    let name = withoutModules(found.name)
    return expected.name == name
      && expected.oldName == found.oldName.map(withoutModules).flatMap { $0 == name ? nil : $0 }
  }

  /// A change that is worse in one figure and better in another may be reported as worse or as better, in both orders
  /// of the sides.
  private static func kindsAgree(_ expected: String, _ worse: [String]?, _ better: [String]?, _ found: String) -> Bool {
    let isMixed = !(worse ?? []).isEmpty && !(better ?? []).isEmpty
    return expected == found || (isMixed && [expected, found].allSatisfy { ["worse", "better"].contains($0) })
  }

  private static func directionsAgree(_ worse: [String]?, _ better: [String]?, _ found: [ReportedDiff.Figure]) -> Bool {
    if worse == nil, better == nil { return true }
    let found = lookedAt(found, worse, better)
    return (worse ?? []).sorted() == figures(found, "worse") && (better ?? []).sorted() == figures(found, "better")
  }

  /// Figures that depend on the generated code as much as on the source: the number of copies of a reference, and the
  /// number of blocks that are freed soon.
  private static let incidental: Set<String> = ["retains", "releases", "temporaryBlocks"]

  /// Returns all figures except incidental ones that the expectation does not name.
  private static func lookedAt(_ all: [ReportedDiff.Figure], _ worse: [String]?, _ better: [String]?) -> [ReportedDiff
    .Figure]
  {
    let named = Set((worse ?? []) + (better ?? []))
    return all.filter { !incidental.contains($0.figure) || named.contains($0.figure) }
  }

  private static func figures(_ all: [ReportedDiff.Figure], _ direction: String) -> [String] {
    all.filter { $0.direction == direction }.map(\.figure).sorted()
  }

  /// Removes module prefixes: `app.Relay<app.Model>` becomes `Relay<Model>`.
  static func withoutModules(_ name: String) -> String {
    ["app.", "notes.", "journal.", "Swift.", "Foundation."].reduce(name) { name, module in
      var result = ""
      var rest = name[...]
      while let range = rest.range(of: module) {
        result += rest[..<range.lowerBound]
        // The match is not a module name if it is only the end of a longer word.
        if let last = result.last, last.isLetter || last.isNumber || last == "_" || last == "." { result += module }
        rest = rest[range.upperBound...]
      }
      return result + rest
    }
  }

  // MARK: Text

  private static func text(_ finding: PairCase.Finding) -> String {
    "\(finding.kind) \(finding.verdict) \(finding.type)\(finding.function.map { " in \($0)" } ?? "") (\(finding.match ?? "unmatched"))"
      + text(finding.worse, finding.better)
  }

  private static func text(_ change: ReportedDiff.FindingChange) -> String {
    let shown = change.new ?? change.old
    let steps = (shown?.path ?? []).map { "\($0.type ?? $0.kind) in \($0.function ?? "?")" }.joined(separator: " → ")
    return "\(change.kind) \(shown?.verdict ?? "?") \(steps) (\(change.match?.kind ?? "unmatched"))"
      + text(figures(change.figures, "worse"), figures(change.figures, "better"))
  }

  private static func text(_ allocation: PairCase.Allocation) -> String {
    "\(allocation.kind) \(allocation.name)\(allocation.function.map { " in \($0)" } ?? "")\(allocation.oldName.map { ", was \($0)" } ?? "")"
      + text(allocation.worse, allocation.better)
  }

  private static func text(_ change: ReportedDiff.AllocationChange) -> String {
    "\(change.kind) \(change.name)\(change.frames.first.map { " in \($0.function)" } ?? "")\(change.oldName.map { ", was \($0)" } ?? "")"
      + text(figures(change.figures, "worse"), figures(change.figures, "better"))
  }

  private static func text(_ worse: [String]?, _ better: [String]?) -> String {
    (worse.map { $0.isEmpty ? "" : ", worse \($0.sorted().joined(separator: " "))" } ?? "")
      + (better.map { $0.isEmpty ? "" : ", better \($0.sorted().joined(separator: " "))" } ?? "")
  }

  private static func text(_ rename: PairCase.Rename) -> String { "\(rename.old) → \(rename.new)" }
}
