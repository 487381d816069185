// Short answers for agents.

import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import LeakGates
@testable import RunDiff
@testable import TraceReports

@Suite struct BriefReportTests {
  private func report(_ findings: [Finding], size: Int = 4096, remarks: [String] = [], unjudged: String? = nil)
    -> BriefReport
  {
    BriefReport(
      FindingDocument(
        program: "/src/.build/debug/app", judged: findings.map { JudgedFinding($0, .new) }, gates: [],
        source: .example, toolVersion: "1", remarks: remarks, unjudged: unjudged),
      traces: [BriefReport.Trace(path: "app.trace", leaks: LeakReport(unavailable: "no heap image"))], size: size)
  }

  private func parsed(_ value: JSONValue) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(value.compactText.utf8)) as? [String: Any])
  }

  private func cycles(_ count: Int) -> [Finding] {
    (0..<count).map { ExampleFindings.cycle("Model\($0)", fingerprint: "\(1000 + $0)") }
  }

  @Test func pagesHaveTenFindingsAndLeadOn() throws {
    let report = report(cycles(25))
    var cursor: String?
    var fingerprints: [String] = []
    var pages = 0
    repeat {
      let page = try parsed(report.findings(cursor: cursor))
      let findings = try #require(page["findings"] as? [[String: Any]])
      #expect(findings.count <= BriefReport.pageLength && page["total"] as? Int == 25)
      #expect(findings.first?["rank"] as? Int == fingerprints.count + 1)
      fingerprints += findings.compactMap { $0["fingerprint"] as? String }
      cursor = page["cursor"] as? String
      pages += 1
    } while cursor != nil && pages < 30
    #expect(fingerprints == (0..<25).map { "\(1000 + $0)" } && pages >= 3)
    for wrong in ["25", "-1", "x", ""] {
      #expect(try parsed(report.findings(cursor: wrong))["kind"] as? String == "failure", "\(wrong)")
    }
  }

  @Test func provenFindingsOfTheProgramComeFirst() throws {
    var library = ExampleFindings.lost()
    library.owner = .library(reason: "made by libfoo.so")
    library.fingerprint = "3"
    var suspected = ExampleFindings.outlived()
    suspected.fingerprint = "2"
    let page = try parsed(report([library, suspected, ExampleFindings.cycle(fingerprint: "1")]).findings(cursor: nil))
    let findings = try #require(page["findings"] as? [[String: Any]])
    #expect(findings.compactMap { $0["fingerprint"] as? String } == ["1", "2", "3"])
    #expect(findings[0]["place"] as? String == "Sources/App/ViewModel.swift:12")
    let next = try #require((page["next"] as? [[String: Any]])?.first)
    #expect(next["tool"] as? String == "finding")
    #expect((next["arguments"] as? [String: String]) == ["trace": "app.trace", "fingerprint": "1"])
  }

  @Test func findingHasItsPathSourcesAndAdvice() throws {
    let report = report([ExampleFindings.cycle(fingerprint: "00aa"), ExampleFindings.cycle("B", fingerprint: "00bb")])
    let finding = try parsed(report.finding("00a"))
    #expect(finding["kind"] as? String == "finding" && finding["fingerprint"] as? String == "00aa")
    #expect(
      (finding["path"] as? [[String: Any]])?.isEmpty == false && (finding["advice"] as? [String])?.isEmpty == false)
    let source = try #require((finding["sources"] as? [[String: Any]])?.first)
    #expect(source["file"] as? String == "Sources/App/ViewModel.swift" && source["line"] as? Int == 12)
    let tools = (finding["next"] as? [[String: Any]])?.compactMap { $0["tool"] as? String }
    #expect(tools?.contains("verify") == true)
    for wrong in ["00", "7", ""] {
      #expect(try parsed(report.finding(wrong))["kind"] as? String == "failure", "\(wrong)")
    }
  }

  @Test(arguments: [1024, 1500, 4096, 65536]) func answersAreWithinTheirLimit(size: Int) throws {
    for seed in 0..<4 as Range<UInt64> {
      var random = SeededRandom(seed: seed)
      let long = String(repeating: ExampleFindings.hostileName(&random) + "\"\\", count: 50)
      var findings = ExampleFindings.hostile(20, seed: seed).map(\.finding)
      for index in findings.indices {
        findings[index].path = Array(repeating: findings[index].path, count: 4).flatMap { $0 }
      }
      let report = report(findings, size: size, remarks: [long, long], unjudged: long)
      var answers = [report.findings(cursor: nil), BriefReport.failure(long, size: size)]
      answers += findings.map { report.finding($0.fingerprint) }
      let fixes = findings.map { finding in
        CheckedFix(
          answer: .notExercised, old: finding, new: nil, match: nil, figures: [],
          runs: [.init(instances: 0, site: .notReached(.functionUnseen(long)))], oldBlocks: 1)
      }
      answers.append(
        BriefReport.verification(
          FixReport(
            old: DiffSide(program: long, runs: [.init(path: long, events: 1, work: 1)]),
            new: DiffSide(program: long, runs: [.init(path: long, events: 1, work: 1)]), fixes: fixes,
            newFindings: findings.map { NewFinding(finding: $0, runs: 1) },
            unjudged: [.init(path: long, reason: long)], renames: [], remarks: [long]), size: size))
      answers.append(BriefReport.recording(trace: long, end: long, output: long, errors: long, size: size))
      answers.append(BriefReport.recording(trace: nil, end: long, output: long, errors: long, size: size))
      for answer in answers {
        #expect(answer.compactText.utf8.count <= size)
        _ = try parsed(answer)
      }
      // A cursor leads on, however small the limit is.
      if let cursor = try parsed(report.findings(cursor: nil))["cursor"] as? String { #expect(Int(cursor)! > 0) }
    }
  }

  @Test func everyFieldIsDocumented() throws {
    let path = #filePath.components(separatedBy: "/Tests/")[0] + "/docs/report-schema.md"
    let documentation = try String(contentsOfFile: path, encoding: .utf8)
    let section = try #require(documentation.range(of: "# The JSON of `--format brief-json`, version 1\n"))
    let finding = ExampleFindings.cycle(fingerprint: "1")
    let report = report(cycles(12) + [finding], remarks: ["names are missing"], unjudged: "a trace is damaged")
    let fix = CheckedFix(
      answer: .notExercised, old: finding, new: nil, match: nil, figures: [],
      runs: [.init(instances: 0, site: .notReached(.functionUnseen("f()")))], oldBlocks: 1)
    let side = DiffSide(program: "app", runs: [.init(path: "a.trace", events: 1, work: 1)])
    let fixes = FixReport(
      old: side, new: side, fixes: [fix], newFindings: [NewFinding(finding: finding, runs: 1)],
      unjudged: [.init(path: "b.trace", reason: "damaged")], renames: [], remarks: ["one"])
    var names: Set<String> = []
    func collect(_ value: Any) {
      for (name, value) in value as? [String: Any] ?? [:] {
        names.insert(name)
        // The names of arguments are documented with the tools.
        if name != "arguments" { collect(value) }
      }
      for value in value as? [Any] ?? [] { collect(value) }
    }
    for answer in [
      report.findings(cursor: nil), report.finding("100"), report.finding("1003"), report.finding("zz"),
      BriefReport.verification(fixes, size: 1024), BriefReport.verification(fixes, size: 9000),
      BriefReport.recording(trace: "a", end: "e", output: "o", errors: "e", size: 4096),
    ] { collect(try parsed(answer)) }
    #expect(names.count > 30)
    for name in names { #expect(documentation[section.upperBound...].contains("`\(name)`"), "\(name)") }
  }

  @Test func unreadableTraceIsNoEmptyList() throws {
    let document = FindingDocument(
      program: "", judged: [], gates: [], source: .example, toolVersion: "1", remarks: [],
      unjudged: "a.trace is damaged")
    let answer = try parsed(BriefReport(document, traces: [], size: 4096).findings(cursor: nil))
    #expect(answer["kind"] as? String == "failure" && (answer["error"] as? String)?.contains("damaged") == true)
    #expect(try parsed(report([], unjudged: "no heap image").findings(cursor: nil))["obstacle"] != nil)
  }

  @Test func largerLimitShowsWhatWasOmitted() throws {
    var finding = ExampleFindings.cycle(fingerprint: "1")
    finding.path = Array(repeating: finding.path, count: 60).flatMap { $0 }
    let small = try parsed(report([finding]).finding("1"))
    #expect((small["omitted"] as? [String: Any])?["path"] != nil)
    let large = try parsed(report([finding], size: 1 << 20).finding("1"))
    #expect(large["omitted"] == nil && (large["path"] as? [Any])?.count == finding.path.count)
  }
}
