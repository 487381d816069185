// The outcomes of gates, as text and as JSON.

import LeakGates
import TextWriting
import TraceReading

/// Renders the outcome of the gates, at the end of a report. Formats only; makes no decisions.
package enum GateText {
  /// Returns the text; empty if there are no gates and no gone findings.
  package static func text(_ report: GateReport, style: TextStyle) -> String {
    var lines = TextLines(style: style)
    if !report.gone.isEmpty {
      let path = report.baselinePath.map { " in \(PlainText.escaped($0))" } ?? ""
      lines.line("Accepted\(path), but gone (--update-baseline removes them):", emphasized: 1)
      for entry in report.gone {
        lines.line("\(entry.fingerprint) \(entry.verdict) \(PlainText.escaped(entry.subject))", indent: 2)
      }
      lines.blank()
    }
    if !report.outcomes.isEmpty {
      let failed = report.outcomes.count(where: \.hasFailed)
      lines.line(failed == 0 ? "Gates: passed" : "Gates: \(failed) of \(report.outcomes.count) failed", emphasized: 2)
      for outcome in report.outcomes {
        lines.line(
          "\(outcome.hasFailed ? "FAILED" : "passed")  \(PlainText.escaped(outcome.gate)): \(PlainText.escaped(outcome.explanation))",
          indent: 2)
      }
      lines.blank()
    }
    return lines.text
  }

  static func fields(_ report: GateReport) -> [(String, JSONValue)] {
    [
      (
        "gates",
        .array(
          report.outcomes.map {
            .object([
              ("gate", .string($0.gate)), ("hasFailed", .bool($0.hasFailed)), ("explanation", .string($0.explanation)),
            ])
          })
      ),
      ("baseline", .optional(report.baselinePath)),
      (
        "gone",
        .array(
          report.gone.map {
            .object([
              ("fingerprint", .string($0.fingerprint)), ("instances", .integer(Int64($0.instances))),
              ("verdict", .string($0.verdict)),
              ("subject", .string($0.subject)), ("reason", .string($0.reason)),
            ])
          })
      ),
    ]
  }
}

/// Renders only the leaks of one process. Formats only; makes no decisions.
package enum LeakText {
  package static func text(_ leaks: LeakReport, style: TextStyle) -> String {
    var lines = TextLines(style: style)
    FindingText(style: style, stacks: leaks.stacks).write(leaks, to: &lines)
    return lines.text
  }
}
