// Lines from a client, in any parts.

import Testing

@testable import AgentProtocol

@Suite struct LineFramingTests {
  private func lines(_ parts: [String], limit: Int = 16) -> [LineFraming.Line] {
    var framing = LineFraming(limit: limit)
    return parts.flatMap { framing.add(Array($0.utf8)) } + framing.finish()
  }

  private func bytes(_ text: String) -> LineFraming.Line { .bytes(Array(text.utf8)) }

  @Test func linesAreCompleteHoweverTheyArrive() {
    let expected = [bytes("one"), bytes("two"), bytes("three")]
    #expect(lines(["one\ntwo\r\n\n \nthree"]) == expected)
    #expect(lines("one\ntwo\r\n\n \nthree".map(String.init)) == expected)
    #expect(lines([]) == [] && lines(["\n\n"]) == [])
  }

  @Test func longLineIsDroppedAndTheNextOneIsRead() {
    let long = String(repeating: "x", count: 17)
    #expect(lines([long + "\nnext\n"]) == [.tooLong, bytes("next")])
    #expect(lines(long.map(String.init) + ["\n", "next"]) == [.tooLong, bytes("next")])
    #expect(lines([long]) == [.tooLong])
    #expect(lines([String(long.dropLast())]) == [bytes(String(long.dropLast()))])
  }
}
