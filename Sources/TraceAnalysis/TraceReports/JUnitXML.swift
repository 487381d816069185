// Findings as JUnit XML, which CI systems show as tests.

import RunDiff
import TraceReading
import Wording

/// Renders findings as a suite of tests: those that make a gate fail have failed, the others were skipped. Only
/// formats.
struct JUnitXML {
  private enum Outcome {
    case passed
    case skipped(message: String)
    case failed(type: String, message: String, text: String)
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
    let counts = "tests=\"\(tests.count)\" failures=\"\(failures)\" errors=\"0\""
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites name=\"leaktrace\" \(counts) time=\"0\">"]
    lines.append(
      "  <testsuite name=\"\(Self.attribute("leaktrace \(document.programName)"))\" \(counts) skipped=\"\(skipped)\" time=\"0\">"
    )
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
        name: "\(FindingDocument.headline(entry.finding)) (\(entry.finding.fingerprint))",
        outcome: outcome(entry))
    }
    if tests.isEmpty { tests.append(Test(className: "leaktrace.\(program)", name: "no leaks", outcome: .passed)) }
    for gate in document.gates {
      let outcome: Outcome =
        gate.hasFailed ? .failed(type: "gate", message: gate.explanation, text: DiffWords.gate(gate)) : .passed
      tests.append(Test(className: "leaktrace.\(program).gates", name: "gate \(gate.gate)", outcome: outcome))
    }
    return tests
  }

  private func outcome(_ entry: FindingDocument.Entry) -> Outcome {
    guard entry.judged.isFailing else { return .skipped(message: FindingDocument.standing(entry.judged) ?? "") }
    let place = entry.place.map { "at \(PlainText.escaped($0.path)):\($0.line)\n" } ?? ""
    let message = "\(FindingDocument.headline(entry.finding)): \(FindingTitle.extent(entry.finding))"
    return .failed(
      type: entry.finding.verdict.rawValue,
      message: FindingDocument.standing(entry.judged).map { "\(message); \($0)" } ?? message,
      text: "\n\(place)\(FindingDocument.body(entry.finding))\n")
  }

  // MARK: XML

  private static func write(_ test: Test, to lines: inout [String]) {
    let head = "    <testcase name=\"\(attribute(test.name))\" classname=\"\(attribute(test.className))\" time=\"0\""
    switch test.outcome {
    case .passed: lines.append("\(head)/>")
    case .skipped(let message):
      lines += ["\(head)>", "      <skipped message=\"\(attribute(message))\"/>", "    </testcase>"]
    case .failed(let type, let message, let text):
      lines += [
        "\(head)>",
        "      <failure type=\"\(attribute(type))\" message=\"\(attribute(message))\">\(content(text))</failure>",
        "    </testcase>",
      ]
    }
  }

  /// The value of an attribute, which keeps its line breaks and tabs.
  static func attribute(_ text: String) -> String {
    content(text).replacing("\t", with: "&#9;").replacing("\n", with: "&#10;").replacing("\"", with: "&quot;")
  }

  /// Text between tags. Characters that XML cannot contain become `\u{…}`.
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
