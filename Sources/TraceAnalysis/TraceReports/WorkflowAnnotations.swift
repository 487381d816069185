// Findings as workflow commands of GitHub Actions, which shows them at their lines.

import RunDiff
import TraceReading

/// Renders what makes a gate fail as commands for the log, one a line: gates first, since only the first few of a step
/// are shown. Only formats.
struct WorkflowAnnotations {
  let document: FindingDocument

  var text: String {
    var lines: [String] = []
    for gate in document.gates where gate.hasFailed {
      lines.append(Self.error([("title", "leaktrace: \(document.programName)")], DiffWords.gate(gate)))
    }
    // Without gates nothing else would say so.
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

  /// A command's message: it ends with the line. Other control characters, which the log would obey, are written out.
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

  /// The value of a property: it ends with a comma or a colon.
  static func property(_ text: String) -> String {
    replaced(data(text)) { scalar in
      switch scalar {
      case ":": "%3A"
      case ",": "%2C"
      default: nil
      }
    }
  }

  /// By scalars: a line break made of two is one character.
  private static func replaced(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let other = replacement(scalar) { result += other } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }
}
