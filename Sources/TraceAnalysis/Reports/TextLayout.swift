// Lines of a text report: widths, wrapping, emphasis.

/// How a text report is laid out.
public struct TextStyle: Hashable, Sendable {
  public enum Emphasis: Hashable, Sendable { case none, terminal }
  public enum Stacks: Hashable, Sendable {
    /// The program's frames; those of libraries and the runtime folded.
    case folded
    case full
  }

  /// Columns, at least 40.
  public var width: Int
  public var emphasis: Emphasis
  public var stacks: Stacks

  public init(width: Int = 80, emphasis: Emphasis = .none, stacks: Stacks = .folded) {
    self.width = max(40, width)
    self.emphasis = emphasis
    self.stacks = stacks
  }
}

/// Collects lines of at most the style's width. Nothing is cut off: what is too long goes on in the next line, indented further.
struct TextLines {
  let style: TextStyle
  private(set) var text = ""

  init(style: TextStyle) { self.style = style }

  mutating func blank() { text += "\n" }

  /// A line of words, wrapped at spaces.
  mutating func line(_ words: String, indent: Int = 0, emphasized: Int = 0) {
    wrap(words.split(separator: " ", omittingEmptySubsequences: false).map(String.init), indent: indent, emphasized: emphasized)
  }

  /// A line in one piece if it fits, its columns kept; otherwise wrapped.
  mutating func row(_ content: String, indent: Int = 0) {
    if indent + content.count <= style.width {
      text += String(repeating: " ", count: indent) + content + "\n"
    } else {
      line(content, indent: indent)
    }
  }

  /// Two parts with two spaces between, the second on a line of its own if they do not fit together.
  mutating func pair(_ first: String, _ second: String?, indent: Int, continuation: Int, emphasized: Bool = false) {
    guard let second, !second.isEmpty else {
      piece(first, indent: indent, continuation: continuation, emphasized: emphasized)
      return
    }
    if indent + first.count + 2 + second.count <= style.width {
      text += String(repeating: " ", count: indent) + emphasize(first, emphasized) + "  " + second + "\n"
    } else {
      piece(first, indent: indent, continuation: continuation, emphasized: emphasized)
      piece(second, indent: continuation, continuation: continuation, emphasized: false)
    }
  }

  /// Two parts at the ends of a line; the second on a line of its own, further in, if they do not fit together.
  mutating func spread(_ first: String, _ second: String, indent: Int, emphasized: Bool = false) {
    let used = indent + first.count + second.count
    guard !second.isEmpty, used + 2 <= style.width else {
      pair(first, second.isEmpty ? nil : second, indent: indent, continuation: indent + 4, emphasized: emphasized)
      return
    }
    // Beyond a hundred columns the eye loses the line.
    let gap = max(2, min(style.width, max(100, used + 2)) - used)
    text += String(repeating: " ", count: indent) + emphasize(first, emphasized) + String(repeating: " ", count: gap) + second + "\n"
  }

  private func emphasize(_ text: String, _ emphasized: Bool) -> String {
    emphasized && style.emphasis == .terminal ? "\u{1B}[1m\(text)\u{1B}[0m" : text
  }

  /// One word or name, broken anywhere if need be, at spaces by preference.
  private mutating func piece(_ content: String, indent: Int, continuation: Int, emphasized: Bool) {
    var rest = Substring(content)
    var margin = indent
    repeat {
      let room = max(16, style.width - margin)
      var part = rest.prefix(room)
      if part.count < rest.count, let space = part.lastIndex(of: " "), part.distance(from: part.startIndex, to: space) >= room / 2 {
        part = part[...space]
      }
      rest = rest[part.endIndex...]
      while part.last == " " { part.removeLast() }
      text += String(repeating: " ", count: margin) + emphasize(String(part), emphasized) + "\n"
      margin = continuation
    } while !rest.isEmpty
  }

  private mutating func wrap(_ words: [String], indent: Int, emphasized: Int) {
    var current = String(repeating: " ", count: indent)
    var used = indent
    var isFirst = true
    for (index, word) in words.enumerated() {
      if !isFirst, used + 1 + word.count > style.width {
        text += current + "\n"
        current = String(repeating: " ", count: indent + 2)
        used = indent + 2
        isFirst = true
      }
      if !isFirst {
        current += " "
        used += 1
      }
      current += emphasize(word, index < emphasized)
      used += word.count
      isFirst = false
    }
    text += current + "\n"
  }
}
