// The rules that are shipped with leaktrace, and how rules are parsed and looked up.

import Foundation
import PlatformRules
import Testing

@Suite struct RuleBookTests {
  private func book(_ text: String) throws -> RuleBook { try RuleBook([RuleFile(name: "test.rules", text: text)]) }

  // MARK: The shipped files

  @Test func shippedRulesParseAndCoverEveryKind() throws {
    let book = try RuleBook(RuleFiles.shipped)
    #expect(book.rules.count > 60)
    #expect(book.rules.allSatisfy { !$0.reason.isEmpty && !$0.seen.isEmpty })
    #expect(Set(RuleKind.allCases) == Set(book.rules.map(\.kind)), "a kind without a rule")
  }

  @Test func everyFileOfTheFolderIsShipped() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/TraceAnalysis/PlatformRules/Rules").standardized
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.sorted() == RuleFiles.shipped.map(\.name).sorted())
    for file in RuleFiles.shipped {
      #expect(try String(contentsOf: folder.appendingPathComponent(file.name), encoding: .utf8) == file.text)
    }
  }

  // MARK: Looking up

  @Test(arguments: [
    ("libacme.so.1", true), ("libacme", true), ("libacm", false), ("xlibacme", false), ("tool.plugin", true),
    ("tool.plugins", false), ("exact", true), ("exactly", false), ("a-part-b", true), ("part", false), ("", false),
  ]) func patternsMatchWholeOrPartialNames(_ name: String, _ matches: Bool) throws {
    let table = try book(
      """
      platform
        image   libacme*, *.plugin, exact
        image   *-part-*
        reason  A test.
        seen    nowhere
      """
    ).table(.platform, by: .image)
    #expect(table.matches(name) == matches)
    #expect(table.matches(name[...]) == matches)
  }

  @Test func firstMatchingRuleApplies() throws {
    let table = try book(
      """
      part-of
        symbol  acme_*
        says    Acme
        reason  A test.
        seen    nowhere

      part-of
        symbol  acme_other_*, acme_exact
        says    Other
        reason  A test.
        seen    nowhere
      """
    ).table(.partOf, by: .symbol)
    #expect(table.statement(for: "acme_other_one") == "Acme")
    #expect(table.statement(for: "acme_exact") == "Acme")
    #expect(table.statement(for: "other") == nil)
  }

  @Test func ruleFileTakesEffect() throws {
    let added = """
      platform
        module  Acme
        image   libacme*
        reason  A test.
        seen    nowhere
      """
    let book = try RuleBook(RuleFiles.shipped + [RuleFile(name: "added.rules", text: added)])
    #expect(book.table(.platform, by: .module).matches("Acme"))
    #expect(book.table(.platform, by: .image).matches("libacme.so.2"))
    #expect(book.table(.platform, by: .image).matches("libswiftCore.so"))
    #expect(!RuleBook.shipped.table(.platform, by: .module).matches("Acme"))
  }

  // MARK: Damage

  private static let rest = "  reason  A test.\n  seen  nowhere\n"

  @Test(arguments: [
    ("no-such-kind\n  symbol a\n" + rest, "test.rules:1: there is no kind of rule 'no-such-kind'"),
    ("allocator\n  colour a\n" + rest, "test.rules:2: a rule has no 'colour'"),
    ("allocator\n  module a\n" + rest, "test.rules:2: rules of this kind are not looked up by 'module'"),
    (
      "allocator\n  symbol a*b\n" + rest,
      "test.rules:2: 'a*b' is no pattern: a name, with a * at its ends or without"
    ),
    ("allocator\n  symbol *\n" + rest, "test.rules:2: '*' is no pattern: a name, with a * at its ends or without"),
    ("allocator\n  symbol a,\n" + rest, "test.rules:2: '' is no pattern: a name, with a * at its ends or without"),
    ("allocator\n" + rest, "test.rules:1: the rule has no pattern"),
    ("allocator\n  symbol a\n  seen nowhere\n", "test.rules:1: the rule has no 'reason'"),
    ("allocator\n  symbol a\n  reason a\n", "test.rules:1: the rule has no 'seen'"),
    ("allocator\n  symbol a\n  seen\n" + rest, ""),
    ("allocator\n  symbol a\n  seen b\n" + rest, "test.rules:5: the rule has a second 'seen'"),
    ("allocator\n  symbol a\n  says b\n" + rest, "test.rules:1: rules of this kind do not say 'b'"),
    ("leaked\n  type a\n" + rest, "test.rules:1: the rule has no 'says'"),
    ("registration\n  type a\n  says b\n" + rest, "test.rules:1: rules of this kind do not say 'b'"),
    ("  symbol a\n", "test.rules:1: the line is indented, and belongs to no rule"),
    ("allocator\n  symbol a, a\n" + rest, "test.rules:1: the pattern is also in test.rules:1"),
    (
      "allocator\n  symbol a\n" + rest + "\n# again\nallocator\n  symbol a\n" + rest,
      "test.rules:7: the pattern is also in test.rules:1"
    ),
  ]) func malformedFileReportsPlaceAndReason(_ text: String, _ message: String) {
    do {
      _ = try book(text)
      #expect(message == "")
    } catch let error as RuleError {
      #expect(error.description == message)
    } catch {
      Issue.record(error)
    }
  }

  @Test func differentKindsMayHaveTheSameSymbol() throws {
    let book = try book("allocator\n  symbol a\n\(Self.rest)calls-program\n  symbol a\n\(Self.rest)")
    #expect(book.rules.count == 2)
  }
}
