// Tests of the comparison that judges the corpus.

import Foundation
import Testing

struct FindingComparisonTests {
  private func found(
    _ count: Int, _ path: [(String, String)], verdict: String = "retainCycle", library: Bool = false,
    hidden: Bool = false,
    objects: Int? = nil
  ) -> ReportedFinding {
    let kinds: Set<String> = ["closure", "box", "task", "malloc", "array", "dictionary", "set"]
    return ReportedFinding(
      verdict: verdict, library: library, instances: count, retainedObjects: objects,
      path: path.map { .init(type: $0.0, kind: kinds.contains($0.0) ? $0.0 : "object", edge: .init(name: $0.1)) },
      hidden: hidden)
  }

  private func cycle(_ count: Int, _ path: [(String, String)]) -> ExpectedFinding {
    ExpectedFinding(.retainCycle, count: count, members: path.map(\.0), edges: path.map(\.1))
  }

  private func mismatches(_ expected: [ExpectedFinding], _ found: [ReportedFinding]) -> [String] {
    FindingComparison.mismatches(expected: expected, found: found)
  }

  private let ring = [("Screen", "model"), ("Model", "notify"), ("closure", "self")]

  @Test("Cycles match from any start") func rotation() {
    for start in 0..<3 {
      let rotated = Array(ring[start...] + ring[..<start])
      #expect(mismatches([cycle(7, ring)], [found(7, rotated)]) == [])
    }
    #expect(
      mismatches([cycle(7, ring)], [found(7, ring.reversed())]) == [
        "missing: 7 × retainCycle Screen .model → Model .notify → closure .self",
        "unexpected: 7 × retainCycle closure .self → Model .notify → Screen .model",
      ])
  }

  @Test("Paths that are not cycles match from their first step, and their end has no edge") func paths() {
    let lost = ExpectedFinding(.lost, count: 2, members: ["Buffer", "malloc"], edges: ["data"])
    #expect(mismatches([lost], [found(2, [("Buffer", "data"), ("malloc", "whatever")], verdict: "lost")]) == [])
    #expect(mismatches([lost], [found(2, [("malloc", ""), ("Buffer", "data")], verdict: "lost")]).count == 2)
    #expect(mismatches([lost], [found(2, [("Buffer", "other"), ("malloc", "")], verdict: "lost")]).count == 2)
  }

  @Test("Findings match in any order, and equal paths are distinguished by counts") func order() {
    let pair = [("A", "b"), ("B", "a")]
    let other = [("C", "c")]
    #expect(
      mismatches([cycle(3, pair), cycle(5, pair), cycle(1, other)], [found(1, other), found(5, pair), found(3, pair)])
        == [])
    #expect(
      mismatches([cycle(3, pair), cycle(5, pair)], [found(8, pair)]) == [
        "8 × retainCycle A .b → B .a: instances 8, expected 3", "missing: 5 × retainCycle A .b → B .a",
      ])
  }

  @Test("Each difference is described") func differences() {
    let expectation = [cycle(7, [("Poller", "tick")])]
    #expect(mismatches(expectation, []) == ["missing: 7 × retainCycle Poller .tick"])
    #expect(mismatches([], [found(7, [("Poller", "tick")])]) == ["unexpected: 7 × retainCycle Poller .tick"])
    #expect(
      mismatches(expectation, [found(6, [("Poller", "tick")], library: true)]) == [
        "6 × retainCycle (library) Poller .tick: library true, expected false, instances 6, expected 7"
      ])
    #expect(
      mismatches(expectation, [found(7, [("Poller", "tock")])]) == [
        "missing: 7 × retainCycle Poller .tick", "unexpected: 7 × retainCycle Poller .tock",
      ])
    #expect(
      mismatches(expectation, [found(7, [("Poller", "tick")], verdict: "lost")]) == [
        "7 × lost Poller: verdict lost, expected retainCycle"
      ])
    let tree = ExpectedFinding(.retainCycle, count: 1, members: ["Node"], edges: ["next"], retainedObjects: 15)
    #expect(mismatches([tree], [found(1, [("Node", "next")], objects: 15)]) == [])
    #expect(
      mismatches([tree], [found(1, [("Node", "next")], objects: 14)]) == [
        "1 × retainCycle Node .next: retained objects 14, expected 15"
      ])
  }

  @Test("Names and steps may be wildcards") func openParts() {
    #expect(mismatches([cycle(1, [("Screen", "*"), ("Model", "notify"), ("closure", "*")])], [found(1, ring)]) == [])
    let open = cycle(1, [("Screen", "model"), ("...", "...")])
    #expect(mismatches([open], [found(1, ring)]) == [])
    #expect(mismatches([open], [found(1, Array(ring[2...] + ring[..<2]))]) == [])
    #expect(mismatches([open], [found(1, [("Screen", "model")])]) == [])
    #expect(mismatches([open], [found(1, [("Screen", "other"), ("Model", "notify")])]).count == 2)
    #expect(mismatches([cycle(1, [("Screen", "model"), ("...", ""), ("closure", "self")])], [found(1, ring)]) == [])
    #expect(mismatches([cycle(1, [("Screen", "model"), ("...", ""), ("box", "self")])], [found(1, ring)]).count == 2)
    let zombie = ExpectedFinding(.deinitialised, count: 1, members: ["...", "Room"], edges: [])
    #expect(
      mismatches([zombie], [found(1, [("array", "[]"), ("Visitor", "room"), ("Room", "")], verdict: "deinitialised")])
        == [])
    #expect(mismatches([zombie], [found(1, [("Room", "")], verdict: "deinitialised")]) == [])
    #expect(
      mismatches([zombie], [found(1, [("Room", "guest"), ("Visitor", "")], verdict: "deinitialised")]).count == 2)
  }

  @Test("An empty path matches only an empty path") func empty() {
    #expect(mismatches([cycle(1, [("Poller", "tick")])], [found(1, [])]).count == 2)
  }

  @Test("Hidden findings may be expected, and do not count otherwise") func hidden() {
    let timer = found(3, [("Timer", "")], verdict: "lost", library: true, hidden: true)
    #expect(mismatches([], [timer]) == [])
    #expect(mismatches([ExpectedFinding(.lost, count: 3, members: ["Timer"], edges: [], library: true)], [timer]) == [])
  }

  @Test("A report is decoded by its schema") func decoding() throws {
    let report = try VerdictReport.read(
      """
      {"schema": "leaktrace.allocations", "reports": [{"types": [{"name": "app.Poller", "total": {"liveBlocks": 7}}], "findings": [{
        "verdict": "retainCycle", "library": false, "instances": 7, "retainedBytes": 280, "retainedObjects": 7, "hidden": false,
        "fingerprint": "a1", "advice": ["capture self weakly"], "path": [{"type": "Poller", "kind": "object", "function": "start()",
        "file": "Poller.swift", "line": 8, "edge": {"name": "tick", "strength": "strong"}}]}]}]}
      """)
    #expect(report.liveBlocks(ofType: "app.Poller") == 7)
    #expect(mismatches([cycle(7, [("Poller", "tick")])], try #require(report.findings)) == [])
    #expect(try VerdictReport.read(#"{"reports": [{"types": []}]}"#).findings == nil)
  }

  @Test("The corpus data have unique names, positive counts, and an edge per member of a cycle") func data()
    throws
  {
    let cases = try CorpusCase.all()
    #expect(cases.filter { $0.leak != nil }.count >= 45)
    #expect(Set(cases.map(\.name)).count == cases.count)
    for program in cases {
      #expect(program.leak.map { !$0.isEmpty } ?? true, "\(program.name)")
      for finding in (program.leak ?? []) + program.clean {
        #expect(finding.count > 0 && !finding.members.isEmpty, "\(program.name)")
        #expect(finding.verdict != .retainCycle || finding.edges.count == finding.members.count, "\(program.name)")
      }
    }
  }
}
