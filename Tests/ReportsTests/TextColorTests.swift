import Testing

import TextWriting
@testable import TraceReading

@Suite struct TextColorTests {
  private static let terminal = TextStyle(width: 40, emphasis: .terminal)

  /// The text without escape sequences.
  private func plain(_ text: String) -> String { text.replacing(/\u{1B}\[[0-9;]*m/, with: "") }

  private func text(_ style: TextStyle = Self.terminal, _ write: (inout TextLines) -> Void) -> String {
    var lines = TextLines(style: style)
    write(&lines)
    return lines.text
  }

  @Test func colorsAreBoldStandardColors() {
    for (tint, code) in [(Tint.proven, "1;31"), (.suspected, "1;35"), (.fix, "1;32")] {
      #expect(text { $0.line("Fix: it", emphasized: 1, tint: tint) } == "\u{1B}[\(code)mFix:\u{1B}[0m it\n")
    }
    #expect(text { $0.line("Fix: it", emphasized: 1) } == "\u{1B}[1mFix:\u{1B}[0m it\n")
    #expect(text(TextStyle(width: 40)) { $0.line("Fix: it", emphasized: 1, tint: .fix) } == "Fix: it\n")
  }

  @Test func startOfALineIsColoredAndTheRestIsBold() {
    let shown = text {
      $0.spread("LOST  App.Image", "3 instances", indent: 2, emphasized: true, start: TintedStart("LOST", .proven))
    }
    #expect(shown == "  \u{1B}[1;31mLOST\u{1B}[0m\u{1B}[1m  App.Image\u{1B}[0m            3 instances\n")
  }

  @Test func commaIsNotColored() {
    let phrases = [Phrase("Leaks:", .bold), Phrase("2 proven,", .tinted(.proven)), Phrase("3 in all")]
    #expect(
      text { $0.line(phrases) }
        == "\u{1B}[1mLeaks:\u{1B}[0m \u{1B}[1;31m2\u{1B}[0m \u{1B}[1;31mproven\u{1B}[0m, 3 in all\n")
    #expect(phrases.sentence == "Leaks: 2 proven, 3 in all")
  }

  @Test(arguments: [40, 60, 80, 120]) func colorsTakeNoColumns(width: Int) {
    let verdict = "GROWS FROM IMAGE TO IMAGE"
    let name = "Outer<Some.Very.Long.Name, Another.Very.Long.Name>.Inner.Innermost.Node of a collection"
    func write(_ lines: inout TextLines) {
      for subject in [name, "Node", String(repeating: "x", count: 200)] {
        lines.spread(
          "\(verdict)  \(subject)", "12 instances, 4.00 KiB", indent: 2, emphasized: true,
          start: TintedStart(verdict, .suspected))
        lines.pair(
          "\(verdict)  \(subject)", "File.swift:1", indent: 2, continuation: 6, emphasized: true,
          start: TintedStart(verdict, .proven))
        lines.line([Phrase("Leaks:", .bold), Phrase("1 \(subject),", .tinted(.proven)), Phrase("among \(subject)")])
        lines.line("Fix: \(subject) \(subject)", indent: 2, emphasized: 1, tint: .fix)
      }
    }
    let colored = text(TextStyle(width: width, emphasis: .terminal), write)
    let without = text(TextStyle(width: width), write)
    #expect(plain(colored) == without)
    #expect(colored != without && !without.contains("\u{1B}"))
    for line in without.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
    // A colour ends in its own line.
    for line in colored.split(separator: "\n") {
      #expect(line.ranges(of: "\u{1B}[0m").count * 2 == line.ranges(of: "\u{1B}[").count, "\(line)")
    }
  }

  /// On a narrow terminal, the verdict continues in the next line, and so does its colour.
  @Test func colorContinuesOnTheNextLine() {
    let verdict = "DEINITIALISED, STILL HELD BY UNOWNED REFERENCES"
    let shown = text {
      $0.pair(
        "\(verdict)  Node", nil, indent: 0, continuation: 4, emphasized: true, start: TintedStart(verdict, .proven))
    }
    #expect(
      shown
        == "\u{1B}[1;31mDEINITIALISED, STILL HELD BY UNOWNED\u{1B}[0m\n    \u{1B}[1;31mREFERENCES\u{1B}[0m\u{1B}[1m  Node\u{1B}[0m\n"
    )
  }
}
