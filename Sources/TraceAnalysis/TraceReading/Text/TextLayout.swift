// Lines of a text report: widths, wrapping, emphasis.

/// The layout of a text report.
package struct TextStyle: Hashable, Sendable {
  package enum Emphasis: Hashable, Sendable { case none, terminal }
  package enum Stacks: Hashable, Sendable {
    /// The program's frames; those of libraries and the runtime folded.
    case folded
    case full
  }

  package enum Paths: Hashable, Sendable {
    /// The program's objects; those that libraries put between them folded.
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

/// Collects lines of at most the style's width. Cuts nothing off: text that is too long goes on in the next line,
/// indented further.
package struct TextLines {
  package let style: TextStyle
  package private(set) var text = ""

  package init(style: TextStyle) { self.style = style }

  package mutating func blank() { text += "\n" }

  /// A line of words, wrapped at spaces.
  package mutating func line(_ words: String, indent: Int = 0, emphasized: Int = 0) {
    wrap(
      words.split(separator: " ", omittingEmptySubsequences: false).map(String.init), indent: indent,
      emphasized: emphasized)
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
    _ first: String, _ second: String?, indent: Int, continuation: Int, emphasized: Bool = false, isDimmed: Bool = false
  ) {
    guard let second, !second.isEmpty else {
      piece(first, indent: indent, continuation: continuation, emphasized: emphasized, isDimmed: isDimmed)
      return
    }
    if indent + first.count + 2 + second.count <= style.width {
      text += String(repeating: " ", count: indent) + dim(emphasize(first, emphasized) + "  " + second, isDimmed) + "\n"
    } else {
      piece(first, indent: indent, continuation: continuation, emphasized: emphasized, isDimmed: isDimmed)
      piece(second, indent: continuation, continuation: continuation, emphasized: false, isDimmed: isDimmed)
    }
  }

  /// Two parts at the ends of a line; the second on a line of its own, further in, if they do not fit together.
  package mutating func spread(
    _ first: String, _ second: String, indent: Int, emphasized: Bool = false, isDimmed: Bool = false
  ) {
    let used = indent + first.count + second.count
    guard !second.isEmpty, used + 2 <= style.width else {
      pair(
        first, second.isEmpty ? nil : second, indent: indent, continuation: indent + 4, emphasized: emphasized,
        isDimmed: isDimmed)
      return
    }
    // Beyond a hundred columns the eye loses the line.
    let gap = max(2, min(style.width, max(100, used + 2)) - used)
    text +=
      String(repeating: " ", count: indent)
      + dim(emphasize(first, emphasized) + String(repeating: " ", count: gap) + second, isDimmed) + "\n"
  }

  private func emphasize(_ text: String, _ emphasized: Bool) -> String {
    emphasized && style.emphasis == .terminal ? "\u{1B}[1m\(text)\u{1B}[0m" : text
  }

  /// Lines of a library stand back.
  private func dim(_ text: String, _ isDimmed: Bool) -> String {
    isDimmed && style.emphasis == .terminal ? "\u{1B}[2m\(text)\u{1B}[0m" : text
  }

  /// One name, or a few words, in as many lines as it takes.
  private mutating func piece(_ content: String, indent: Int, continuation: Int, emphasized: Bool, isDimmed: Bool) {
    var margin = indent
    var rest = Substring(content)
    repeat {
      let part = Self.head(of: rest, room: max(16, style.width - margin), next: max(16, style.width - continuation))
      rest = rest[part.endIndex...].drop { $0 == " " }
      var shown = part
      while shown.last == " " { shown.removeLast() }
      text += String(repeating: " ", count: margin) + dim(emphasize(String(shown), emphasized), isDimmed) + "\n"
      margin = continuation
    } while !rest.isEmpty
  }

  /// As much of a name as fits, up to a joint: a space by preference, or else behind a comma, a dot, a bracket, a slash
  /// or a colon. Breaks within a word only if it alone is longer than the room. `next`: the room in the next line.
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

  private mutating func wrap(_ words: [String], indent: Int, emphasized: Int) {
    var current = String(repeating: " ", count: indent)
    var used = indent
    var isFirst = true
    for (index, word) in words.enumerated() {
      var word = Substring(word)
      if !isFirst, used + 1 + word.count > style.width {
        text += current + "\n"
        current = String(repeating: " ", count: indent + 2)
        used = indent + 2
        isFirst = true
      }
      while isFirst, used + word.count > style.width {
        let part = Self.head(of: word, room: max(16, style.width - used), next: max(16, style.width - indent - 2))
        text += current + emphasize(String(part), index < emphasized) + "\n"
        word = word[part.endIndex...]
        current = String(repeating: " ", count: indent + 2)
        used = indent + 2
      }
      if !isFirst {
        current += " "
        used += 1
      }
      current += emphasize(String(word), index < emphasized)
      used += word.count
      isFirst = false
    }
    text += current + "\n"
  }
}
