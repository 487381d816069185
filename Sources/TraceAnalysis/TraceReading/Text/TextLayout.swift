// Lines of a text report: widths, wrapping, emphasis.

/// The layout of a text report.
package struct TextStyle: Hashable, Sendable {
  package enum Emphasis: Hashable, Sendable { case none, terminal }
  package enum Stacks: Hashable, Sendable {
    /// The program's frames; frames of libraries and the runtime are folded.
    case folded
    case full
  }

  package enum Paths: Hashable, Sendable {
    /// The program's objects; library objects between them are folded.
    case folded
    case full
  }

  /// Columns, at least 40.
  package var width: Int

  /// Paths are indented up to here. Deeper ones go on without further indentation, so that names have room.
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

/// The colour of a few words that say how certain a finding is, or begin its fix.
///
/// The colours are three of the eight standard ones, and bold. Each of them is readable on light and on dark
/// backgrounds; yellow and cyan are not. The words say the same without colour.
package enum Tint: Hashable, Sendable {
  case proven, suspected, fix

  /// Parameters of the terminal's sequence for colours.
  fileprivate var code: String {
    switch self {
    case .proven: "1;31"
    case .suspected: "1;35"
    case .fix: "1;32"
    }
  }
}

/// The first columns of an emphasized part, in a colour.
package struct TintedStart: Hashable, Sendable {
  fileprivate let columns: Int
  fileprivate let tint: Tint

  package init(_ words: String, _ tint: Tint) { (columns, self.tint) = (words.count, tint) }
}

/// Words of a sentence, in one look.
package struct Phrase: Hashable, Sendable {
  package enum Look: Hashable, Sendable { case plain, bold, tinted(Tint) }

  /// Begins and ends at a space of the sentence. A comma at the end has no colour.
  package let words: String
  package let look: Look

  package init(_ words: String, _ look: Look = .plain) { (self.words, self.look) = (words, look) }
}

extension [Phrase] {
  /// The words alone.
  package var sentence: String { map(\.words).joined(separator: " ") }
}

/// Collects lines of at most the style's width. Cuts nothing off: text that is too long goes on in the next line,
/// indented further.
package struct TextLines {
  package let style: TextStyle
  package private(set) var text = ""

  package init(style: TextStyle) { self.style = style }

  package mutating func blank() { text += "\n" }

  /// A line of words, wrapped at spaces. `emphasized`: how many of the first words are bold, in the colour of `tint` if
  /// there is one.
  package mutating func line(_ words: String, indent: Int = 0, emphasized: Int = 0, tint: Tint? = nil) {
    wrap(
      words.split(separator: " ", omittingEmptySubsequences: false).enumerated().map { index, word in
        (word, index >= emphasized ? .plain : tint.map { .tinted($0) } ?? .bold)
      }, indent: indent)
  }

  /// A line of phrases with spaces between, wrapped at spaces.
  package mutating func line(_ phrases: [Phrase], indent: Int = 0) {
    wrap(
      phrases.flatMap { phrase in
        phrase.words.split(separator: " ", omittingEmptySubsequences: false).map { ($0, phrase.look) }
      }, indent: indent)
  }

  /// A line in one piece if it fits, its columns kept; otherwise wrapped.
  package mutating func row(_ content: String, indent: Int = 0, isDimmed: Bool = false) {
    if indent + content.count <= style.width {
      text += String(repeating: " ", count: indent) + dim(content, isDimmed) + "\n"
    } else {
      line(content, indent: indent)
    }
  }

  /// Two parts with two spaces between, the second on a line of its own if they do not fit together.
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

  /// Two parts at the ends of a line; the second on a line of its own, further in, if they do not fit together.
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
    // Beyond a hundred columns the eye loses the line.
    let gap = max(2, min(style.width, max(100, used + 2)) - used)
    text +=
      String(repeating: " ", count: indent)
      + dim(emphasize(first, emphasized, start) + String(repeating: " ", count: gap) + second, isDimmed) + "\n"
  }

  /// `offset`: columns of the emphasized part in the lines before this text.
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

  /// Dims a library's lines.
  private func dim(_ text: String, _ isDimmed: Bool) -> String {
    isDimmed && style.emphasis == .terminal ? "\u{1B}[2m\(text)\u{1B}[0m" : text
  }

  /// One name, or a few words, in as many lines as it takes.
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

  /// Returns the longest part of a name that fits, up to a joint: a space by preference, or else after a comma, a dot,
  /// a bracket, a slash or a colon. Breaks within a word only if the word alone is longer than the room. `next`: the
  /// room in the next line.
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
