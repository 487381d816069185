// Tests of the constants for suspicions: each is in the document's table, and affects the result.

import Foundation
import TestRequirements
import Testing

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

struct SurvivorRulesTests {
  /// Returns the text of a constant as in the table.
  private func shown(_ value: Any) -> String {
    if let span = value as? ClosedRange<Double> { return "\(shown(span.lowerBound)) to \(shown(span.upperBound))" }
    if let number = value as? Double { return String(format: "%.4g", number) }
    return "\(value)"
  }

  @Test("suspicion-constants.md lists every constant with its value. If it does not: run scripts/rules")
  func table()
    throws
  {
    let document = try String(
      contentsOfFile: BuildProducts.packageRoot + "/docs/engineering/suspicion-constants.md", encoding: .utf8)
    let rows = document.split(separator: "\n").filter { $0.hasPrefix("| `") }
    // The points of rules are in docs/engineering/blind-programs.md.
    let constants = Mirror(reflecting: SurvivorRules.standard).children.filter { $0.label != "points" }
    #expect(rows.count == constants.count)
    for constant in constants {
      let beginning = "| `\(constant.label ?? "")` | \(shown(constant.value)) |"
      #expect(rows.contains { $0.split(separator: " ").joined(separator: " ").hasPrefix(beginning) }, "\(beginning)")
    }
  }

  @Test("Every constant decides a verdict", .requires(.recorder)) func deciding() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.trace"
    let program = try CorpusProgram.scopes.path(.dynamicOptimised)
    let recording = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", program, "connection-registry", "leak"]
    ).run()
    #expect(recording.end == .exit(0))
    let reader = try TraceReader(path: path)
    let snapshot = try #require(reader.snapshots.last { $0.isWhole })
    let allocations = AllocationAnalysis(reader, snapshot: snapshot)
    let analysis = LeakAnalysis(
      reader, allocations, snapshot: snapshot, naming: Symbolicator(of: [allocations], search: DebugFileSearch()))
    #expect(analysis.suspicions(by: .standard).count == 1)
    var rules = SurvivorRules.standard
    rules.minOutlived = 1_000
    #expect(analysis.suspicions(by: rules).isEmpty)
    // Changed rules have no effect on a later analysis.
    #expect(analysis.suspicions(by: .standard).count == 1)
  }
}
