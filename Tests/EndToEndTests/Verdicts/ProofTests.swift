// A proof claims that no continuation of the program can use an object: other ways than references forbid it.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct ProofTests {
  private struct Report: Decodable {
    struct Way: Decodable, Equatable {
      var kind: String
      var holder: String
    }
    struct Finding: Decodable {
      var verdict: String
      var certainty: String
      var strength: String?
      var instances: Int
      var library: Bool
      var way: Way?
      var advice: [String]
    }
    var findings: [Finding]
  }
  private struct Document: Decodable { var reports: [Report] }

  private func findings(_ way: String, _ optimisation: String) throws -> (list: [Report.Finding], text: String) {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/t"
    let program = try TestProgram("possible-ways.swift", flags: [optimisation]).path()
    let run = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program, way]).run()
    #expect(run.end == .exit(0), "\(run)")
    let analyzed = try Command([BuildProducts.leaktrace, "analyze", trace, "--format", "json"]).run()
    let document = try JSONDecoder().decode(Document.self, from: Data(analyzed.output.utf8))
    let text = try Command([BuildProducts.leaktrace, "analyze", trace]).run().output
    return (document.reports.flatMap(\.findings).filter { !$0.library }, text)
  }

  private static let optimisations = TestTier.arguments(["-O"], of: ["-O", "-Onone"])

  @Test("Objects whose addresses are numbers are likely lost, and not proven to be", arguments: optimisations)
  func numbers(optimisation: String) throws {
    let (found, text) = try findings("numbers", optimisation)
    #expect(found.allSatisfy { $0.verdict == "lost" && $0.certainty == "suspected" && $0.strength == "likely" })
    #expect(found.reduce(0) { $0 + $1.instances } == 20)
    #expect(found.allSatisfy { $0.way?.kind == "number" && ["table", "marked"].contains($0.way?.holder) }, "\(found)")
    #expect(text.contains("Likely lost") && text.contains("possibly reachable through a number in"))
  }

  @Test(
    "Tasks that a weak reference can resume, and objects whose deinit waits, are in use",
    arguments: ["weak-feeds", "pending-ends"], optimisations)
  func clean(way: String, optimisation: String) throws {
    let (found, text) = try findings(way, optimisation)
    #expect(found.isEmpty, "\(text)")
  }

  @Test("A finished task that was retained too often is lost, and not suspended", arguments: optimisations)
  func finished(optimisation: String) throws {
    let found = try findings("finished-tasks", optimisation).list
    #expect(found.map(\.verdict) == ["lost"] && found.first?.instances == 25)
    #expect(found.first?.certainty == "proven")
    #expect(found.first?.advice.first?.hasPrefix("The task has finished") == true)
  }
}
