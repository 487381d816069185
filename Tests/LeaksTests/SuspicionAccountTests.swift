// The effects of the rules on candidates for a suspicion, which are listed or not.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct SuspicionAccountTests {
  private func account(_ server: RequestServer) throws -> SuspicionAccount {
    let accounts = try server.accounts().filter { $0.type == "Session" }
    #expect(accounts.count == 1)
    return try #require(accounts.first)
  }

  private func names(_ account: SuspicionAccount, _ effect: SuspicionAccount.Effect) -> Set<SuspicionRule> {
    Set(account.entries.lazy.filter { $0.effect == effect }.map(\.rule))
  }

  @Test func listedSuspicionNamesItsSupportingRules() throws {
    let server = RequestServer()
    server.requests(300) { _ in true }
    let account = try account(server)
    #expect(account.outcome == .listed && account.live == 300 && account.births == 300)
    #expect(names(account, .excludes).isEmpty)
    #expect(names(account, .supports).isSuperset(of: [.number, .madeThroughout, .growsSteadily, .holderIsOlder]))
    #expect(account.place?.function == "Server.handle(_:)")
  }

  @Test func survivorsAreJudgedByTheirSiblingsLives() throws {
    let server = RequestServer()
    server.requests(100) { $0 % 20 == 10 }
    let account = try account(server)
    #expect(account.outcome == .listed && account.live == 5 && account.births == 100)
    #expect(names(account, .supports).isSuperset(of: [.siblingsEnd, .olderThanSiblings, .populationGrew, .minority]))
  }

  @Test func excludedCandidateNamesTheExcludingRule() throws {
    let server = RequestServer()
    server.levelOff()
    #expect(try server.findings().isEmpty)
    let account = try account(server)
    #expect(account.outcome == .excluded)
    #expect(!names(account, .excludes).union(names(account, .weakens)).isEmpty)
    let entry = try #require(account.entries.first { $0.rule == .madeThroughout && $0.effect != .supports })
    #expect(entry.figures.contains("%"))
  }

  @Test func sumOfThePointsIsTheStrength() throws {
    let listed = RequestServer()
    listed.requests(300) { _ in true }
    let weak = RequestServer(isCalledBack: false)
    for session in weak.requests(300, keep: { _ in true }) { weak.heap.retain(session) }
    for (server, outcome) in [(listed, SuspicionAccount.Outcome.listed), (weak, .weak)] {
      let account = try account(server)
      #expect(account.outcome == outcome && account.points == account.entries.reduce(0) { $0 + $1.points })
    }
    let late = try account(weak).entries.first { $0.rule == .unusedAtTheEnd }
    #expect(late?.effect == .weakens && late?.points == SurvivorRules.standard.points[.unusedAtTheEnd].weakens)
  }

  @Test func everyRuleHasAReason() {
    for rule in SuspicionRule.allCases {
      #expect(rule.reason.hasSuffix(".") && rule.reason.count > 20)
      #expect(rule.rawValue.allSatisfy { $0.isLowercase || $0 == "-" })
    }
    #expect(Set(SuspicionRule.allCases.map(\.reason)).count == SuspicionRule.allCases.count)
  }

  /// Members that come and go hide the growth: more of them exist at three quarters of the run than at its end.
  @Test(arguments: [true, false]) func onlyEvenlyMadeSurvivorsGrowSteadily(isEven: Bool) throws {
    let server = RequestServer()
    var going: [(last: Int, session: HeapBuilder.Object)] = []
    for number in 0..<120 {
      let session = server.request(keep: true)
      // Otherwise all members from the first two thirds end late, and those from the last third stay.
      let stays = isEven ? number % 3 == 0 : number >= 80
      if stays { server.put(session) } else { going.append((number + ((88...90).contains(number) ? 9 : 1), session)) }
      for each in going where each.last <= number { server.heap.free(each.session, stack: server.inner) }
      going.removeAll { $0.last <= number }
    }
    for each in going { server.heap.free(each.session, stack: server.inner) }
    let account = try #require(try server.accounts().first { $0.type == "Session" })
    #expect(account.entries.contains { $0.rule == .queue && $0.effect == .supports })
    let growth = try #require(account.entries.first { $0.rule == .growsSteadily })
    #expect(growth.effect == (isEven ? .supports : .weakens), "\(growth.figures)")
  }
}
