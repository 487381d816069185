// The results of conditions for findings and for comparisons.

import Testing

@testable import LeakDetection
@testable import LeakGates
@testable import RunDiff
@testable import TraceReading

@Suite struct GateOutcomeTests {
  private func failed(_ gates: String, _ judged: [JudgedFinding]) throws -> [String] {
    try GateList(parsing: [gates], for: .analysis).outcomes(judged).filter(\.hasFailed).map(\.gate)
  }

  private func failed(_ gates: String, _ report: DiffReport) throws -> [String] {
    try GateList(parsing: [gates], for: .comparison).outcomes(report).filter(\.hasFailed).map(\.gate)
  }

  private let new = JudgedFinding(GateFixture.finding(1, bytes: 600), .new)
  private let worse = JudgedFinding(GateFixture.finding(2, bytes: 424), .worse("more"))
  private let known = JudgedFinding(
    GateFixture.finding(3, .growing, bytes: 5000, growth: [1, 2, 3, 4]), .known(reason: ""))
  private let suspect = JudgedFinding(GateFixture.finding(6, .outlived, bytes: 5000, growth: [1, 2, 3, 4]), .new)
  private let hidden = JudgedFinding(GateFixture.finding(4, suppression: "x"), .hidden(pattern: "x"))
  private let library = JudgedFinding(GateFixture.finding(5, library: true), .library)

  @Test func noConditionFailsWithoutFindings() throws {
    #expect(try failed("leaks,new-leaks,worse,retained:1B,growth", [JudgedFinding]()) == [])
  }

  @Test func leaksCountsAcceptedFindingsButNotLibraryOrHiddenOnes() throws {
    #expect(try failed("leaks", [known]) == ["leaks"])
    #expect(try failed("leaks", [hidden, library]) == [])
    #expect(try failed("leaks:3", [new, known, hidden, library]) == [])
    #expect(try failed("leaks:3", [new, worse, known]) == ["leaks:3"])
  }

  @Test func newLeaksAndWorseCountOnlyTheirOwnKind() throws {
    #expect(try failed("new-leaks,worse", [known, hidden, library]) == [])
    #expect(try failed("new-leaks,worse", [new, known]) == ["new-leaks"])
    #expect(try failed("new-leaks,worse", [worse, known]) == ["worse"])
    #expect(try failed("new-leaks:2", [new, new]) == [])
  }

  @Test func onlyLargeProvenFindingsOfLibrariesFailLibraryLeaks() throws {
    func library(bytes: UInt64 = 10, blocks: UInt64 = 1) -> JudgedFinding {
      JudgedFinding(GateFixture.finding(7, bytes: bytes, blocks: blocks, library: true), .library)
    }
    let (large, many) = (library(bytes: 1 << 20), library(blocks: 1000))
    #expect(try failed("library-leaks", [new, library(bytes: (1 << 20) - 1, blocks: 999)]) == [])
    #expect(try failed("library-leaks", [large]) == ["library-leaks"])
    #expect(try failed("library-leaks", [many]) == ["library-leaks"])
    #expect(try failed("library-leaks:2MiB", [large, many]) == [])
    #expect(try failed("library-leaks:10", [library(blocks: 9)]) == [])
    #expect(try failed("library-leaks:9", [library(blocks: 9)]) == ["library-leaks:9"])
    #expect(try failed("library-leaks", [JudgedFinding(large.finding, .hidden(pattern: "x"))]) == [])
    #expect(try failed("leaks,new-leaks,worse,retained:1B", [large, many]) == [])
    let explanation = try GateList(parsing: ["library-leaks"], for: .analysis).outcomes([large]).first?.explanation
    #expect(
      explanation?.hasPrefix("1 finding of a library with 1.00 MiB or 1,000 blocks or more: 1.00 MiB in ") == true)
    #expect(explanation?.hasSuffix("A pattern in the file of --suppressions accepts it") == true)
    #expect(throws: GateSyntaxError.self) { try GateList(parsing: ["library-leaks"], for: .comparison) }
  }

  @Test func suspicionsFailOnlyTheirOwnConditions() throws {
    #expect(try failed("leaks,new-leaks,worse,retained:1B", [suspect]) == [])
    #expect(try failed("suspects,new-suspects", [suspect]) == ["suspects", "new-suspects"])
    #expect(try failed("suspects,new-suspects", [new, worse, known]) == [])
    let accepted = JudgedFinding(suspect.finding, .known(reason: ""))
    #expect(try failed("suspects,new-suspects", [accepted]) == ["suspects"])
    var weak = suspect
    weak.finding.evidence = GateFixture.evidence(.outlived, growth: [1, 2, 3, 4], strength: .weak)
    #expect(try failed("suspects,new-suspects,growth", [weak]) == [])
    // A statement of the program itself counts as a proof.
    var stated = suspect
    guard case .suspected(_, let survivors) = stated.finding.evidence else {
      Issue.record("a suspicion is one")
      return
    }
    let place = MarkPlace(name: "order", file: "Shop.swift", line: 3)
    stated.finding.evidence = .stated(
      .scope(.init(place: place, executions: 5, executionsWithRest: 1, grace: 0)), survivors)
    #expect(try failed("new-leaks,new-suspects", [stated]) == ["new-leaks"])
  }

  @Test func suspicionsFailReportsOnlyOnRequest() throws {
    #expect(!suspect.isFailing && JudgedFinding(suspect.finding, .new, judgesSuspicions: true).isFailing)
    #expect(try !GateList(parsing: ["new-leaks"], for: .analysis).judgesSuspicions)
    #expect(try GateList(parsing: ["new-suspects"], for: .analysis).judgesSuspicions)
    // A comparison always has another build to compare with.
    #expect(try GateList(parsing: ["new-leaks"], for: .comparison).judgesSuspicions)
    let report = GateFixture.report(totals: [], judged: [JudgedFinding(suspect.finding, .new, judgesSuspicions: true)])
    #expect(try failed("new-leaks,worse,new-suspects", report) == ["new-suspects"])
  }

  @Test func retainedSumsFindingsThatAreNotAccepted() throws {
    #expect(try failed("retained:1KiB", [new, worse, known, hidden, library]) == ["retained:1KiB"])
    #expect(try failed("retained:1025B", [new, worse, known, hidden, library]) == [])
    let huge = JudgedFinding(GateFixture.finding(9, bytes: .max), .new)
    #expect(try failed("retained:1GiB", [huge, huge]) == ["retained:1GiB"])
  }

  @Test func growthCountsAccumulatingAndGrowingSurvivors() throws {
    func judged(_ verdict: Verdict, _ growth: [Int]?) -> [JudgedFinding] {
      [JudgedFinding(GateFixture.finding(1, verdict, bytes: 2048, growth: growth), .new)]
    }
    #expect(try failed("growth", judged(.accumulating, [])) == ["growth"])
    #expect(try failed("growth", judged(.outlived, [1, 2, 3, 4])) == ["growth"])
    #expect(try failed("growth", judged(.outlived, [4, 4, 4, 4])) == [])
    #expect(try failed("growth", judged(.outlived, [])) == [])
    #expect(try failed("growth", judged(.retainCycle, nil)) == [])
    #expect(try failed("growth", [known]) == [])
    #expect(try failed("growth:2KiB", judged(.accumulating, [])) == ["growth:2KiB"])
    #expect(try failed("growth:3KiB", judged(.accumulating, [])) == [])
  }

  @Test func explanationsNameTheResultAndTheLimit() throws {
    let outcomes = try GateList(parsing: ["new-leaks,leaks:4,retained:1MiB,worse:10%"], for: .analysis).outcomes([
      new, worse, known,
    ])
    #expect(
      outcomes.map(\.explanation) == [
        "1 new finding", "3 findings of the program; fails at 4",
        "findings not accepted retain 1.00 KiB; fails at 1.00 MiB",
        "1 known finding got worse by at least 10 %",
      ])
  }

  @Test func findingOfSeveralTracesKeepsTheMostInstances() {
    let few = JudgedFinding(GateFixture.finding(1, instances: 2), .known(reason: "r"))
    let many = JudgedFinding(GateFixture.finding(1, instances: 9), .worse("9"))
    #expect(JudgedFinding.union([few, new, many]).map(\.finding.instances) == [9])
    #expect(JudgedFinding.union([few, worse]).count == 2)
  }

  @Test func findingOfSeveralTracesNamesAllTheirTests() {
    func judged(_ instances: Int, _ tests: (String, Int)...) -> JudgedFinding {
      var finding = GateFixture.finding(1, instances: instances)
      finding.origins.tests = tests.map { Finding.TestShare(name: $0.0, instances: $0.1) }
      return JudgedFinding(finding, .new)
    }
    let all = [judged(5, ("opens", 3), ("closes", 2)), judged(9, ("Basket.testFills", 9)), judged(2, ("opens", 2))]
    let union = JudgedFinding.union(all)
    #expect(union.map(\.finding.instances) == [9])
    #expect(
      union.first?.finding.origins.tests.map { "\($0.name) \($0.instances)" } == [
        "Basket.testFills 9", "opens 5", "closes 2",
      ])
  }

  @Test func comparisonFiguresFailByTheirThreshold() throws {
    let report = GateFixture.report(totals: [
      GateFixture.change(.liveBytes, from: 1_048_576, to: 3_145_728),
      GateFixture.change(.peakBytes, from: 1000, to: 1100),
      GateFixture.change(.allocatedBlocks, from: 100, to: 90),
      GateFixture.change(.allocatedBytes, from: 100, to: 103, .same),
      GateFixture.change(.temporaryBlocks, from: 0, to: 5), GateFixture.change(.retains, from: 10, to: 10),
      GateFixture.change(.releases, from: 10, to: 12),
    ])
    #expect(
      try failed("growth:2MiB,peak:10%,allocations,temporary:50%,retains:20%", report) == [
        "growth:2MiB", "peak:10%", "temporary:50%", "retains:20%",
      ])
    #expect(try failed("growth:3MiB,peak:11%,allocations:4%,temporary:6,retains:21%", report) == [])
    // The condition's limit is below the comparison's own tolerance, and applies nevertheless.
    #expect(try failed("allocations:3%", report) == ["allocations:3%"])
    #expect(try failed("regressions", report) == ["regressions"])
    // An increase from 0 exceeds every percentage.
    #expect(try failed("regressions:300%", report) == ["regressions:300%"])
    #expect(
      try failed("regressions:10%", GateFixture.report(totals: [GateFixture.change(.peakBytes, from: 1000, to: 1099)]))
        == [])
  }

  @Test func differenceWithinTheSpreadDoesNotFail() throws {
    let report = GateFixture.report(totals: [GateFixture.change(.peakBytes, from: 1000, to: 1100, .same, spread: 60)])
    #expect(try failed("peak,peak", report) == [])
    #expect(try failed("peak:5%", report) == [])
  }

  @Test func conditionsThatCannotBeJudgedFail() throws {
    let report = GateFixture.report(totals: [GateFixture.change(.peakBytes, from: 1000, to: 900)], changes: nil)
    #expect(try failed("new-leaks,worse,leaks,retains,peak", report) == ["new-leaks", "worse", "leaks", "retains"])
    let outcomes = try GateList(parsing: ["new-leaks"], for: .comparison).outcomes(report)
    #expect(outcomes[0].explanation == "cannot be judged: the old build's trace has no heap image")
  }

  @Test func comparisonFindingsFailByTheirChangeFromTheOldBuild() throws {
    let change = FindingChange(
      kind: .worse, old: GateFixture.finding(2, instances: 10), new: worse.finding, match: .exact,
      figures: [GateFixture.change(.instances, from: 10, to: 12)], oldRuns: 1, newRuns: 1)
    let report = GateFixture.report(totals: [], judged: [new, worse, known, library], changes: [change])
    #expect(try failed("new-leaks,worse,leaks:3", report) == ["new-leaks", "worse", "leaks:3"])
    #expect(try failed("new-leaks:2,worse:30%,leaks:4", report) == [])
    #expect(try failed("worse:20%", report) == ["worse:20%"])
  }
}
