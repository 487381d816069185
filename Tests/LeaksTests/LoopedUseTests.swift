// Objects that loops over all of them use, beside siblings that end.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct LoopedUseTests {
  /// How a program uses the sessions that it keeps, after each request.
  private enum Use {
    /// A loop over all sessions, as when a message goes to each of them.
    case loop
    /// The same loop, and some sessions by themselves, in no order.
    case loopAndSingle
  }

  /// Serves requests. Every fourth request leaves its session in the store. Each other session ends after four more
  /// requests.
  private func server(_ use: Use) -> RequestServer {
    let server = RequestServer()
    var kept: [HeapBuilder.Object] = []
    var open: [HeapBuilder.Object] = []
    var state: UInt64 = 7
    for index in 0..<240 {
      let session = server.request(keep: true)
      if index % 4 == 0 {
        kept.append(session)
        server.put(session)
      } else {
        open.append(session)
      }
      if open.count > 4 { server.heap.free(open.removeFirst(), stack: server.inner) }
      for session in kept { server.heap.retain(session, stack: server.inner) }
      guard use == .loopAndSingle else { continue }
      for _ in 0..<4 where !kept.isEmpty {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        server.heap.retain(kept[Int(state >> 33) % kept.count], stack: server.inner)
      }
    }
    for session in open { server.heap.free(session, stack: server.inner) }
    for session in kept { server.heap.retain(session, stack: server.inner) }
    return server
  }

  /// The effects of the rule about loops.
  private func effects(_ server: RequestServer) throws -> [SuspicionAccount.Effect] {
    try server.accounts().flatMap(\.entries).filter { $0.rule == .loopedOver }.map(\.effect)
  }

  @Test func loopsOverSurvivorsDoNotProtectThem() throws {
    let server = server(.loop)
    #expect(try effects(server) == [.supports])
    let finding = try server.finding()
    #expect(finding.instances == 60 && !finding.isWeak)
  }

  @Test func usesOfSingleSurvivorsProtectThem() throws {
    let server = server(.loopAndSingle)
    #expect(try effects(server) == [.weakens])
    #expect(try server.findings().allSatisfy(\.isWeak))
  }
}
