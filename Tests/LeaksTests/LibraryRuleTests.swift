// The effects of rules about libraries on findings.

import HeapAnalysis
import PlatformRules
import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct LibraryRuleTests {
  /// Returns the shipped rules, and rules for an unknown library.
  private func rules() throws -> RuleBook {
    let acme = """
      cycle
        type    Acme.Poller*
        says    A Poller keeps its handler until it is stopped: call stop().
        reason  A test.
        seen    nowhere

      leaked
        type    Acme.Cache
        says    Acme never empties its cache
        reason  A test.
        seen    nowhere
      """
    return try RuleBook(RuleFiles.shipped + [RuleFile(name: "acme.rules", text: acme)])
  }

  @Test func ruleFileAddsAdvice() throws {
    let heap = HeapBuilder()
    heap.type("Acme.Poller", fields: [HeapBuilder.field("handler", 0, type: "App.Screen")])
    heap.type("App.Screen", fields: [HeapBuilder.field("poller", 0, type: "Acme.Poller")])
    let poller = heap.object("Acme.Poller", stack: [0x1000_1001, 0x1000_1010])
    let screen = heap.object("App.Screen", stack: [0x1000_1001, 0x1000_1010])
    heap.set(poller, 0, screen)
    heap.set(screen, 0, poller)
    let finding = try #require(try heap.findings([0x1000_1010: "present()"]).first)
    #expect(finding.verdict == .retainCycle)
    let advice = Advice.sentence("A Poller keeps its handler until it is stopped: call stop().")
    #expect(CycleAdvice(finding, .none, rules: try rules()).advice.first == advice)
    #expect(!CycleAdvice(finding, .none).advice.contains(advice))
  }

  @Test func ruleFileMakesALeakTheLibrarys() throws {
    let type = NodeType(kind: .object, qualifiedName: "Acme.Cache", name: "Cache", typeID: 1)
    #expect(KnownLibraryLeaks(try rules()).reason(type) == "Acme never empties its cache")
    #expect(KnownLibraryLeaks.shipped.reason(type) == nil)
  }

  @Test func everyRuleNamesAKnownRegistration() {
    let rules = RuleBook.shipped.rules.filter { $0.kind == .registration }
    #expect(!rules.isEmpty)
    for rule in rules {
      #expect(rule.statement.flatMap(Finding.Registration.init(rawValue:)) != nil, "\(rule.place)")
    }
  }
}
