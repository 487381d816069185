// What makes survivors one family, and what shapes a family may have.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct FamilyShapeTests {
  /// Returns the findings about sessions that one function makes for several callers, 30 for each.
  private func findings(callers: Int) throws -> [Finding] {
    let server = RequestServer(isCalledBack: false)
    var functions = RequestServer.functions
    for index in 0..<(30 * callers) {
      let caller = 0x1000_1500 + 0x10 * UInt64(index % callers)
      functions[caller] = "Server.accept()"
      let outer = [caller, RequestServer.serve]
      server.heap.visit(outer)
      server.heap.time += 10_000
      server.put(server.heap.object("App.Session", stack: outer + [RequestServer.handle]))
      server.heap.visit(outer + [RequestServer.handle])
      server.heap.visit(outer)
    }
    return try server.heap.findings(functions).filter { $0.path.last?.qualifiedType == "App.Session" }
  }

  @Test func aFunctionsCallersAreJudgedTogetherIfEachHasTooFew() throws {
    let single = try findings(callers: 1)
    #expect(single.map(\.instances) == [30] && single.allSatisfy(\.isWeak))
    let several = try findings(callers: 3)
    #expect(several.map(\.instances) == [90] && !several.contains(where: \.isWeak))
    #expect(several.first?.verdict == .accumulating)
  }

  /// `isFirst`: all sessions are made before the first of their bodies.
  @Test(arguments: [true, false]) func keepersThatWereMadeFirstLimitWhatTheyKeep(isFirst: Bool) throws {
    let server = RequestServer(isCalledBack: false)
    server.heap.type("App.Body", fields: [])
    var sessions: [HeapBuilder.Object] = []
    func addSession() {
      sessions.append(server.request(keep: true))
      server.put(sessions.last!)
    }
    func addBody(to session: HeapBuilder.Object) {
      server.heap.visit(server.inner)
      server.heap.time += 10_000
      server.heap.set(session, 1, server.heap.object("App.Body", stack: server.inner + [0x1000_1400]))
      server.heap.visit(server.outer)
    }
    if isFirst { for _ in 0..<120 { addSession() } }
    for index in 0..<120 {
      if !isFirst { addSession() }
      addBody(to: sessions[index])
    }
    #expect(try server.findings().map(\.instances) == (isFirst ? [] : [120]))
    #expect(try server.findings(of: "App.Body").isEmpty)
  }

  /// `haveStreams`: whether each session has a stream of its own, so that the program sends to the sessions.
  @Test(arguments: [true, false]) func aProgramMayCallWhatItNoLongerNeeds(haveStreams: Bool) throws {
    let server = RequestServer()
    let stream = "Swift.AsyncStream._Storage<Swift.Int>"
    server.heap.type(stream, fields: [])
    let sessions = (0..<150).compactMap { index -> HeapBuilder.Object? in
      let session = server.request(keep: index % 3 != 0)
      if index % 3 == 0 { return nil }
      if haveStreams { server.heap.set(session, 1, server.heap.object(stream, stack: server.inner)) }
      server.put(session)
      return session
    }
    for _ in 0..<20 { for session in sessions { server.heap.retain(session) } }
    #expect(try server.finding().isWeak == !haveStreams)
  }

  /// How sessions hold one another.
  enum Links: CaseIterable {
    case forwards, bothWays, tree
  }

  @Test(arguments: Links.allCases) func aListMayBeLinkedBothWays(links: Links) throws {
    let server = RequestServer()
    var sessions: [HeapBuilder.Object] = []
    for index in 0..<80 {
      let session = server.request(keep: true)
      // The work of one link.
      for _ in 0..<6 {
        server.heap.visit(server.inner)
        server.heap.visit(server.outer)
      }
      defer { sessions.append(session) }
      guard index > 0 else {
        server.put(session)
        continue
      }
      switch links {
      case .forwards: server.heap.set(sessions[index - 1], 0, session)
      case .bothWays:
        server.heap.set(sessions[index - 1], 0, session)
        server.heap.set(session, 1, sessions[index - 1])
      case .tree: server.heap.set(sessions[(index - 1) / 2], (index - 1) % 2, session)
      }
    }
    let findings = try server.findings().filter { !$0.isWeak }
    #expect(findings.isEmpty == (links == .tree))
    #expect(findings.allSatisfy { $0.instances >= 79 && $0.verdict != .retainCycle })
  }

  @Test func ofGroupsThatCountOneAnotherOneIsKept() {
    func kept(_ counting: [Int?], _ bytes: [UInt64]) -> [Int] {
      let result = SurvivorFinder.withoutCircles(counting) { $0.max { (bytes[$0], $1) < (bytes[$1], $0) } }
      return result.indices.filter { result[$0] == nil }
    }
    #expect(kept([nil, 0, 1], [1, 2, 3]) == [0])
    #expect(kept([1, 0, nil], [1, 2, 3]) == [1, 2])
    #expect(kept([1, 0], [2, 2]) == [0])
    #expect(kept([1, 2, 3, 1], [9, 1, 5, 2]) == [2])
    // A group whose keeper is not listed is not listed either.
    #expect(kept([0, 0], [1, 1]) == [])
  }
}
