// Findings as GitLab's code quality report. Merge requests show each finding at its line.

import LeakDetection
import LeakGates
import TextWriting
import TraceReading
import Wording

/// Renders findings as a JSON array of issues. Leaves out findings that a suppression hides. Formats only; makes no
/// decisions.
///
/// Known findings are listed too, because GitLab compares the fingerprints of two branches.
struct CodeQualityReport {
  let document: FindingDocument

  var text: String {
    var counts: [String: Int] = [:]
    let issues = document.entries.filter { !$0.judged.isHidden }.map { entry in
      let count = counts[entry.finding.fingerprint, default: 0] + 1
      counts[entry.finding.fingerprint] = count
      // GitLab shows only the first issue with a given fingerprint.
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

  /// Returns the severity. A finding that makes a gate fail is at least major.
  private static func severity(_ judged: JudgedFinding) -> String {
    if judged.isFailing { return judged.finding.certainty == .proven ? "critical" : "major" }
    return judged.isUnaccepted ? "minor" : "info"
  }

  /// Returns a line in the source tree. GitLab refuses issues without a location, so a finding without a line gets the
  /// first line of the program's file.
  private func location(_ entry: FindingDocument.Entry) -> JSONValue {
    let path = entry.place?.path ?? document.programPathInTree.map(PlainText.escaped) ?? document.programName
    return .object([
      ("path", .string(path)), ("lines", .object([("begin", .integer(Int64(entry.place?.line ?? 1)))])),
    ])
  }
}

extension JudgedFinding {
  /// True if a suppression hides the finding.
  fileprivate var isHidden: Bool { if case .hidden = standing { true } else { false } }
}
