// The syntax of conditions, and the messages for conditions that are not understood.

import Testing

@testable import LeakGates

@Suite struct GateSyntaxTests {
  @Test(arguments: [
    ("3", GateCondition.Threshold.count(3)), ("1B", .bytes(1)), ("1kB", .bytes(1000)), ("1.5MB", .bytes(1_500_000)),
    ("2GB", .bytes(2_000_000_000)),
    ("64KiB", .bytes(65536)), ("1 MiB", .bytes(1_048_576)), ("0.5GiB", .bytes(536_870_912)),
    ("1mib", .bytes(1_048_576)), ("10%", .part(0.1)), ("2.5 %", .part(0.025)),
  ])
  func thresholdsAreNumbersSizesAndPercentages(text: String, expected: GateCondition.Threshold) {
    #expect(GateCondition.Threshold(parsing: text) == expected)
  }

  @Test(arguments: [
    "", "0", "-1", "+3", "1.5", "x", "10 %%", "1TB", "nan", "inf%", "0x10", "1e3B", ".5MB", "5.MB", "0%", "0.1B",
    "1,000", "٣", "99999999999GiB", "1..2MB",
  ])
  func otherTextsAreNotThresholds(text: String) {
    #expect(GateCondition.Threshold(parsing: text) == nil)
  }

  @Test func conditionsAreSeparatedByCommasOrRepeated() throws {
    let list = try GateList(parsing: ["leaks:2, new-leaks", "retained:1MiB", "leaks:2"], for: .analysis)
    #expect(list.conditions.map(\.text) == ["leaks:2", "new-leaks", "retained:1MiB"])
    #expect(list.needsFindings)
    #expect(try GateList(parsing: ["none"], for: .comparison).isEmpty)
    #expect(try GateList(parsing: [], for: .analysis).isEmpty)
    #expect(try !GateList(parsing: ["peak:10%,growth"], for: .comparison).needsFindings)
  }

  @Test(arguments: [
    (
      "leak",
      "no condition 'leak' for a single build; did you mean 'leaks'? Allowed are leaks, new-leaks, suspects, new-suspects, worse, library-leaks, retained, growth, none"
    ),
    (
      "new_leaks",
      "no condition 'new_leaks' for a single build; did you mean 'new-leaks'? Allowed are leaks, new-leaks, suspects, new-suspects, worse, library-leaks, retained, growth, none"
    ),
    (
      "peak",
      "no condition 'peak' for a single build. Allowed are leaks, new-leaks, suspects, new-suspects, worse, library-leaks, retained, growth, none"
    ),
    (
      "bananas",
      "no condition 'bananas' for a single build. Allowed are leaks, new-leaks, suspects, new-suspects, worse, library-leaks, retained, growth, none"
    ),
    (
      "",
      "no condition '' for a single build. Allowed are leaks, new-leaks, suspects, new-suspects, worse, library-leaks, retained, growth, none"
    ),
    ("leaks:10%", "'leaks:10%': the threshold must be a number of 1 or more (3)"),
    ("leaks:", "'leaks:': the threshold must be a number of 1 or more (3)"),
    ("growth:x", "'growth:x': the threshold must be a number of 1 or more (3) or a size (64KiB, 1MB)"),
    ("retained", "'retained' needs a threshold: retained:1MiB fails if 1 MiB or more is retained"),
    ("none,leaks", "'none' cannot be combined with other conditions"),
    ("leaks:2,leaks:3", "'leaks:2' and 'leaks:3' are the same condition with different thresholds"),
  ])
  func unknownConditionIsRejectedWithTheAllowedOnes(text: String, message: String) {
    let error = #expect(throws: GateSyntaxError.self) { try GateList(parsing: [text], for: .analysis) }
    #expect(error?.description == message)
  }

  @Test func comparisonsHaveTheirOwnConditions() throws {
    let list = try GateList(
      parsing: ["new-leaks,worse:10%,growth:1MiB,peak:10%,allocations:5%,temporary,retains:10%,regressions"],
      for: .comparison)
    #expect(list.conditions.count == 8)
    let error = #expect(throws: GateSyntaxError.self) { try GateList(parsing: ["retained:1MiB"], for: .comparison) }
    #expect(error?.description.contains("for a comparison of builds") == true)
  }

  @Test func worseSetsTheTolerance() throws {
    #expect(try GateList(parsing: ["worse:20%"], for: .analysis).tolerance == 0.2)
    #expect(try GateList(parsing: ["worse,leaks"], for: .analysis).tolerance == 0.05)
  }
}
