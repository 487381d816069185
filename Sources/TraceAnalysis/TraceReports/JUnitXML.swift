// Findings as JUnit XML, which CI systems show as tests.

import LeakDetection
import RunDiff
import TextWriting
import TraceReading
import Wording

/// Renders findings as a test suite. Findings that make a gate fail are failed tests. The other findings are skipped
/// tests. Gates are properties of the suite, not tests.
struct JUnitXML {
  private enum Outcome {
    case passed
    case skipped(message: String)
    case failed(type: String, message: String, text: String)
    case broken(message: String)
  }

  private struct Test {
    var className: String
    var name: String
    var outcome: Outcome
  }

  let document: FindingDocument

  var text: String {
    let tests = self.tests
    let failures = tests.count { if case .failed = $0.outcome { true } else { false } }
    let skipped = tests.count { if case .skipped = $0.outcome { true } else { false } }
    let errors = tests.count { if case .broken = $0.outcome { true } else { false } }
    let counts = "tests=\"\(tests.count)\" failures=\"\(failures)\" errors=\"\(errors)\""
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites name=\"leaktrace\" \(counts) time=\"0\">"]
    lines.append(
      "  <testsuite name=\"\(Self.attribute("leaktrace \(document.programName)"))\" \(counts) skipped=\"\(skipped)\" time=\"0\">"
    )
    if !document.gates.isEmpty {
      lines.append("    <properties>")
      for gate in document.gates {
        let value = "\(gate.hasFailed ? "failed" : "passed")\(gate.explanation.isEmpty ? "" : ": \(gate.explanation)")"
        lines.append(
          "      <property name=\"\(Self.attribute("gate \(gate.gate)"))\" value=\"\(Self.attribute(value))\"/>")
      }
      lines.append("    </properties>")
    }
    for test in tests { Self.write(test, to: &lines) }
    if !document.remarks.isEmpty {
      lines.append("    <system-out>\(Self.content(document.remarks.joined(separator: "\n")))</system-out>")
    }
    lines += ["  </testsuite>", "</testsuites>"]
    return lines.joined(separator: "\n") + "\n"
  }

  private var tests: [Test] {
    let program = document.programName
    var tests = document.entries.map { entry in
      Test(
        className: "leaktrace.\(program).\(entry.finding.verdict.rawValue)",
        name: Self.name(entry.finding), outcome: outcome(entry))
    }
    if let test = wholeRun { tests.append(test) }
    return tests
  }

  /// Returns the title, the tests that leaked, and the fingerprint. The name must be stable, because CI systems compare
  /// names between runs.
  private static func name(_ finding: Finding) -> String {
    let parts = [FindingDocument.headline(finding), TestWords.place(finding), "(\(finding.fingerprint))"]
    return parts.compactMap(\.self).joined(separator: " ")
  }

  /// A test for the run as a whole, if no finding represents the run's result. Without this test, a failed run could
  /// look like *no leaks*.
  private var wholeRun: Test? {
    let className = "leaktrace.\(document.programName)"
    if let obstacle = document.obstacle {
      return Test(className: className, name: "no leaks", outcome: .broken(message: obstacle))
    }
    let failed = document.gates.filter(\.hasFailed)
    if !failed.isEmpty, !document.entries.contains(where: \.judged.isFailing) {
      let sentences = failed.map(DiffWords.gate)
      return Test(
        className: className, name: "judgement",
        outcome: .failed(type: "gate", message: sentences[0], text: sentences.joined(separator: "\n")))
    }
    return document.entries.isEmpty ? Test(className: className, name: "no leaks", outcome: .passed) : nil
  }

  private func outcome(_ entry: FindingDocument.Entry) -> Outcome {
    guard entry.judged.isFailing else { return .skipped(message: FindingDocument.standing(entry.judged) ?? "") }
    let place = entry.place.map { "at \(PlainText.escaped($0.path)):\($0.line)\n" } ?? ""
    let standing = FindingDocument.standing(entry.judged).map { "; \($0)" } ?? ""
    let tests = TestWords.sentence(entry.finding).map { ". \($0)" } ?? ""
    return .failed(
      type: entry.finding.verdict.rawValue,
      message:
        "\(FindingDocument.headline(entry.finding)): \(FindingTitle.extent(entry.finding))\(standing)\(tests)",
      text: "\n\(place)\(FindingDocument.body(entry.finding))\n")
  }

  // MARK: XML

  private static func write(_ test: Test, to lines: inout [String]) {
    let head = "    <testcase name=\"\(attribute(test.name))\" classname=\"\(attribute(test.className))\" time=\"0\""
    switch test.outcome {
    case .passed: lines.append("\(head)/>")
    case .skipped(let message):
      lines += ["\(head)>", "      <skipped message=\"\(attribute(message))\"/>", "    </testcase>"]
    case .broken(let message):
      lines += ["\(head)>", "      <error message=\"\(attribute(message))\"/>", "    </testcase>"]
    case .failed(let type, let message, let text):
      lines += [
        "\(head)>",
        "      <failure type=\"\(attribute(type))\" message=\"\(attribute(message))\">\(content(text))</failure>",
        "    </testcase>",
      ]
    }
  }

  /// Escapes the value of an attribute. Line breaks and tabs are encoded, because XML parsers turn them into spaces.
  static func attribute(_ text: String) -> String {
    content(text).replacing("\t", with: "&#9;").replacing("\n", with: "&#10;").replacing("\"", with: "&quot;")
  }

  /// Escapes text between tags. Characters that XML cannot contain become `\u{…}`.
  static func content(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\r": result += "&#13;"
      case "\t", "\n": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
