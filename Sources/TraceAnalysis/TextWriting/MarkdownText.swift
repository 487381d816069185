// Text in GitHub's Markdown. Names are escaped, so that they are displayed unchanged.

/// Collects the parts of a comment, and stops before it is too long to be posted.
package struct MarkdownText {
  /// The limit in UTF-8 bytes. A comment on a pull request may have 65,536 characters.
  static let limit = 60_000

  package private(set) var text = ""

  package init() {}

  package mutating func line(_ line: String = "") { text += line + "\n" }

  /// Adds a line if there is room for it. Otherwise returns false and changes nothing.
  package mutating func line(ifRoom line: String) -> Bool {
    guard text.utf8.count + line.utf8.count < Self.limit else { return false }
    text += line + "\n"
    return true
  }

  /// Escapes a text for a paragraph or the cell of a table, so that no character has a meaning in Markdown or HTML.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in PlainText.escaped(text).unicodeScalars {
      switch scalar {
      case "&", "<", ">", "\"", "`", "*", "_", "[", "]", "|", "~", "\\", "#", "!", "$", "@", ":", "{", "}":
        result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Returns a name in a code element. There, GitHub recognises no mentions, references to issues, or mathematics.
  package static func code(_ text: String) -> String { "<code>\(escaped(text))</code>" }

  /// Returns lines in an HTML element that shows them unchanged. They are escaped, so they cannot end the element.
  package static func preformatted(_ text: String) -> String {
    "<pre>\n\(text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;"))\n</pre>"
  }

  package static func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
}
