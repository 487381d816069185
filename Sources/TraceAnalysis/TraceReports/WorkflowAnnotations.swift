// Findings as workflow commands of GitHub Actions. GitHub shows each finding at its line.

import RunDiff
import TextWriting
import TraceReading

/// Renders failed gates and the findings that make them fail as commands for the log, one per line. Gates come first,
/// because GitHub shows only the first few commands of a step. Formats only; makes no decisions.
struct WorkflowAnnotations {
  let document: FindingDocument

  var text: String {
    var lines: [String] = []
    for gate in document.gates where gate.hasFailed {
      lines.append(Self.error([("title", "leaktrace: \(document.programName)")], DiffWords.gate(gate)))
    }
    // Without a failed gate, no other command reports the obstacle.
    if lines.isEmpty, let obstacle = document.obstacle {
      lines.append(Self.error([("title", "leaktrace: \(document.programName)")], obstacle))
    }
    for entry in document.entries where entry.judged.isFailing {
      var properties: [(String, String)] = []
      if let place = entry.place { properties += [("file", place.path), ("line", String(place.line))] }
      properties.append(("title", FindingDocument.headline(entry.finding)))
      lines.append(Self.error(properties, FindingDocument.summary(entry.judged)))
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func error(_ properties: [(String, String)], _ message: String) -> String {
    "::error \(properties.map { "\($0)=\(property($1))" }.joined(separator: ","))::\(data(message))"
  }

  /// Escapes a command's message. The message ends with the line, so line breaks are encoded. Other control characters
  /// become visible escapes, because they could control a terminal that shows the log.
  static func data(_ text: String) -> String {
    replaced(text) { scalar in
      switch scalar {
      case "%": "%25"
      case "\r": "%0D"
      case "\n": "%0A"
      case "\t": nil
      default: PlainText.isShown(scalar) ? nil : PlainText.escaped(String(scalar))
      }
    }
  }

  /// Escapes the value of a property, which would end at a comma or a colon.
  static func property(_ text: String) -> String {
    replaced(data(text)) { scalar in
      switch scalar {
      case ":": "%3A"
      case ",": "%2C"
      default: nil
      }
    }
  }

  /// Replaces Unicode scalars, not characters, because CR LF is a single character.
  private static func replaced(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let other = replacement(scalar) { result += other } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }
}
