// Compares the outputs that pages show with the outputs of commands.

/// Compares shown output with printed output.
enum ShownOutput {
  /// Whether the printed lines equal the shown lines. A shown line `…` matches any number of lines.
  ///
  /// Figures that vary between runs count as equal. A line may be broken at other places.
  ///
  /// - Parameter figuresVary: All words that begin with a digit count as equal.
  static func matches(_ shown: [String], _ printed: String, figuresVary: Bool = false) -> Bool {
    let parts = shown.split(separator: "…", omittingEmptySubsequences: false)
      .map { words($0.joined(separator: "\n"), figuresVary) }
    let first = parts.first!, last = parts.last!
    var rest = words(printed, figuresVary)[...]
    guard parts.count > 1 else { return isWhole(rest, first) }
    guard rest.count >= first.count + last.count, isWhole(rest.prefix(first.count), first),
      isWhole(rest.suffix(last.count), last)
    else { return false }
    rest = rest.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let start = rest.indices.first(where: { isWhole(rest[$0...].prefix(part.count), part) }) else {
        return false
      }
      rest = rest[(start + part.count)...]
    }
    return true
  }

  /// Whether the shown lines are whole lines somewhere in the printed output. Lines are compared as in `matches`.
  static func isExcerpt(_ shown: [String], of printed: String, figuresVary: Bool = false) -> Bool {
    matches(["…"] + shown + ["…"], printed, figuresVary: figuresVary)
  }

  private struct Word {
    var text: String
    var beginsLine: Bool
    var endsLine: Bool
  }

  /// Whether the printed words equal the shown words, and form whole lines.
  private static func isWhole(_ printed: ArraySlice<Word>, _ shown: [Word]) -> Bool {
    guard printed.elementsEqual(shown, by: { $0.text == $1.text }) else { return false }
    return shown.isEmpty || printed.first!.beginsLine && printed.last!.endsLine
  }

  private static func words(_ text: String, _ figuresVary: Bool) -> [Word] {
    normalised(text).split(separator: "\n").flatMap { line -> [Word] in
      let words = line.split(separator: " ")
      return words.enumerated().map { index, word in
        Word(
          text: figuresVary ? withoutFigure(word) : String(word), beginsLine: index == 0,
          endsLine: index == words.count - 1)
      }
    }
  }

  /// Replaces values that vary: quantities with a unit, process IDs, threads, addresses, numbers of events and live
  /// blocks, and the course of a population.
  private static func normalised(_ text: String) -> String {
    text.replacing(/[0-9][0-9.,]*\s+(B|KB|MB|GB|KiB|MiB|GiB|µs|ms|s|min|%)(?![A-Za-z])/, with: "#")
      .replacing(/process [0-9]+/, with: "process #")
      .replacing(/pid [0-9]+/, with: "pid #")
      .replacing(/thread [0-9]+/, with: "thread #")
      .replacing(/0x[0-9a-f]+/, with: "0x#")
      .replacing(/(attach|detach|snapshot|inspect|watch|doctor) [0-9]+/) { "\($0.1) #" }
      .replacing(/[0-9][0-9,]* events/, with: "# events")
      .replacing(/[0-9][0-9,]* live blocks/, with: "# live blocks")
      .replacing(/live blocks\s+[0-9][0-9,]* → [0-9][0-9,]*/, with: "live blocks # → #")
      .replacing(/quarter\s+of\s+the\s+run:(\s+[0-9][0-9,]*)+/, with: "quarter of the run: #")
  }

  /// Replaces the number at the beginning of a word, and a curve of any length.
  private static func withoutFigure(_ word: Substring) -> String {
    String(word).replacing(/^([(+−]*)[0-9][0-9.,]*/) { "\($0.1)#" }.replacing(/[▁▂▃▄▅▆▇█]+/, with: "▁")
  }
}
