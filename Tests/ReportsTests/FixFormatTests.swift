// Answers about fixes in all formats.

import Foundation
import TestRequirements
import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import RunDiff
@testable import TextWriting
@testable import TraceReports

@Suite struct FixFormatTests {
  private static func fix(
    _ answer: FixAnswer, _ finding: Finding, _ runs: [CheckedFix.Run], match: DiffMatch? = nil
  ) -> CheckedFix {
    CheckedFix(
      answer: answer, old: finding, new: answer.isPresent ? finding : nil, match: match,
      figures: [ExampleDiff.figure(.instances, 20, answer == .worse ? 30 : 20)], runs: runs, oldBlocks: 20)
  }

  private static func report() -> FixReport {
    let reached = CheckedFix.Run(instances: 0, site: .reached(blocks: 1000))
    let present = CheckedFix.Run(instances: 3, site: .reached(blocks: 12))
    func missed(_ gap: ExerciseGap) -> CheckedFix.Run { CheckedFix.Run(instances: 0, site: .notReached(gap)) }
    let sides = ExampleDiff.report
    var new = sides.new
    new.runs = (1...3).map { .init(path: "run-\($0).trace", events: 1500, work: 1) }
    return FixReport(
      old: sides.old, new: new,
      fixes: [
        fix(.worse, ExampleFindings.cycle(), [present, present, present], match: .likeness(["the type was Session"])),
        fix(.flaky, ExampleFindings.lost(), [reached, present, missed(.functionUnseen("open()"))]),
        fix(
          .notExercised, ExampleFindings.outlived(),
          [
            missed(.notAllocated(type: "Screen", function: "open(_:animated:)")), missed(.functionUnseen("")),
            missed(.functionUnseen("open()")),
          ]),
        fix(.notKnown, ExampleFindings.cycle(), Array(repeating: missed(.notSampled), count: 3)),
        fix(.gone, ExampleFindings.lost(), [reached, .init(instances: 0, site: .sampled), missed(.inspection)]),
      ], newFindings: [NewFinding(finding: ExampleFindings.cycle(), runs: 1)],
      unjudged: [FixReport.Unjudged(path: "run-4.trace", reason: "the trace is damaged")], renames: sides.renames,
      remarks: ["names are missing"])
  }

  @Test(arguments: [60, 80, 120]) func linesFitTheTerminal(width: Int) throws {
    let text = FixText(style: TextStyle(width: width)).text(Self.report())
    for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for part in [
      "Not fixed: 1 worse, 1 flaky, 1 not exercised, 1 not known, 1 gone, 1 new.",
      "flaky: gone in 1 of 3 runs, still in 1 with 3 instances; 1 did not reach its site",
      "not exercised: absent in all 3 runs, but they called open(_:animated:) and made no Screen there",
      "not known: absent in all 3 runs, but no sample shows its site",
      "gone: in 2 of 3 runs; its site made 1,000 objects, and 20 in the old run; 1 may not have reached it",
      "new in 1 of 3 runs", "not judged: run-4.trace: the trace is damaged", "matched by similarity",
      "Run the work that leaked before",
    ] {
      #expect(words.contains(part), "\(part)\n\(text)")
    }
  }

  @Test func conclusionSaysWhatTheRunsProve() {
    var report = Self.report()
    report.unjudged = []
    report.newFindings = []
    func conclusion(_ answers: Set<FixAnswer>) -> String {
      var report = report
      report.fixes = report.fixes.filter { answers.contains($0.answer) }
      return FixWords.conclusion(report)
    }
    #expect(conclusion([.gone]) == "Fixed: 1 gone, nothing new.")
    #expect(conclusion([.gone, .notExercised]) == "Not proven: 1 not exercised, 1 gone.")
    #expect(conclusion([.gone, .flaky]) == "Not fixed: 1 flaky, 1 gone.")
    #expect(conclusion([]).hasPrefix("Nothing to verify"))
    report.newFindings = Self.report().newFindings
    #expect(conclusion([.gone]) == "New: 1 gone, 1 new.")
    report.newFindings = []
    report.unjudged = Self.report().unjudged
    #expect(conclusion([.gone]) == "Not judged: 1 gone." && conclusion([]).hasPrefix("Not judged"))
  }

  @Test func markdownListsEveryAnswerAndShowsWhatIsLeft() {
    let text = FixMarkdown.text(Self.report())
    for fix in Self.report().fixes { #expect(text.contains(" \(FixWords.name(fix.answer)) |"), "\(fix.answer)") }
    #expect(text.contains("❌ new") && text.components(separatedBy: "<details>").count == 4)
  }

  @Test func hostileNamesAreInert() throws {
    var random = SeededRandom(seed: 7)
    var report = Self.report()
    report.fixes = ExampleFindings.hostile(20, seed: 7).map {
      Self.fix(
        .notExercised, $0.finding,
        [.init(instances: 0, site: .notReached(.functionUnseen(ExampleFindings.hostileName(&random))))])
    }
    report.newFindings = []
    report.new.runs = [.init(path: ExampleFindings.hostileName(&random), events: 1, work: 1)]
    report.remarks = [ExampleFindings.hostileName(&random)]
    let markdown = FixMarkdown.text(report)
    let tags = Set(markdown.matches(of: /<\/?[A-Za-z!][^>]*>/).map { String($0.0) })
    #expect(tags.isSubset(of: ["<code>", "</code>"]), "\(tags)")
    for text in [markdown, FixText().text(report)] {
      #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
    }
    _ = try JSONSerialization.jsonObject(with: Data(FixJSON.text(report).utf8))
  }

  @Test func documentHasEveryAnswerAndEveryFieldIsDocumented() throws {
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(FixJSON.text(Self.report()).utf8)) as? [String: Any])
    #expect(document["schema"] as? String == "leaktrace.verify" && document["conclusion"] as? String == "notFixed")
    let fixes = try #require(document["fixes"] as? [[String: Any]])
    #expect(
      fixes.map { $0["answer"] as? String } == ["worse", "flaky", "notExercised", "notKnown", "gone"])
    let runs = try #require(fixes[4]["runs"] as? [[String: Any]])
    #expect(runs.map { $0["site"] as? String } == ["reached", "sampled", "notKnown"])
    let path = #filePath.components(separatedBy: "/Tests/")[0] + "/docs/report-schema.md"
    let documentation = try String(contentsOfFile: path, encoding: .utf8)
    let section = try #require(documentation.range(of: "# The JSON of `leaktrace verify --format json`, version 1\n"))
    for object in [document, fixes[0], runs[0], try #require((document["newFindings"] as? [[String: Any]])?.first)] {
      for name in object.keys { #expect(documentation[section.upperBound...].contains("`\(name)`"), "\(name)") }
    }
  }
}
