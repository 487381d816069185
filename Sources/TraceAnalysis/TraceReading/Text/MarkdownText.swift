// GitHub's Markdown. Names are escaped, so that they appear unchanged.

/// Collects the parts of a comment, and stops before it is too long to be posted.
package struct MarkdownText {
  /// In UTF-8 bytes. A comment on a pull request has room for 65,536 characters.
  static let limit = 60_000

  package private(set) var text = ""

  package init() {}

  package mutating func line(_ line: String = "") { text += line + "\n" }

  /// False, and nothing changed, if there is no room for it.
  package mutating func line(ifRoom line: String) -> Bool {
    guard text.utf8.count + line.utf8.count < Self.limit else { return false }
    text += line + "\n"
    return true
  }

  /// Text of a paragraph or a table's cell without any meaning in Markdown or HTML.
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

  /// A name. In code nothing is taken for a mention, a reference to an issue, or mathematics.
  package static func code(_ text: String) -> String { "<code>\(escaped(text))</code>" }

  /// Lines as they are, in HTML; nothing in them ends the element.
  package static func preformatted(_ text: String) -> String {
    "<pre>\n\(text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;"))\n</pre>"
  }

  package static func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
}
