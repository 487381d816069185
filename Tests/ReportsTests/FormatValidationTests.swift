import Foundation
import Testing

@testable import LeakDetection
@testable import LeakGates
@testable import TraceReports

/// Compares documents of invented findings with the official schemas.
@Suite(.serialized) struct FormatValidationTests {
  /// Runs scripts/validate-formats on documents, which are given by file name.
  private func validate(_ documents: [(name: String, text: String)]) throws -> (status: Int32, output: String) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("formats-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for document in documents { try Data(document.text.utf8).write(to: folder.appendingPathComponent(document.name)) }
    let process = Process()
    process.executableURL = URL(
      fileURLWithPath: #filePath.components(separatedBy: "/Tests/")[0] + "/scripts/validate-formats")
    process.arguments = documents.map { folder.appendingPathComponent($0.name).path }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }

  private func document(
    _ judged: [JudgedFinding], gates: [GateOutcome] = [], program: String = "/src/.build/debug/app",
    unjudged: String? = nil
  ) -> FindingDocument {
    FindingDocument(
      program: program, judged: judged, gates: gates, source: .example, toolVersion: "1.2.3",
      remarks: ["threads were not stopped"], unjudged: unjudged)
  }

  @Test func documentsAreValidWithHostileNames() throws {
    var documents: [(name: String, text: String)] = []
    func add(_ name: String, _ document: FindingDocument) {
      documents += [
        ("\(name).sarif", document.sarif()), ("\(name).xml", document.junit()),
        ("\(name).codequality.json", document.codeQuality()),
      ]
    }
    add("empty", document([]))
    add(
      "nameless",
      FindingDocument(
        program: "", judged: [], gates: [], source: SourceTree(root: "/nowhere", access: TableSources.example),
        toolVersion: "", remarks: []))
    for seed in 0..<6 as Range<UInt64> {
      let hostile = "\u{1}<\"%&|]]>\u{FFFF}\n/a{0}[b](c)"
      add(
        "hostile-\(seed)",
        document(
          ExampleFindings.hostile(60, seed: seed),
          gates: [GateOutcome(gate: hostile, hasFailed: seed % 2 == 0, explanation: hostile)],
          program: seed == 0 ? "/opt/\(hostile)" : "/src/.build/debug/app"))
    }
    var inTest = ExampleFindings.cycle()
    inTest.origins.tests = [Finding.TestShare(name: "\u{1}<\"%&|]]>\u{FFFF}\n/a{0}[b](c)", instances: 2)]
    add("test", document([JudgedFinding(inTest, .new)]))
    let failed = GateOutcome(gate: "leaks", hasFailed: true, explanation: "")
    add("gate", document([], gates: [failed]))
    add("unjudged", document([], gates: [failed], unjudged: "\u{1}<\"%&|]]>\u{FFFF}\n"))
    let result = try validate(documents)
    #expect(
      result.status == 0 && result.output.hasSuffix("\(documents.count) files, 0 problems\n"),
      "\(result.output.prefix(2000))")
  }

  /// Tests the check itself: it must reject invalid documents.
  @Test func invalidDocumentsAreRejected() throws {
    let document = document([JudgedFinding(ExampleFindings.cycle(), .new)])
    let (sarif, junit, quality) = (document.sarif(), document.junit(), document.codeQuality())
    let issue = quality.dropFirst().prefix(upTo: quality.lastIndex(of: "]")!)
    let damaged = [
      ("level.sarif", sarif.replacing("\"level\": \"error\"", with: "\"level\": \"fatal\"")),
      ("line.sarif", sarif.replacing("\"startLine\": 12", with: "\"startLine\": 0")),
      ("uri.sarif", sarif.replacing("Sources/App/ViewModel.swift", with: "Sources/App/View Model.swift")),
      ("field.sarif", sarif.replacing("\"ruleId\"", with: "\"rule_id\"")),
      ("rule.sarif", sarif.replacing("\"ruleIndex\": 0", with: "\"ruleIndex\": 1")),
      ("base.sarif", sarif.replacing("\"SRCROOT\": {", with: "\"OTHER\": {")),
      ("broken.sarif", String(sarif.dropLast(10))),
      ("attribute.xml", junit.replacing("classname=", with: "class=")),
      ("count.xml", junit.replacing("tests=\"1\"", with: "tests=\"2\"")),
      ("escape.xml", junit.replacing("&gt;", with: "&").replacing("<failure", with: "<failure x=\"<\"")),
      ("control.xml", junit.replacing("ViewModel", with: "\u{1}")),
      ("severity.codequality.json", quality.replacing("critical", with: "fatal")),
      ("line.codequality.json", quality.replacing("\"begin\": 12", with: "\"begin\": 0")),
      ("path.codequality.json", quality.replacing("Sources/App/ViewModel.swift", with: "/Sources/App/ViewModel.swift")),
      ("field.codequality.json", quality.replacing("\"fingerprint\"", with: "\"print\"")),
      ("text.codequality.json", quality.replacing("Retain cycle: ", with: "Retain\\ncycle: ")),
      ("twice.codequality.json", "[\(issue), \(issue)]"),
      ("broken.codequality.json", String(quality.dropLast(10))),
      ("nesting.xml", junit.replacing("<testsuite ", with: "<testcase name=\"x\"><testsuite ")),
    ]
    let originals = [sarif, junit, quality]
    let result = try validate(damaged)
    #expect(result.status == 1)
    for (name, text) in damaged {
      #expect(!originals.contains(text) && result.output.contains("/\(name): "), "\(name)")
    }
  }
}
