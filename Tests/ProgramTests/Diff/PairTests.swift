// Two versions of many programs, with one change of a known kind between them, and the report of `leaktrace diff`.

import Foundation
import TestRequirements
import Testing

@Suite(.serialized, .requires(.recorder)) struct PairTests {
  @Test("Only the change between two versions is reported", arguments: PairVariant.tested)
  func changes(variant: PairVariant) throws {
    for run in try PairRun.all(variant) { try expectNone(run.forwards, run) }
  }

  @Test("Exchanged sides give the opposite report", arguments: PairVariant.tested) func mirrored(
    variant: PairVariant
  ) throws {
    for run in try PairRun.all(variant) { try expectNone(run.backwards, run) }
  }

  @Test("A digest of the old version gives the same report as its trace", arguments: PairVariant.tested) func digested(
    variant: PairVariant
  ) throws {
    for run in try PairRun.all(variant) { try expectNone(run.digested, run) }
  }

  @Test("Two runs of one version show no change", arguments: PairVariant.tested) func repeated(
    variant: PairVariant
  ) throws {
    for run in try PairRun.all(variant) { try expectNone(run.repeated, run) }
  }

  private func expectNone(_ mismatches: Result<[String], CommandFailure>, _ run: PairRun) throws {
    switch mismatches {
    case .success(let lines):
      #expect(lines.isEmpty, "\(run.pair.name) -\(run.variant.rawValue):\n  \(lines.joined(separator: "\n  "))")
    case .failure(let failure): Issue.record("\(run.pair.name) -\(run.variant.rawValue): \(failure)")
    }
  }
}

/// These tests run at the same time as the other suites, so that differences by chance show up on a busy machine.
@Suite(.secondTier, .requires(.recorder)) struct UnchangedPairTests {
  @Test(
    "Ten runs of a threaded program show no change, in pairs and as five against five",
    arguments: PairVariant.allCases)
  func nothingChanged(variant: PairVariant) throws {
    let pair = try #require(try PairCase.all().first { $0.name == "nothing-changed" })
    let recordings = try PairRecordings(pair, variant)
    let runs = try (0..<10).map { try recordings.digest(.before, [], number: $0) }
    let nothing = PairCase.Comparison(unchanged: 3, moved: 0, renames: [])
    func expectNothing(_ old: [String], _ new: [String], _ name: String) throws {
      let mismatches = DiffComparison.mismatches(nothing, try PairRecordings.diff(old, new))
      #expect(mismatches == [], "\(name)")
    }
    for (i, old) in runs.enumerated() {
      for (j, new) in runs.enumerated() where i < j { try expectNothing([old], [new], "\(i) and \(j)") }
    }
    for split in [2, 3, 5] {
      try expectNothing(Array(runs[..<split]), Array(runs[split...]), "\(split) and \(10 - split)")
    }
    func every(second start: Int) -> [String] { stride(from: start, to: runs.count, by: 2).map { runs[$0] } }
    try expectNothing(every(second: 0), every(second: 1), "even and odd")
  }
}
