// The lines of a text report: widths, wrapping, and emphasis.

/// The layout of a text report.
package struct TextStyle: Hashable, Sendable {
  package enum Emphasis: Hashable, Sendable { case none, terminal }
  package enum Stacks: Hashable, Sendable {
    /// Stacks show the program's frames. Frames of libraries and the runtime are folded.
    case folded
    case full
  }

  package enum Paths: Hashable, Sendable {
    /// Paths show the program's objects. Library objects between them are folded.
    case folded
    case full
  }

  /// The width in columns, at least 40.
  package var width: Int

  /// The largest indent of a path's steps, in columns. Deeper steps are not indented further, so that names have room.
  package var deepestIndent: Int { width * 3 / 10 }

  package var emphasis: Emphasis
  package var stacks: Stacks
  package var paths: Paths

  package init(width: Int = 80, emphasis: Emphasis = .none, stacks: Stacks = .folded, paths: Paths = .folded) {
    self.width = max(40, width)
    self.emphasis = emphasis
    self.stacks = stacks
    self.paths = paths
  }
}

/// The colour of a few words that state how certain a finding is, or that begin its fix.
///
/// The colours are bold variants of three of the eight standard colours. They are readable on light and on dark
/// backgrounds; yellow and cyan are not. The words have the same meaning without colour.
package enum Tint: Hashable, Sendable {
  case proven, suspected, fix

  /// The parameters of the terminal's escape sequence for the colour.
  fileprivate var code: String {
    switch self {
    case .proven: "1;31"
    case .suspected: "1;35"
    case .fix: "1;32"
    }
  }
}

/// The beginning of an emphasized part that is shown in a colour.
package struct TintedStart: Hashable, Sendable {
  fileprivate let columns: Int
  fileprivate let tint: Tint

  package init(_ words: String, _ tint: Tint) { (columns, self.tint) = (words.count, tint) }
}

/// Words of a sentence with the same look.
package struct Phrase: Hashable, Sendable {
  package enum Look: Hashable, Sendable { case plain, bold, tinted(Tint) }

  /// The words, without the spaces around them. A comma at the end is not coloured.
  package let words: String
  package let look: Look

  package init(_ words: String, _ look: Look = .plain) { (self.words, self.look) = (words, look) }
}

extension [Phrase] {
  /// The words of all phrases, without their looks.
  package var sentence: String { map(\.words).joined(separator: " ") }
}

/// Collects lines of at most the style's width. Nothing is cut off: text that is too long continues in the next line,
/// with a larger indent.
package struct TextLines {
  package let style: TextStyle
  package private(set) var text = ""

  package init(style: TextStyle) { self.style = style }

  package mutating func blank() { text += "\n" }

  /// Adds a line of words, wrapped at spaces. `emphasized`: the number of first words that are bold, in the colour of
  /// `tint` if it is given.
  package mutating func line(_ words: String, indent: Int = 0, emphasized: Int = 0, tint: Tint? = nil) {
    wrap(
      words.split(separator: " ", omittingEmptySubsequences: false).enumerated().map { index, word in
        (word, index >= emphasized ? .plain : tint.map { .tinted($0) } ?? .bold)
      }, indent: indent)
  }

  /// Adds a line of phrases with spaces between them, wrapped at spaces.
  package mutating func line(_ phrases: [Phrase], indent: Int = 0) {
    wrap(
      phrases.flatMap { phrase in
        phrase.words.split(separator: " ", omittingEmptySubsequences: false).map { ($0, phrase.look) }
      }, indent: indent)
  }

  /// Adds a line unchanged if it fits, so that its columns stay aligned. Otherwise wraps the line.
  package mutating func row(_ content: String, indent: Int = 0, isDimmed: Bool = false) {
    if indent + content.count <= style.width {
      text += String(repeating: " ", count: indent) + dim(content, isDimmed) + "\n"
    } else {
      line(content, indent: indent)
    }
  }

  /// Adds two parts with two spaces between them. If they do not fit on one line, the second part gets its own line.
  package mutating func pair(
    _ first: String, _ second: String?, indent: Int, continuation: Int, emphasized: Bool = false,
    start: TintedStart? = nil,
    isDimmed: Bool = false
  ) {
    guard let second, !second.isEmpty else {
      piece(first, indent: indent, continuation: continuation, emphasized, start, isDimmed: isDimmed)
      return
    }
    if indent + first.count + 2 + second.count <= style.width {
      text +=
        String(repeating: " ", count: indent) + dim(emphasize(first, emphasized, start) + "  " + second, isDimmed)
        + "\n"
    } else {
      piece(first, indent: indent, continuation: continuation, emphasized, start, isDimmed: isDimmed)
      piece(second, indent: continuation, continuation: continuation, false, nil, isDimmed: isDimmed)
    }
  }

  /// Adds two parts at the two ends of a line. If they do not fit on one line, the second part gets its own line with a
  /// larger indent.
  package mutating func spread(
    _ first: String, _ second: String, indent: Int, emphasized: Bool = false, start: TintedStart? = nil,
    isDimmed: Bool = false
  ) {
    let used = indent + first.count + second.count
    guard !second.isEmpty, used + 2 <= style.width else {
      pair(
        first, second.isEmpty ? nil : second, indent: indent, continuation: indent + 4, emphasized: emphasized,
        start: start, isDimmed: isDimmed)
      return
    }
    // With a gap to a part beyond column 100, readers would lose the line.
    let gap = max(2, min(style.width, max(100, used + 2)) - used)
    text +=
      String(repeating: " ", count: indent)
      + dim(emphasize(first, emphasized, start) + String(repeating: " ", count: gap) + second, isDimmed) + "\n"
  }

  /// Emphasizes a part of a text, or its continuation on a further line. `offset`: the columns of the part that are on
  /// earlier lines.
  private func emphasize(_ text: String, _ emphasized: Bool, _ start: TintedStart?, offset: Int = 0) -> String {
    guard emphasized else { return text }
    guard let start, offset < start.columns else { return show(text, .bold) }
    let tinted = text.prefix(start.columns - offset)
    return show(String(tinted), .tinted(start.tint)) + show(String(text.dropFirst(tinted.count)), .bold)
  }

  private func show(_ text: String, _ look: Phrase.Look) -> String {
    guard style.emphasis == .terminal, !text.isEmpty else { return text }
    switch look {
    case .plain: return text
    case .bold: return "\u{1B}[1m\(text)\u{1B}[0m"
    case .tinted(let tint):
      let end = text.hasSuffix(",") ? "," : ""
      return "\u{1B}[\(tint.code)m\(text.dropLast(end.count))\u{1B}[0m\(end)"
    }
  }

  /// Dims the text of a library's line.
  private func dim(_ text: String, _ isDimmed: Bool) -> String {
    isDimmed && style.emphasis == .terminal ? "\u{1B}[2m\(text)\u{1B}[0m" : text
  }

  /// Adds a name or a few words, on as many lines as needed.
  private mutating func piece(
    _ content: String, indent: Int, continuation: Int, _ emphasized: Bool, _ start: TintedStart?,
    isDimmed: Bool
  ) {
    var margin = indent
    var offset = 0
    var rest = Substring(content)
    repeat {
      let part = Self.head(of: rest, room: max(16, style.width - margin), next: max(16, style.width - continuation))
      let left = rest[part.endIndex...].drop { $0 == " " }
      let begin = offset
      offset += rest.count - left.count
      rest = left
      var shown = part
      while shown.last == " " { shown.removeLast() }
      text +=
        String(repeating: " ", count: margin)
        + dim(emphasize(String(shown), emphasized, start, offset: begin), isDimmed) + "\n"
      margin = continuation
    } while !rest.isEmpty
  }

  /// Returns the longest beginning of a name that fits into `room` columns. Prefers a break at a space, and then after
  /// a comma, a dot, a bracket, a slash or a colon. Breaks a word only if the word alone is longer than the room.
  /// `next`: the room in the next line.
  private static func head(of name: Substring, room: Int, next: Int) -> Substring {
    let part = name.prefix(room)
    guard part.endIndex < name.endIndex else { return part }
    func columns(_ index: Substring.Index) -> Int { part.distance(from: part.startIndex, to: index) }
    if name[part.endIndex] == " " { return part }
    let space = part.lastIndex(of: " ").flatMap { columns($0) > 0 ? $0 : nil }
    if let space {
      let word = name[space...].dropFirst().prefix(next + 1).prefix { $0 != " " }
      if word.count <= next || columns(space) >= room / 2 { return part[...space] }
    }
    for joints in [",.<([/", ":"] {
      if let joint = part.lastIndex(where: { joints.contains($0) }), columns(joint) >= room / 3 {
        return part[...joint]
      }
    }
    if let space { return part[...space] }
    return part
  }

  private mutating func wrap(_ words: [(text: Substring, look: Phrase.Look)], indent: Int) {
    var current = String(repeating: " ", count: indent)
    var used = indent
    var isFirst = true
    for (word, look) in words {
      var word = word
      if !isFirst, used + 1 + word.count > style.width {
        text += current + "\n"
        current = String(repeating: " ", count: indent + 2)
        used = indent + 2
        isFirst = true
      }
      while isFirst, used + word.count > style.width {
        let part = Self.head(of: word, room: max(16, style.width - used), next: max(16, style.width - indent - 2))
        text += current + show(String(part), look) + "\n"
        word = word[part.endIndex...]
        current = String(repeating: " ", count: indent + 2)
        used = indent + 2
      }
      if !isFirst {
        current += " "
        used += 1
      }
      current += show(String(word), look)
      used += word.count
      isFirst = false
    }
    text += current + "\n"
  }
}
