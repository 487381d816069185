// The tests that allocated a finding's objects, in words.

import LeakDetection
import TextWriting
import TraceReading

/// Names the tests that ran when the instances of a finding were allocated. Formats only; makes no decisions.
package enum TestWords {
  /// Maximum number of tests in a sentence.
  private static let listed = 10
  /// Maximum number of tests in the name of a test case.
  private static let listedInName = 3

  /// Returns `Leaked in test TillTests.opens.`. Adds counts if there are several tests, or instances outside known
  /// tests. Nil if no test is known.
  package static func sentence(_ finding: Finding) -> String? {
    let tests = finding.origins.tests
    guard let first = tests.first else { return nil }
    let known = tests.reduce(UInt64(0)) { $0 &+ UInt64(max(0, $1.instances)) }
    let all = UInt64(max(0, finding.instances))
    if tests.count == 1, known >= all { return "Leaked in test \(PlainText.escaped(first.name))." }
    var parts = tests.prefix(listed).map {
      "\(PlainText.escaped($0.name)) (\(Decimal.grouped(UInt64(max(0, $0.instances)))))"
    }
    let rest = tests.count - parts.count
    if rest > 0 { parts.append("\(Decimal.grouped(UInt64(rest))) more tests") }
    if known < all { parts.append("in no known test (\(Decimal.grouped(all - known)))") }
    let noun = tests.count == 1 ? "test" : "\(Decimal.grouped(UInt64(tests.count))) tests"
    return "Leaked in \(noun): \(parts.joined(separator: ", "))."
  }

  /// Returns `in TillTests.closes, TillTests.opens`, in alphabetical order. The words have no counts, because CI
  /// systems compare such names between runs. Nil if no test is known.
  package static func place(_ finding: Finding) -> String? {
    let names = finding.origins.tests.map(\.name).sorted()
    guard !names.isEmpty else { return nil }
    let rest = names.count - listedInName
    let shown = names.prefix(listedInName).map(PlainText.escaped).joined(separator: ", ")
    return "in \(shown)\(rest > 0 ? " and \(Decimal.counted(UInt64(rest), "more test"))" : "")"
  }
}
