// Objects that code removes from one collection, and not from another.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct LeftBehindTests {
  /// The end of a session that was closed by its client.
  enum Close: CaseIterable {
    /// It leaves the list of open sessions and the store.
    case both
    /// It leaves only the list.
    case one
    /// It leaves the list, waits, and is opened again.
    case reopened
  }

  /// Serves requests. Each session is in a list and in the store. The server ends sessions of any age: they leave both.
  /// The client closes every sixth session. Every third session stays open.
  private func server(_ close: Close) -> RequestServer {
    let server = RequestServer(isCalledBack: false)
    let heap = server.heap
    var ending: [HeapBuilder.Object] = []
    var closing: [HeapBuilder.Object] = []
    var waiting: [HeapBuilder.Object] = []
    var kept: [HeapBuilder.Object] = []
    var state: UInt64 = 7
    func end(_ session: HeapBuilder.Object) {
      heap.release(session, stack: server.inner)
      heap.release(session, stack: server.inner)
      heap.free(session, stack: server.inner)
    }
    for index in 0..<240 {
      let session = server.request(keep: true)
      heap.retain(session, stack: server.inner)
      switch index % 6 {
      case 0, 2, 4: ending.append(session)
      case 1: closing.append(session)
      default: kept.append(session)
      }
      // A session that was closed earlier is opened again by now.
      if waiting.count > 8 {
        let session = waiting.removeFirst()
        heap.retain(session, stack: server.inner)
        kept.append(session)
      }
      if index % 3 == 2, ending.count > 20 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        end(ending.remove(at: Int(state >> 33) % ending.count))
      }
      guard closing.count > 5 else { continue }
      let closed = closing.removeFirst()
      if close == .both {
        end(closed)
      } else {
        heap.release(closed, stack: server.inner)
        if close == .reopened { waiting.append(closed) } else { kept.append(closed) }
      }
    }
    for session in ending + closing + waiting + kept { server.put(session) }
    return server
  }

  /// The effects of the rule.
  private func entries(_ server: RequestServer) throws -> [SuspicionAccount.Entry] {
    try server.accounts().flatMap(\.entries).filter { $0.rule == .leftBehind }
  }

  @Test func objectsThatLeaveOneOfTwoCollectionsAreLeftBehind() throws {
    let server = server(.one)
    #expect(try entries(server).map(\.effect) == [.supports])
    let finding = try server.finding()
    // Of 35 closed sessions, the last ones were closed shortly before the last session ended.
    #expect((30...35).contains(finding.instances) && !finding.isWeak && finding.verdict == .outlived)
  }

  @Test func objectsThatLeaveBothAreNot() throws { #expect(try entries(server(.both)).isEmpty) }

  /// The time that such sessions spend with one owner is ordinary.
  @Test func objectsThatGetAnOwnerAgainAreNot() throws { #expect(try entries(server(.reopened)).isEmpty) }
}
