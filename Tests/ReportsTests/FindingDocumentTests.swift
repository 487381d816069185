import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import LeakGates
@testable import TraceReading
@testable import TraceReports

@Suite struct FindingDocumentTests {
  private func document(
    _ judged: [JudgedFinding], gates: [GateOutcome] = [], remarks: [String] = [], unjudged: String? = nil
  ) -> FindingDocument {
    FindingDocument(
      program: "/src/.build/debug/app", judged: judged, gates: gates, source: .example, toolVersion: "1.2.3",
      remarks: remarks, unjudged: unjudged)
  }

  private let failed = GateOutcome(gate: "new-leaks", hasFailed: true, explanation: "1 new leak, none is let through")
  private let passed = GateOutcome(gate: "retains:10%", hasFailed: false, explanation: "")

  private var mixed: [JudgedFinding] {
    var library = ExampleFindings.lost()
    library.owner = .library(reason: "made by libfoo.so")
    return [
      JudgedFinding(ExampleFindings.cycle(), .new),
      JudgedFinding(ExampleFindings.outlived(), .worse("2 → 3 instances"), judgesSuspicions: true),
      JudgedFinding(ExampleFindings.usedAfterEnd(), .known(reason: "fixed in 2.0")),
      JudgedFinding(ExampleFindings.lost(), .known(reason: "")),
      JudgedFinding(ExampleFindings.lost(), .hidden(pattern: "Buffer")), JudgedFinding(library, .library),
    ]
  }

  // MARK: SARIF

  private func results(_ document: FindingDocument) throws -> (run: [String: Any], results: [[String: Any]]) {
    let log = try #require(try JSONSerialization.jsonObject(with: Data(document.sarif().utf8)) as? [String: Any])
    let run = try #require((log["runs"] as? [[String: Any]])?.first)
    return (run, try #require(run["results"] as? [[String: Any]]))
  }

  private func uri(_ location: Any?) -> String? {
    let physical = (location as? [String: Any])?["physicalLocation"] as? [String: Any]
    guard let artifact = physical?["artifactLocation"] as? [String: Any], let uri = artifact["uri"] as? String else {
      return nil
    }
    let line = (physical?["region"] as? [String: Int])?["startLine"]
    return "\(artifact["uriBaseId"] as? String ?? "")|\(uri)|\(line ?? 0)"
  }

  @Test func sarifHasAResultForEachFindingWithPlaceFingerprintAndState() throws {
    let (run, results) = try results(document(mixed, gates: [failed], remarks: ["threads were not stopped"]))
    #expect(results.map { $0["ruleId"] as? String } == ["retainCycle", "outlived", "dangling", "lost", "lost", "lost"])
    #expect(results.map { $0["level"] as? String } == ["error", "warning", "error", "error", "error", "note"])
    #expect(results.map { $0["baselineState"] as? String } == ["new", "updated", "unchanged", "unchanged", nil, nil])
    #expect(
      results.map { uri(($0["locations"] as? [Any])?.first) } == [
        "SRCROOT|Sources/App/ViewModel.swift|12", "SRCROOT|Sources/App/Server.swift|20",
        "SRCROOT|Sources/App/Net.swift|15",
        "SRCROOT|.build/debug/app|0", "SRCROOT|.build/debug/app|0", "SRCROOT|.build/debug/app|0",
      ])
    #expect(
      (results[0]["relatedLocations"] as? [Any])?.map { uri($0) } == [
        "SRCROOT|Sources/App/main.swift|3", "SRCROOT|Sources/App/ViewModel.swift|12",
        "SRCROOT|Sources/App/ViewModel.swift|11",
      ])
    #expect((results[0]["partialFingerprints"] as? [String: String]) == ["leaktrace/v1": "00112233445566aa"])
    let justifications = results.map { ($0["suppressions"] as? [[String: String]])?.first?["justification"] }
    #expect(justifications == [nil, nil, "fixed in 2.0", nil, "hidden by the suppression leak:Buffer", nil])
    let properties = try #require(results[0]["properties"] as? [String: Any])
    #expect(
      properties["instances"] as? Int == 3 && properties["retainedBytes"] as? Int == 1536
        && properties["isFailing"] as? Bool == true)
    let message = try #require(results[1]["message"] as? [String: String])
    #expect(message["text"] == "Outlived its scope: Session. 3 instances, 1.50 KiB retained; worse: 2 → 3 instances.")
    #expect(
      ((run["originalUriBaseIds"] as? [String: Any])?["SRCROOT"] as? [String: Any])?["uri"] as? String == "file:///src/"
    )
    let notifications =
      ((run["invocations"] as? [[String: Any]])?.first?["toolExecutionNotifications"] as? [[String: Any]])
    #expect((notifications?.first?["message"] as? [String: String])?["text"] == "threads were not stopped")
    let driver = try #require((run["tool"] as? [String: [String: Any]])?["driver"])
    #expect((driver["rules"] as? [[String: Any]])?.map { $0["id"] as? String } == Verdict.allCases.map(\.rawValue))
    #expect(driver["version"] as? String == "1.2.3")
  }

  @Test func sarifLeadsAlongThePathFromTheRoot() throws {
    var finding = ExampleFindings.outlived()
    let places = [("Net.swift", 15), ("Server.swift", 20), ("ViewModel.swift", 11)]
    finding.path = places.enumerated().map { index, place in
      var step = ExampleFindings.cycle().path[0]
      (step.kind, step.type, step.qualifiedType) = (.object, "Type\(index)", "App.Type\(index)")
      step.allocation = ExampleFindings.frame("make\(index)()", "/src/Sources/App/\(place.0)", place.1)
      step.reference = index < 2 ? ExampleFindings.reference("field\(index)") : nil
      return step
    }
    let result = try #require(try results(document([JudgedFinding(finding, .new)])).results.first)
    let related = try #require(result["relatedLocations"] as? [[String: Any]])
    #expect(
      related.prefix(3).map { uri($0) } == places.map { "SRCROOT|Sources/App/\($0.0)|\($0.1)" }, "\(related)")
    #expect(related.map { $0["id"] as? Int } == related.indices.map { $0 + 1 })
    let texts = related.map { ($0["message"] as? [String: String])?["text"] ?? "" }
    #expect(texts[0].hasPrefix("1 of 3: Type0, held by "))
    #expect(texts[2].hasPrefix("3 of 3: Type2, held by Type1 .field1"))
  }

  @Test func sarifEncodesPathsAndEscapesMessages() {
    #expect(SarifLog.encoded("we ird/ü%#?[1].swift") == "we%20ird/%C3%BC%25%23%3F%5B1%5D.swift")
    #expect(SarifLog.encoded("\u{1}") == "%01")
    #expect(SarifLog.escaped("{lambda#1} of [Node](a)") == "{{lambda#1}} of [Node\\](a)")
  }

  @Test func statedFindingsAreErrorsAndSuspicionsAreWarnings() throws {
    var stated = ExampleFindings.outlived()
    let place = MarkPlace(name: "order", file: "App/Shop.swift", line: 3)
    stated.evidence = .stated(
      .scope(.init(place: place, executions: 5, executionsWithRest: 1, grace: 0)), ExampleFindings.survivors())
    let levels = try results(document([JudgedFinding(stated, .new), JudgedFinding(ExampleFindings.outlived(), .new)]))
      .results.map { $0["level"] as? String }
    #expect(levels == ["error", "warning"])
  }

  // MARK: JUnit

  @Test func junitHasATestForEachFindingAndNoneForGates() throws {
    let text = document(mixed, gates: [failed, passed], remarks: ["threads were not stopped"]).junit()
    let body =
      "\n" + "at Sources/App/ViewModel.swift:12\n" + JUnitXML.content(FindingDocument.body(ExampleFindings.cycle()))
      + "\n"
    #expect(
      text.hasPrefix(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="leaktrace" tests="6" failures="2" errors="0" time="0">
          <testsuite name="leaktrace app" tests="6" failures="2" errors="0" skipped="4" time="0">
            <properties>
              <property name="gate new-leaks" value="failed: 1 new leak, none is let through"/>
              <property name="gate retains:10%" value="passed"/>
            </properties>
            <testcase name="Retain cycle: ViewModel ↺ (00112233445566aa)" classname="leaktrace.app.retainCycle" time="0">
              <failure type="retainCycle" message="Retain cycle: ViewModel ↺: 3 instances, 1.50 KiB retained">\(body)</failure>
            </testcase>

        """))
    #expect(
      text.contains("message=\"Outlived its scope: Session: 3 instances, 1.50 KiB retained; worse: 2 → 3 instances\">"))
    #expect(
      text.contains("<skipped message=\"known: fixed in 2.0\"/>") && text.contains("<skipped message=\"known\"/>"))
    #expect(text.contains("<skipped message=\"hidden by the suppression Buffer\"/>"))
    #expect(text.contains("<skipped message=\"not the program's: made by libfoo.so\"/>"))
    #expect(
      text.hasSuffix(
        """
            <system-out>threads were not stopped</system-out>
          </testsuite>
        </testsuites>

        """))
  }

  @Test func junitWithoutLeaksHasAPassedTest() {
    #expect(
      document([]).junit() == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="leaktrace" tests="1" failures="0" errors="0" time="0">
          <testsuite name="leaktrace app" tests="1" failures="0" errors="0" skipped="0" time="0">
            <testcase name="no leaks" classname="leaktrace.app" time="0"/>
          </testsuite>
        </testsuites>

        """)
  }

  @Test func failureWithoutAFindingIsASeparateTest() {
    let accepted = [JudgedFinding(ExampleFindings.lost(), .known(reason: ""))]
    let text = document(accepted, gates: [failed, passed]).junit()
    #expect(text.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\""), "\(text)")
    #expect(
      text.contains(
        """
            <testcase name="judgement" classname="leaktrace.app" time="0">
              <failure type="gate" message="gate new-leaks failed: 1 new leak, none is let through">gate new-leaks failed: 1 new leak, none is let through</failure>
            </testcase>
          </testsuite>

        """), "\(text)")
    #expect(!document(accepted, gates: [passed]).junit().contains("judgement"))
  }

  // MARK: Leaks that cannot be judged

  @Test func unjudgeableLeaksAreAnErrorInEveryFormat() throws {
    let reason = "app (pid 7) left no heap image: it was killed"
    let sentence = "leaks cannot be judged: \(reason)"
    let unjudged = document([], remarks: [sentence, "another"], unjudged: reason)
    let junit = unjudged.junit()
    #expect(junit.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "\(junit)")
    #expect(junit.contains("<error message=\"\(sentence)\"/>"), "\(junit)")
    #expect(unjudged.annotations() == "::error title=leaktrace%3A app::\(sentence)\n")
    #expect(unjudged.markdown().hasPrefix("### leaktrace: leaks cannot be judged in <code>app</code>\n"))
    #expect(unjudged.markdown().components(separatedBy: "left no heap image").count == 2)
    let invocation = try #require((try results(unjudged).run["invocations"] as? [[String: Any]])?.first)
    #expect(invocation["executionSuccessful"] as? Bool == false)
    let notes = try #require(invocation["toolExecutionNotifications"] as? [[String: Any]])
    #expect(notes.map { $0["level"] as? String } == ["error", "note"])
    // Findings of other processes are still shown.
    let partial = document([JudgedFinding(ExampleFindings.cycle(), .new)], unjudged: reason)
    #expect(partial.markdown().hasPrefix("### leaktrace: 1 new leak in"))
    #expect(partial.junit().contains("tests=\"2\" failures=\"1\" errors=\"1\""))
  }

  // MARK: Tests

  private func leaked(in tests: (String, Int)..., instances: Int = 3) -> JudgedFinding {
    var finding = ExampleFindings.cycle()
    finding.instances = instances
    finding.origins.tests = tests.map { Finding.TestShare(name: $0.0, instances: $0.1) }
    return JudgedFinding(finding, .new)
  }

  @Test func annotationsMessagesAndTestCasesNameTheLeakingTest() throws {
    let document = document([leaked(in: ("TillTests.opens", 3))])
    let words = "3 instances, 1.50 KiB retained"
    let advice = "Capture self weakly in the closure at ViewModel.swift:12."
    #expect(
      document.annotations()
        == "::error file=Sources/App/ViewModel.swift,line=12,title=Retain cycle%3A ViewModel ↺::\(words).%0ALeaked in test TillTests.opens.%0A\(advice)\n"
    )
    let message = try #require(try results(document).results[0]["message"] as? [String: String])
    #expect(
      message["text"] == "Retain cycle: ViewModel ↺. \(words).\nLeaked in test TillTests.opens.\n\(advice)")
    let junit = document.junit()
    #expect(
      junit.contains("<testcase name=\"Retain cycle: ViewModel ↺ in TillTests.opens (00112233445566aa)\""), "\(junit)")
    #expect(
      junit.contains("message=\"Retain cycle: ViewModel ↺: \(words). Leaked in test TillTests.opens.\">"), "\(junit)")
    #expect(document.codeQuality().contains("\(words). Leaked in test TillTests.opens. \(advice)\""))
  }

  @Test func testCaseNamesThreeTestsAlphabeticallyAndItsMessageNamesAll() {
    let tests = [("D.d", 5), ("B.b", 4), ("C.c", 3), ("A.a", 2)]
    let junit = document([leaked(in: tests[0], tests[1], tests[2], tests[3], instances: 20)]).junit()
    #expect(junit.contains("↺ in A.a, B.b, C.c and 1 more test (00112233445566aa)\""), "\(junit)")
    #expect(
      junit.contains("Leaked in 4 tests: D.d (5), B.b (4), C.c (3), A.a (2), in no known test (6).\">"), "\(junit)")
  }

  // MARK: Lines for editors

  /// What problem matchers of editors expect: path, line, column, severity, message.
  private static var diagnostic: Regex<(Substring, Substring, Substring, Substring, Substring, Substring)> {
    /^([^:]+):(\d+):(\d+): (error|warning|note): (.+)$/
  }

  @Test func editorsFindThePlacesOfOpenFindings() throws {
    let lines = document(mixed, gates: [failed, passed]).compilerLines().split(separator: "\n").map(String.init)
    let placed = try lines.compactMap { try Self.diagnostic.wholeMatch(in: $0)?.output }
    #expect(
      placed.filter { $0.4 != "note" }.map { "\($0.1):\($0.2) \($0.4)" } == [
        "Sources/App/ViewModel.swift:12 error", "Sources/App/Server.swift:20 error",
      ], "\(lines)")
    #expect(placed.first?.5.hasPrefix("Retain cycle: ViewModel ↺: 3 instances, 1.50 KiB retained.") == true)
    #expect(placed.first?.5.hasSuffix("[00112233445566aa]") == true)
    #expect(placed[1].4 == "note" && placed[1].1 == "Sources/App/main.swift" && placed[1].2 == "3")
    // The lost block was never accepted. Its place is unknown.
    #expect(
      lines.filter { try! Self.diagnostic.wholeMatch(in: $0) == nil }.map { $0.prefix(12) } == [
        "app: error: ", "app: error: ",
      ], "\(lines)")
    #expect(lines.last == "app: error: gate new-leaks failed: 1 new leak, none is let through")
  }

  @Test func suspicionsThatFailNoGateAreWarningsOfOneLine() throws {
    var finding = ExampleFindings.outlived()
    finding.path[0].type = "Odd\u{1B}[31m\nType"
    let lines = document([JudgedFinding(finding, .new)], unjudged: "app left\nno heap image").compilerLines()
      .split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first == "app: error: leaks cannot be judged: app left\\u{a}no heap image", "\(lines)")
    let severities = try lines.compactMap { try Self.diagnostic.wholeMatch(in: $0)?.output.4 }
    #expect(severities.first == "warning" && severities.dropFirst().allSatisfy { $0 == "note" })
    #expect(lines.allSatisfy { $0.isEmpty || $0.contains(": ") } && !lines.joined().contains("\u{1B}"))
    #expect(document([JudgedFinding(finding, .known(reason: "wanted"))]).compilerLines() == "")
  }

  // MARK: Code quality

  @Test func codeQualityHasAnIssueForEachUnsuppressedFinding() throws {
    let issues = try #require(
      try JSONSerialization.jsonObject(with: Data(document(mixed, gates: [failed]).codeQuality().utf8))
        as? [[String: Any]])
    #expect(issues.map { $0["severity"] as? String } == ["critical", "major", "info", "info", "info"])
    #expect(
      issues.map { $0["check_name"] as? String } == [
        "leaktrace/retainCycle", "leaktrace/outlived", "leaktrace/dangling", "leaktrace/lost", "leaktrace/lost",
      ])
    // GitLab shows only the first issue with a given fingerprint.
    #expect(
      issues.map { $0["fingerprint"] as? String } == [
        "00112233445566aa", "00112233445566aa-2", "00112233445566aa-3", "0000000000000b0b", "0000000000000b0b-2",
      ])
    let places = issues.map { issue in
      let location = issue["location"] as? [String: Any]
      return "\(location?["path"] ?? ""):\((location?["lines"] as? [String: Int])?["begin"] ?? 0)"
    }
    #expect(
      places == [
        "Sources/App/ViewModel.swift:12", "Sources/App/Server.swift:20", "Sources/App/Net.swift:15",
        ".build/debug/app:1", ".build/debug/app:1",
      ])
    #expect(
      issues[0]["description"] as? String
        == "Retain cycle: ViewModel ↺. 3 instances, 1.50 KiB retained. Capture self weakly in the closure at ViewModel.swift:12."
    )
    #expect(document([]).codeQuality() == "[]\n")
  }

  @Test func xmlEscapesInvalidCharacters() {
    #expect(
      JUnitXML.content("a<b>&\"]]>\t\n\r\u{0}\u{1F}\u{FFFE}é")
        == "a&lt;b&gt;&amp;\"]]&gt;\t\n&#13;\\u{0}\\u{1f}\\u{fffe}é")
    #expect(JUnitXML.attribute("\"a\"\t\r\n<") == "&quot;a&quot;&#9;&#13;&#10;&lt;")
  }

  // MARK: Annotations

  @Test func onlyFailuresAreAnnotated() {
    #expect(
      document(mixed, gates: [failed, passed]).annotations() == """
        ::error title=leaktrace%3A app::gate new-leaks failed: 1 new leak, none is let through
        ::error file=Sources/App/ViewModel.swift,line=12,title=Retain cycle%3A ViewModel ↺::3 instances, 1.50 KiB retained.%0ACapture self weakly in the closure at ViewModel.swift:12.
        ::error file=Sources/App/Server.swift,line=20,title=Outlived its scope%3A Session::3 instances, 1.50 KiB retained; worse: 2 → 3 instances.

        """)
    #expect(document(Array(mixed[2...]), gates: [passed]).annotations().isEmpty)
  }

  @Test func annotationsHaveNoControlCharacters() {
    let gate = GateOutcome(gate: "leaks", hasFailed: true, explanation: "of \u{1B}[31mapp\u{7}\u{9B}\tin\r\ntwo lines")
    let text = document([], gates: [gate]).annotations()
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || PlainText.isShown($0) })
    #expect(text.contains("\\u{1b}[31mapp\\u{7}\\u{9b}\tin%0D%0Atwo lines"))
  }

  @Test func annotationsWithoutAPlaceInTheTreeNameNoFile() {
    #expect(
      document([JudgedFinding(ExampleFindings.lost(), .new)]).annotations()
        == "::error title=Lost%3A Buffer::3 instances, 1.50 KiB retained.\n")
  }

  @Test func namesCannotInjectCommands() {
    #expect(WorkflowAnnotations.data("50 %, a:b\r\n::set-output::") == "50 %25, a:b%0D%0A::set-output::")
    #expect(WorkflowAnnotations.property("a,b:c%\n") == "a%2Cb%3Ac%25%0A")
    for seed in 0..<20 as Range<UInt64> {
      let judged = ExampleFindings.hostile(40, seed: seed)
      let lines = document(judged, gates: [GateOutcome(gate: "a\n::b", hasFailed: true, explanation: "\r::error::")])
        .annotations().split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count == judged.count(where: \.isFailing) + 2 && lines.last == "")
      for line in lines.dropLast() {
        let rest = line.dropFirst("::error ".count)
        #expect(line.hasPrefix("::error ") && !line.unicodeScalars.contains("\r"))
        let properties = rest.prefix(while: { $0 != ":" }).split(separator: ",").map { $0.prefix { $0 != "=" } }
        #expect(properties == ["title"] || properties == ["file", "line", "title"], "\(line)")
      }
    }
  }

  @Test func annotatedLinesExist() throws {
    for seed in 0..<20 as Range<UInt64> {
      for line in document(ExampleFindings.hostile(40, seed: seed)).annotations().split(separator: "\n") {
        guard let match = line.firstMatch(of: /^::error file=([^,]*),line=([0-9]+),/) else { continue }
        let path = match.1.replacing("%3A", with: ":").replacing("%2C", with: ",").replacing("%25", with: "%")
        let lines = try #require(TableSources.example.files["/src/\(path)"], "\(line)")
        #expect((1...lines).contains(try #require(Int(match.2))))
      }
    }
  }

  // MARK: Markdown

  @Test func markdownShowsFailuresAndFoldsTheRest() {
    let text = document(mixed, gates: [failed, passed], remarks: ["threads were not stopped"]).markdown()
    #expect(
      text.hasPrefix(
        """
        ### leaktrace: 1 new and 1 worse leaks in <code>app</code>

        - ❌ gate <code>new-leaks</code> failed: 1 new leak, none is let through
        - ✅ gate <code>retains&#58;10%</code> passed

        | | finding | instances | retained | where |
        | --- | --- | ---: | ---: | --- |
        | new | Retain cycle: <code>ViewModel ↺</code> | 3 | 1.50 KiB | <code>Sources/App/ViewModel.swift&#58;12</code> |
        | worse | Outlived its scope: <code>Session</code> | 3 | 1.50 KiB | <code>Sources/App/Server.swift&#58;20</code> |

        <details><summary>Retain cycle: <code>ViewModel ↺</code></summary>

        <pre>
        RETAIN CYCLE  ViewModel ↺
        """))
    #expect(
      text.contains("<details><summary>Outlived its scope: <code>Session</code> · worse&#58; 2 → 3 instances</summary>")
    )
    #expect(
      text.hasSuffix(
        """
        <details><summary>4 findings that do not fail a gate</summary>

        - Used after its end: <code>Connection</code>, 3 instances: known&#58; fixed in 2.0
        - Lost: <code>Buffer</code>, 3 instances, 1.50 KiB retained: known
        - Lost: <code>Buffer</code>, 3 instances, 1.50 KiB retained: hidden by the suppression Buffer
        - Lost: <code>Buffer</code>, 3 instances, 1.50 KiB retained: not the program's&#58; made by libfoo.so

        </details>

        > threads were not stopped


        """))
    #expect(document([]).markdown() == "### leaktrace: no leaks in <code>app</code>\n\n")
    #expect(document(Array(mixed[2...])).markdown().hasPrefix("### leaktrace: no new leaks in <code>app</code>\n"))
  }

  @Test func namesAreInertInMarkdown() {
    #expect(
      MarkdownText.code("A<B>|`x`*_[y](z)#1 @me")
        == "<code>A&#60;B&#62;&#124;&#96;x&#96;&#42;&#95;&#91;y&#93;(z)&#35;1 &#64;me</code>")
    #expect(MarkdownText.escaped("a\nb") == "a&#92;u&#123;a&#125;b")
    #expect(MarkdownText.preformatted("</pre> & <b>") == "<pre>\n&lt;/pre&gt; &amp; &lt;b&gt;\n</pre>")
    for seed in 0..<20 as Range<UInt64> {
      let text = document(ExampleFindings.hostile(20, seed: seed), remarks: ["<script>"]).markdown()
      let tags = Set(text.matches(of: /<\/?[A-Za-z!][^>]*>/).map { String($0.0) })
      #expect(
        tags.isSubset(of: [
          "<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>", "<pre>", "</pre>",
        ]), "\(tags)")
      for row in text.split(separator: "\n") where row.hasPrefix("| ") {
        #expect(row.count { $0 == "|" } == 6, "\(row)")
      }
    }
  }

  @Test func commentFitsTheSizeLimit() {
    let judged = (0..<3000).map {
      JudgedFinding(
        ExampleFindings.cycle("Model\($0)<" + String(repeating: "Int, ", count: 40) + ">"),
        $0 % 2 == 0 ? .new : .known(reason: "x"))
    }
    let text = document(judged).markdown()
    #expect(
      text.count < 65_536 && text.contains("| … 1450 more |") && text.contains("more that do not fit here.")
        && text.contains("- … "))
  }
}
