// A proof claims that no continuation of the program can use an object. So an object that the program can reach by
// other ways than references is not proven to be leaked.

import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct ProofTests {
  private func findings(_ way: String, _ optimisation: String) throws -> (list: [ReportedFinding], text: String) {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/t"
    try VerdictReport.record([try TestProgram("possible-ways.swift", flags: [optimisation]).path(), way], to: trace)
    let report = try #require(try VerdictReport.read(traces: [trace])[trace])
    let text = try Command([BuildProducts.leaktrace, "analyze", trace]).run().output
    return (try #require(report.findings).filter { !$0.library }, text)
  }

  private static let optimisations = TestTier.arguments(["-O"], of: ["-O", "-Onone"])

  @Test("Objects whose addresses are stored as numbers are likely lost, but not proven", arguments: optimisations)
  func numbers(optimisation: String) throws {
    let (found, text) = try findings("numbers", optimisation)
    #expect(found.allSatisfy { $0.verdict == "lost" && $0.certainty == "suspected" && $0.strength == "likely" })
    #expect(found.reduce(0) { $0 + $1.instances } == 20)
    #expect(
      found.allSatisfy { $0.way?.kind == "number" && ["table", "marked"].contains($0.way?.holder ?? "") }, "\(found)")
    #expect(text.contains("Likely lost") && text.contains("possibly reachable through a number in"))
  }

  @Test(
    "Objects whose addresses are stored among bytes are not proven lost, at any offset", arguments: optimisations)
  func bytes(optimisation: String) throws {
    let inArray = try findings("array-records", optimisation)
    #expect(inArray.list.allSatisfy { $0.verdict == "lost" && $0.certainty == "suspected" }, "\(inArray.text)")
    // A stale word on the stack may refer to some of the objects.
    #expect(inArray.list.reduce(0) { $0 + $1.instances } >= 995, "\(inArray.text)")
    #expect(inArray.list.allSatisfy { $0.way?.holder == "records" })
    // No type describes the contents of a buffer.
    let inBuffer = try findings("buffer-records", optimisation)
    #expect(inBuffer.list.allSatisfy { $0.certainty != "proven" }, "\(inBuffer.text)")
  }

  @Test("Objects whose addresses are split into small values are not proven lost, at any offset")
  func smallValues() throws {
    let directory = try TemporaryDirectory()
    for optimisation in ["-O", "-Onone"] {
      let trace = directory.path + "/t" + optimisation
      let program = try TestProgram("addresses-in-small-values.swift", flags: [optimisation]).path()
      try VerdictReport.record([program], to: trace)
      let query = """
        SELECT count(*), sum(is_leaked), sum(is_leaked AND way = 'number') FROM blocks
        WHERE size = 192 AND kind = 'object'
        """
      let answer = try Command([BuildProducts.leaktrace, "query", trace, "--format", "csv", query]).run().output
      let counts = answer.split(whereSeparator: \.isNewline).last?.split(separator: ",").compactMap { Int($0) } ?? []
      try #require(counts.count == 3, "\(answer)")
      #expect(counts[2] == counts[1], "\(optimisation): \(answer)")
      // The other objects are in memory whose layout no type describes, such as captured variables.
      #expect(counts[0] > 20_000 && counts[1] > counts[0] * 8 / 10, "\(answer)")
    }
  }

  /// Boxes of captured variables have the type of another variable.
  @Test(
    "Resumable tasks, objects waiting in deinit, and captured pointers are in use",
    arguments: ["weak-feeds", "pending-ends", "boxes"], optimisations)
  func clean(way: String, optimisation: String) throws {
    let (found, text) = try findings(way, optimisation)
    #expect(found.isEmpty, "\(text)")
  }

  @Test("Weak references in malloc memory, and numbers behind them, are named", arguments: optimisations)
  func weakInMemory(optimisation: String) throws {
    let (found, text) = try findings("rings", optimisation)
    #expect(found.filter { $0.verdict == "retainCycle" }.allSatisfy { $0.certainty == "proven" }, "\(text)")
    #expect(found.filter { $0.verdict == "retainCycle" }.map { $0.way?.kind } == ["weak"], "\(text)")
    #expect(found.filter { $0.verdict == "lost" }.allSatisfy { $0.certainty == "suspected" }, "\(text)")
    #expect(found.filter { $0.verdict == "lost" }.reduce(0) { $0 + $1.instances } >= 9, "\(text)")
  }

  @Test("A finished task with a surplus retain is lost, not suspended", arguments: optimisations)
  func finished(optimisation: String) throws {
    let found = try findings("finished-tasks", optimisation).list
    #expect(found.map(\.verdict) == ["lost"] && found.first?.instances == 25)
    #expect(found.first?.certainty == "proven")
    #expect(found.first?.advice.first?.hasPrefix("The task has finished") == true)
  }
}
