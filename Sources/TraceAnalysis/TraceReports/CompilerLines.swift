// Findings as a compiler prints its diagnostics. Editors jump to such lines.

import LeakDetection
import LeakGates
import RunDiff
import TextWriting

/// Renders findings as lines of the form `path:line:column: severity: message`. The notes of a finding follow its line.
///
/// Editors know this form of GCC and the Swift compiler. The column is 1, since debug information of frames is not
/// exact enough for a better one, and some editors require a column. Formats only; makes no decisions.
struct CompilerLines {
  let document: FindingDocument

  var text: String {
    var lines: [String] = []
    if let obstacle = document.obstacle { lines.append(unplaced("error", obstacle)) }
    for entry in document.entries where isOpen(entry.judged) {
      let severity = entry.judged.isFailing || entry.finding.certainty == .proven ? "error" : "warning"
      let message =
        "\(FindingDocument.headline(entry.finding)): \(FindingDocument.summary(entry.judged, separator: " ")) [\(entry.finding.fingerprint)]"
      lines.append(entry.place.map { placed($0, severity, message) } ?? unplaced(severity, message))
      for note in entry.related { lines.append(placed(note.place, "note", note.text)) }
    }
    for gate in document.gates where gate.hasFailed { lines.append(unplaced("error", DiffWords.gate(gate))) }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Returns whether a finding needs attention. Accepted findings need none. Hidden findings and findings of libraries
  /// need it only if a gate fails because of them.
  private func isOpen(_ judged: JudgedFinding) -> Bool {
    switch judged.standing {
    case .new, .worse: true
    case .known(let reason): reason.isEmpty
    case .hidden, .library: judged.isFailing
    }
  }

  private func placed(_ place: SourcePlace, _ severity: String, _ message: String) -> String {
    "\(PlainText.escaped(place.path)):\(place.line):1: \(severity): \(Self.line(message))"
  }

  private func unplaced(_ severity: String, _ message: String) -> String {
    "\(document.programName): \(severity): \(Self.line(message))"
  }

  /// Returns a message on one line, without control characters.
  private static func line(_ message: String) -> String {
    PlainText.escaped(message.replacing("\n", with: " "))
  }
}
