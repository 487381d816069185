// Tests of the function that compares expected and reported diffs.

import Foundation
import Testing

@Suite struct DiffComparisonTests {
  private let found = """
    {"schema": "leaktrace.diff", "totals": [{"figure": "liveBlocks", "direction": "worse"}, {"figure": "retains", "direction": "same"}],
     "findings": {"unchanged": 2, "moved": 1, "changes": [
       {"kind": "worse", "match": {"kind": "exact"}, "figures": [{"figure": "instances", "direction": "worse"}, {"figure": "growth", "direction": "same"}],
        "old": {"verdict": "retainCycle", "path": [{"kind": "object", "type": "Job", "function": "static app.App.run()"}]},
        "new": {"verdict": "retainCycle", "path": [{"kind": "object", "type": "Job", "function": "static app.App.run()"}]}}]},
     "types": {"unchanged": 3, "moved": 0, "changes": [
       {"kind": "worse", "name": "app.Relay<app.Job>", "oldName": "app.Relay<app.Work>", "frames": [], "figures": [{"figure": "liveBlocks", "direction": "worse"}]}]},
     "sites": {"unchanged": 3, "moved": 0, "changes": []}, "renames": [{"old": "Work", "new": "Job"}]}
    """

  private var expected: PairCase.Comparison {
    PairCase.Comparison(
      findings: [
        PairCase.Finding(
          kind: "worse", verdict: "retainCycle", type: "Job", match: "exact", function: "App.run()",
          worse: ["instances"])
      ],
      unchanged: 2, moved: 1,
      types: [PairCase.Allocation(kind: "worse", name: "Relay<Job>", oldName: "Relay<Work>", worse: ["liveBlocks"])],
      totals: PairCase.Directions(worse: ["liveBlocks"]), renames: [PairCase.Rename(old: "Work", new: "Job")])
  }

  @Test("An expected report has no mismatch") func agreement() throws {
    #expect(DiffComparison.mismatches(expected, try ReportedDiff.read(found)) == [])
  }

  @Test(
    "Each difference is one mismatch",
    arguments: [
      ("exact", "likeness", 2), ("retainCycle", "lost", 2), ("\"instances\"", "\"retainedBytes\"", 2),
      ("App.run()", "App.go()", 2),
      ("\"unchanged\": 2", "\"unchanged\": 1", 1), ("\"moved\": 1", "\"moved\": 0", 1),
      ("app.Relay<app.Job>", "app.Relay<app.Task>", 2),
      ("app.Relay<app.Work>", "app.Relay<app.Task>", 2), ("\"Work\"", "\"Task\"", 1),
      (
        "\"sites\": {\"unchanged\": 3, \"moved\": 0, \"changes\": []}",
        "\"sites\": {\"unchanged\": 3, \"moved\": 0, \"changes\": [{\"kind\": \"new\", \"name\": \"app.Job\", \"frames\": [], \"figures\": []}]}",
        1
      ),
    ]) func differences(old: String, new: String, count: Int) throws
  {
    let changed = found.replacingOccurrences(of: old, with: new)
    try #require(changed != found)
    #expect(DiffComparison.mismatches(expected, try ReportedDiff.read(changed)).count == count)
  }

  @Test("Mirroring a comparison twice restores it, and once inverts it") func mirroring() {
    let mirrored = DiffComparison.mirrored(expected)
    #expect(mirrored.findings?.first?.kind == "better" && mirrored.findings?.first?.better == ["instances"])
    #expect(mirrored.types?.first?.name == "Relay<Work>" && mirrored.types?.first?.oldName == "Relay<Job>")
    #expect(
      mirrored.totals == PairCase.Directions(better: ["liveBlocks"])
        && mirrored.renames == [PairCase.Rename(old: "Job", new: "Work")])
    let twice = DiffComparison.mirrored(mirrored)
    #expect(
      twice.findings == expected.findings && twice.types == expected.types && twice.totals == expected.totals
        && twice.renames == expected.renames)
  }

  @Test("Module names are omitted everywhere in a type's name") func modules() {
    #expect(DiffComparison.withoutModules("app.Relay<app.Job, Swift.Int>") == "Relay<Job, Int>")
    #expect(DiffComparison.withoutModules("myapp.Job") == "myapp.Job")
  }

  @Test(
    "Retains, releases and temporary blocks are compared only where expected, or if no change is",
    arguments: [
      ("liveBlocks", true), ("liveBlocks retains", true), ("liveBlocks releases temporaryBlocks", true),
      ("liveBlocks allocatedBlocks", false), ("retains", false),
    ]) func incidentalFigures(figures: String, agrees: Bool) throws
  {
    let json = figures.split(separator: " ").map { #"{"figure": "\#($0)", "direction": "worse"}"# }.joined(
      separator: ", ")
    let reported = try ReportedDiff.read(
      """
      {"schema": "leaktrace.diff", "totals": [\(json)], "findings": {"unchanged": 0, "moved": 0, "changes": []}, "renames": [],
       "types": {"unchanged": 0, "moved": 0, "changes": [{"kind": "worse", "name": "app.Job", "frames": [], "figures": [\(json)]}]},
       "sites": {"unchanged": 0, "moved": 0, "changes": []}}
      """)
    func mismatches(_ figures: String?) -> [String] {
      let worse = figures.map { $0.split(separator: " ").map(String.init) }
      let expected = PairCase.Comparison(
        types: [PairCase.Allocation(kind: "worse", name: "Job", worse: worse)],
        totals: worse.map { PairCase.Directions(worse: $0) })
      return DiffComparison.mismatches(expected, reported)
    }
    #expect(mismatches("liveBlocks").isEmpty == agrees)
    #expect(mismatches(figures) == [])
    #expect(mismatches(nil).count == 1, "of totals that are not expected")
    #expect(mismatches("liveBlocks peakBytes retains").count == 3)
  }

  @Test("Every pair's data are readable and cover each variant") func data() throws {
    let pairs = try PairCase.all()
    #expect(pairs.count >= 35)
    for pair in pairs {
      for variant in pair.variant.map({ [$0] }) ?? PairVariant.allCases {
        #expect(!pair.comparisons(in: variant).isEmpty, "\(pair.name)")
      }
    }
  }
}
