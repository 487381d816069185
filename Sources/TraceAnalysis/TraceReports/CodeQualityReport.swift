// Findings as GitLab's code quality report, which merge requests show at their lines.

import LeakDetection
import LeakGates
import TraceReading
import Wording

/// Renders findings as a JSON array of issues. Findings that a suppression hides are left out. Only formats.
///
/// GitLab compares the fingerprints of two branches, so known findings are listed as well.
struct CodeQualityReport {
  let document: FindingDocument

  var text: String {
    var counts: [String: Int] = [:]
    let issues = document.entries.filter { !$0.judged.isHidden }.map { entry in
      let count = counts[entry.finding.fingerprint, default: 0] + 1
      counts[entry.finding.fingerprint] = count
      // GitLab shows only the first issue of a fingerprint.
      return issue(entry, fingerprint: entry.finding.fingerprint + (count > 1 ? "-\(count)" : ""))
    }
    return JSONValue.array(issues).text + "\n"
  }

  private func issue(_ entry: FindingDocument.Entry, fingerprint: String) -> JSONValue {
    .object([
      ("type", .string("issue")),
      ("check_name", .string("leaktrace/\(entry.finding.verdict.rawValue)")),
      (
        "description",
        .string(
          "\(FindingDocument.headline(entry.finding)). \(FindingDocument.summary(entry.judged, separator: " "))")
      ),
      ("categories", .array([.string("Bug Risk")])),
      ("severity", .string(Self.severity(entry.judged))),
      ("fingerprint", .string(fingerprint)),
      ("location", location(entry)),
    ])
  }

  /// A finding that makes a gate fail is major or worse.
  private static func severity(_ judged: JudgedFinding) -> String {
    if judged.isFailing { return judged.finding.certainty == .proven ? "critical" : "major" }
    return judged.isUnaccepted ? "minor" : "info"
  }

  /// A line of the tree. GitLab refuses issues without one, so other findings are at the program's first line.
  private func location(_ entry: FindingDocument.Entry) -> JSONValue {
    let path = entry.place?.path ?? document.programPathInTree.map(PlainText.escaped) ?? document.programName
    return .object([
      ("path", .string(path)), ("lines", .object([("begin", .integer(Int64(entry.place?.line ?? 1)))])),
    ])
  }
}

extension JudgedFinding {
  /// A suppression's pattern hides it.
  fileprivate var isHidden: Bool { if case .hidden = standing { true } else { false } }
}
