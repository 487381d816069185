import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import LeakGates
@testable import RunDiff
@testable import TraceReading
@testable import TraceReports

@Suite struct DiffWordsTests {
  @Test(arguments: [
    (ExampleDiff.figure(.retains, 120_000, 180_000), "retains 120,000 → 180,000 (+50 %)"),
    (ExampleDiff.figure(.releases, 1000, 991), "releases 1,000 → 991 (−0.9 %)"),
    (ExampleDiff.figure(.liveBytes, 1_048_576, 2_097_152), "live bytes 1.00 MiB → 2.00 MiB (+100 %)"),
    // Figures that would otherwise look equal are written in bytes.
    (ExampleDiff.figure(.peakBytes, 1_048_576, 1_048_600), "peak bytes 1,048,576 B → 1,048,600 B (less than +0.1 %)"),
    (ExampleDiff.figure(.instances, 0, 3), "instances 0 → 3 (from nothing)"),
    (ExampleDiff.figure(.instances, 3, 0), "instances 3 → 0 (−100 %)"),
    (ExampleDiff.figure(.growth, 2, 60), "growth 2 → 60 (×30)"),
    (ExampleDiff.figure(.instances, 0, 0), "instances 0 → 0 (±0 %)"),
    // The new run did twice the work.
    (ExampleDiff.figure(.retains, 100, 240, expected: 200), "retains 100 → 240 (+20 % of 200 for as much work)"),
    (ExampleDiff.figure(.temporaryBlocks, 2.5, 3), "temporary blocks 2.5 → 3 (+20 %)"),
    (ExampleDiff.figure(.retains, 5, .nan), "retains 5 → ? (?)"),
    (ExampleDiff.figure(.retains, 1e-300, 1e300), "retains 0.000 → ? (?)"),
  ])
  func changeIsWrittenInWords(change: FigureChange, expected: String) {
    #expect(DiffWords.change(change) == expected)
  }

  @Test func spreadsAreWrittenIfRunsDiffer() {
    #expect(
      DiffWords.spread(ExampleDiff.figure(.retains, 120_000, 180_000, width: 500))
        == "old 119,500 to 120,500, new 179,500 to 180,500")
    #expect(DiffWords.spread(ExampleDiff.figure(.retains, 120_000, 180_000)) == nil)
  }

  @Test func headlineCountsChanges() {
    var report = ExampleDiff.report
    #expect(DiffWords.headline(report) == "Leaks: 1 new, 1 worse, 1 gone, 12 unchanged")
    report.findings?.changes = []
    #expect(DiffWords.headline(report) == "Leaks: none changed, 12 unchanged")
    report.findings = nil
    report.findingsUnavailable = "old has no heap image"
    #expect(DiffWords.headline(report) == "Leaks: not compared: old has no heap image")
  }

  @Test func runsAreListedIfAFindingIsNotInAll() {
    let report = ExampleDiff.report
    #expect(DiffWords.runs(ExampleDiff.change(.new, ExampleFindings.cycle()), of: report) == nil)
    var worse = ExampleDiff.change(.worse, ExampleFindings.cycle())
    #expect(DiffWords.runs(worse, of: report) == nil)
    worse.oldRuns = 1
    #expect(DiffWords.runs(worse, of: report) == "in 1 of 2 old runs and 1 of 1 new ones")
  }
}

@Suite struct EstimatedDiffTests {
  private static let words =
    "live bytes 4.00 MiB ± 1.40 MiB → 24.0 MiB ± 3.50 MiB (+500 %)"

  @Test func estimatedChangesHaveTheirErrors() {
    #expect(ExampleDiff.lightReport.estimatedSites.map { DiffWords.figures($0.changes[0]) } == Self.words)
  }

  @Test func estimateOnOneSideOnlyIsShownAlone() throws {
    var change = try #require(ExampleDiff.lightReport.estimatedSites?.changes.first)
    change.kind = .new
    #expect(DiffWords.figures(change) == "live bytes 24.0 MiB ± 3.50 MiB")
    change.kind = .gone
    #expect(DiffWords.figures(change) == "live bytes 4.00 MiB ± 1.40 MiB")
  }

  @Test func textHasASectionForEstimates() {
    let text = DiffText(style: TextStyle(width: 120)).text(ExampleDiff.lightReport)
    #expect(
      text.contains(
        """
        Estimated sites: 1 worse, 41 unchanged
          of the unchanged: 1 matched under another name or by similarity
          worse  \(Self.words)
              fill(_:)  Cache.swift:7
                main

        """), "\(text)")
    #expect(
      text.contains("Types and holders: 1 new, 1 gone, 90 unchanged") && text.contains("app, 2 light recordings\n"))
    #expect(!DiffText().text(ExampleDiff.report).contains("Estimated sites"))
  }

  @Test func markdownCommentHasASectionForEstimates() {
    let text = DiffMarkdown.text(ExampleDiff.lightReport, gates: [])
    #expect(text.contains("<details><summary>Estimated sites: 1 worse, 41 unchanged</summary>"))
    #expect(
      text.contains("- <code>fill(&#95;&#58;)</code> at <code>Cache.swift&#58;7</code>: \(Self.words)\n"), "\(text)")
  }
}

@Suite struct DiffMarkdownTests {
  @Test func markdownCommentHasTheExpectedText() {
    let gates = [GateOutcome(gate: "new-leaks", hasFailed: true, explanation: "1 new leak")]
    let cycle = MarkdownText.preformatted(FindingDocument.body(ExampleFindings.cycle()))
    let outlived = MarkdownText.preformatted(FindingDocument.body(ExampleFindings.outlived()))
    #expect(
      DiffMarkdown.text(ExampleDiff.report, gates: gates) == """
        ### leaktrace: 1 new, 1 worse, 1 gone leaks

        Old: app, 2 runs, 2,200 events\("  ")
        New: app, 1 run, 1,500 events

        - ❌ gate <code>new-leaks</code> failed: 1 new leak

        | whole program | old → new | change | |
        | --- | ---: | ---: | --- |
        | retains | 120,000 → 180,000 | +50 % | worse |
        | allocated bytes | 4.00 KiB → 2.00 KiB | −50 % | better |

        #### New leaks: 1

        <details><summary>Retain cycle: <code>ViewModel ↺</code> · 3 instances, 1.50 KiB retained</summary>

        \(cycle)

        </details>

        #### Worse leaks: 1

        <details><summary>Outlived its scope: <code>Session</code> · instances 2 → 5 (+150 %); matched by similarity&#58; the type was Session</summary>

        \(outlived)

        </details>

        #### Gone leaks: 1

        - Lost: <code>Buffer</code> · 3 instances, 1.50 KiB retained

        12 leaks unchanged; 2 matched under another name or by similarity, 1 not in every run.

        <details><summary>Types: 1 worse, 40 unchanged</summary>

        **Worse**

        - <code>App.Store&#60;Int&#62;</code>: live bytes 4.00 KiB → 8.00 KiB (+100 %); renamed&#58; App.Cache is App.Store&#60;Int&#62; now

        Among the unchanged ones, 1 matched under another name or by similarity.

        </details>

        <details><summary>Allocation sites: 1 new, 1 gone, 90 unchanged</summary>

        **New**

        - <code>App.Image</code> at <code>Image.swift&#58;7</code>: live bytes 640 B, live blocks 10

        **Gone**

        - <code>malloc</code>: allocations 70

        </details>

        Taken for renamed:

        - <code>App.Cache</code> → <code>App.Store&#60;Int&#62;</code>

        > one side has a single run, so its spread is not known


        """)
  }

  @Test func unchangedFiguresAreOnlyCounted() {
    var report = ExampleDiff.report
    report.findings?.changes = []
    report.types.changes = []
    report.sites = DiffSection(changes: [], unchanged: 0, moved: 0, unsteady: 0)
    report.totals = [ExampleDiff.figure(.retains, 5, 5)]
    report.renames = []
    report.remarks = []
    #expect(
      DiffMarkdown.text(report, gates: []) == """
        ### leaktrace: no leak changed

        Old: app, 2 runs, 2,200 events\("  ")
        New: app, 1 run, 1,500 events

        No figure of the whole program changed beyond its spread.

        12 leaks unchanged; 2 matched under another name or by similarity, 1 not in every run.

        Types: none changed, 40 unchanged.


        """)
  }

  @Test func expectedFiguresForMoreWorkHaveAColumn() {
    var report = ExampleDiff.report
    report.unit = .scope("order")
    report.totals = [ExampleDiff.figure(.retains, 100, 240, expected: 200)]
    report.findings = nil
    report.findingsUnavailable = "old has no heap image"
    let text = DiffMarkdown.text(report, gates: [])
    #expect(
      text.hasPrefix("### leaktrace: leaks were not compared\n")
        && text.contains("Leaks were not compared: old has no heap image.\n"))
    #expect(
      text.contains(
        "| whole program | old → new | expected | change | |\n| --- | ---: | ---: | ---: | --- |\n| retains | 100 → 240 | 200 | +20 % | worse |\n"
      ))
    #expect(
      text.contains(
        "> Figures are compared by runs of the scope &#34;order&#34;&#58; a figure is worse if it grew more than they did.\n"
      ))
  }

  @Test func commentFitsTheSizeLimit() {
    var report = ExampleDiff.report
    let name = String(repeating: "Some<Name|", count: 300)
    report.findings?.changes = (0..<500).map {
      ExampleDiff.change(DiffKind.allCases[$0 % 4], ExampleFindings.cycle("A\($0)" + name))
    }
    report.sites.changes = (0..<500).map {
      ExampleDiff.site(DiffKind.allCases[$0 % 4], "\($0)" + name, [ExampleDiff.figure(.retains, 5, 6)])
    }
    report.renames = (0..<500).map { DiffRename(old: "\($0)" + name, new: name) }
    let text = DiffMarkdown.text(report, gates: [])
    #expect(text.utf8.count < 65_536 && text.contains("#### New leaks: 125") && text.contains("more.\n"))
  }
}

@Suite struct HostileDiffTests {
  @Test(arguments: 0..<10 as Range<UInt64>)
  func hostileNamesAreInertInMarkdownAndSurviveInJSON(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func name() -> String { ExampleFindings.hostileName(&random) }
    var report = ExampleDiff.report
    report.judged = ExampleFindings.hostile(20, seed: seed)
    report.findings?.changes = report.judged.map {
      ExampleDiff.change(DiffKind.allCases[Int(random.next() % 4)], $0.finding, match: .likeness([name()]))
    }
    report.sites.changes = (0..<20).map { _ in
      ExampleDiff.site(
        DiffKind.allCases[Int(random.next() % 4)], name(), match: .renamed([DiffRename(old: name(), new: name())]),
        frames: [DiffFrame(function: name(), stableName: name(), file: name(), line: 1)],
        [ExampleDiff.figure(.retains, 5, 6)])
    }
    report.new.program = name()
    report.remarks = [name()]
    let gates = [GateOutcome(gate: name(), hasFailed: true, explanation: name())]
    let text = DiffMarkdown.text(report, gates: gates)
    let tags = Set(text.matches(of: /<\/?[A-Za-z!][^>]*>/).map { String($0.0) })
    #expect(
      tags.isSubset(of: ["<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>", "<pre>", "</pre>"]),
      "\(tags)")
    #expect(!text.unicodeScalars.contains("\r") && !text.unicodeScalars.contains("\u{1}"))
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(DiffJSON.text(report, gates: gates).utf8)) as? [String: Any])
    let sites = try #require((document["sites"] as? [String: Any])?["changes"] as? [[String: Any]])
    #expect(sites.map { $0["name"] as? String } == report.sites.changes.map(\.name))
  }
}

@Suite struct DiffJSONTests {
  private func parsed(_ report: DiffReport) throws -> [String: Any] {
    let gates = [GateOutcome(gate: "new-leaks", hasFailed: true, explanation: "1 new leak")]
    return try #require(
      try JSONSerialization.jsonObject(with: Data(DiffJSON.text(report, gates: gates).utf8)) as? [String: Any])
  }

  @Test func documentHasTheWholeReport() throws {
    let report = ExampleDiff.report
    let document = try parsed(report)
    #expect(document["schema"] as? String == "leaktrace.diff" && document["schemaVersion"] as? Int == 1)
    #expect(document["comparedBy"] as? String == "run" && document["comparedByScope"] is NSNull)
    let findings = try #require(document["findings"] as? [String: Any])
    let changes = try #require(findings["changes"] as? [[String: Any]])
    #expect(changes.map { $0["kind"] as? String } == ["new", "worse", "gone"] && findings["unchanged"] as? Int == 12)
    #expect(
      (changes[0]["new"] as? [String: Any])?["fingerprint"] as? String == "00112233445566aa"
        && changes[0]["old"] is NSNull && changes[0]["match"] is NSNull)
    #expect((changes[1]["match"] as? [String: Any])?["differences"] as? [String] == ["the type was Session"])
    let figure = try #require((changes[1]["figures"] as? [[String: Any]])?.first)
    #expect(
      figure["figure"] as? String == "instances" && figure["direction"] as? String == "worse"
        && figure["ratio"] as? Double == 2.5)
    #expect(
      (figure["old"] as? [String: Double])?["median"] == 2 && figure["expected"] as? Double == 2
        && figure["difference"] as? Double == 3)
    let sites = try #require((document["sites"] as? [String: Any])?["changes"] as? [[String: Any]])
    #expect(
      sites.map { $0["name"] as? String } == ["App.Image", "malloc"]
        && (sites[0]["frames"] as? [[String: Any]])?.first?["line"] as? Int == 7)
    #expect((document["judged"] as? [[String: Any]])?.map { $0["standing"] as? String } == ["new", "worse", "known"])
    #expect(
      (document["totals"] as? [Any])?.count == 3 && ((document["old"] as? [String: Any])?["runs"] as? [Any])?.count == 2
    )
  }

  @Test func estimatedSitesHaveTheirErrors() throws {
    let document = try parsed(ExampleDiff.lightReport)
    #expect(document["listsHolders"] as? Bool == true)
    let section = try #require(document["estimatedSites"] as? [String: Any])
    let change = try #require((section["changes"] as? [[String: Any]])?.first)
    #expect(section["unchanged"] as? Int == 41 && change["name"] as? String == "fill(_:)")
    let figures = try #require(change["figures"] as? [[String: Any]])
    #expect(figures.map { $0["figure"] as? String } == ["liveBytes", "allocatedBytes"])
    #expect(figures.map { $0["direction"] as? String } == ["worse", "same"])
    #expect(figures.map { $0["newStandardError"] as? Double } == [3_670_016, 4_194_304])
    #expect(try parsed(ExampleDiff.report)["estimatedSites"] is NSNull)
  }

  @Test func uncomparedPartsAreNull() throws {
    var report = ExampleDiff.report
    report.findings = nil
    report.findingsUnavailable = "old has no heap image"
    report.unit = .scope("order")
    let document = try parsed(report)
    #expect(document["findings"] is NSNull && document["findingsUnavailable"] as? String == "old has no heap image")
    #expect(document["comparedBy"] as? String == "scope" && document["comparedByScope"] as? String == "order")
  }

  @Test func everyFieldIsDocumented() throws {
    let path = #filePath.components(separatedBy: "/Tests/")[0] + "/docs/report-schema.md"
    let documentation = try String(contentsOfFile: path, encoding: .utf8)
    let section = try #require(documentation.range(of: "# The JSON of `leaktrace diff --format json`, version 1\n"))
    var names: Set<String> = []
    func collect(_ value: Any) {
      if let object = value as? [String: Any] {
        // The fields of findings are described in another document.
        if object["verdict"] != nil { return }
        names.formUnion(object.keys)
        for value in object.values { collect(value) }
      } else if let array = value as? [Any] {
        for value in array { collect(value) }
      }
    }
    collect(try parsed(ExampleDiff.lightReport))
    #expect(names.count > 40 && names.contains("oldStandardError"))
    for name in names { #expect(documentation[section.upperBound...].contains("`\(name)`"), "\(name)") }
  }
}
