import Testing

import TextWriting
@testable import TraceReading
@testable import TraceSymbolication

@Suite struct NamePatternTests {
  @Test(
    arguments: [
      ("node", "App.Node", true), ("", "x", true), ("app.*", "App.Node", true), ("*.node", "App.Node", true),
      ("app", "Application", true),
      ("app?", "App", false), ("a*b*c", "aXbXc", true), ("a*b*c", "aXbX", false), ("*", "", true), ("?", "", false),
      ("long", "lo", false),
      ("a*a", "a", false), ("*ab", "aab", true), ("**", "x", true), ("é*", "Éa", true),
    ] as [(String, String, Bool)])
  func partsAndGlobsMatchCaseInsensitively(pattern: String, name: String, matches: Bool) {
    #expect(NamePattern(pattern).matches(name) == matches)
  }

  @Test func manyStarsMatchInPolynomialTime() {
    #expect(!NamePattern(String(repeating: "a*", count: 50) + "b").matches(String(repeating: "a", count: 2000)))
  }
}

@Suite struct NumberTextTests {
  @Test(
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (10_229, "9.99 KiB"), (10_240, "10.0 KiB"),
      (102_300, "99.9 KiB"), (1_048_575, "1.00 MiB"),
      (5_368_709_120, "5.00 GiB"), (.max, "16.0 EiB"),
    ] as [(UInt64, String)])
  func bytesHaveThreeDigitsAndAUnit(value: UInt64, text: String) { #expect(Decimal.bytes(value) == text) }

  @Test func thousandsAreGrouped() {
    #expect(Decimal.grouped(0) == "0" && Decimal.grouped(999) == "999" && Decimal.grouped(1000) == "1,000")
    #expect(Decimal.grouped(.max) == "18,446,744,073,709,551,615")
  }

  @Test func decimalsAreRoundedAndPadded() {
    #expect(
      Decimal.fixed(1.999, places: 2) == "2.00" && Decimal.fixed(-0.05, places: 1) == "-0.1"
        && Decimal.fixed(0.004, places: 2) == "0.00")
    #expect(
      Decimal.fixed(-0.001, places: 2) == "0.00" && Decimal.fixed(12.5, places: 0) == "13"
        && Decimal.fixed(.nan, places: 2) == "?")
  }

  @Test func controlCharactersOfNamesAreEscaped() {
    #expect(PlainText.escaped("a\u{1B}[31mb\nc") == "a\\u{1b}[31mb\\u{a}c")
    #expect(PlainText.escaped("Größe 🐟") == "Größe 🐟")
    #expect(PlainText.escaped("\u{202E}x") == "\\u{202e}x")
  }
}
