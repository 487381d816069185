// Objects that stay because the program goes on to need them, beside objects that it forgets.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct NeededObjectTests {
  private struct Dice {
    var state: UInt64 = 7

    mutating func roll(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
  }

  /// The objects that each request uses, besides its own session.
  enum Use: CaseIterable {
    case none
    /// A few sessions, old or new.
    case single
    /// Now and then, all sessions.
    case loop
    /// The sessions of the last requests.
    case young
  }

  @Test(arguments: Use.allCases) func sessionsUsedOneByOneAreNeeded(use: Use) throws {
    let server = RequestServer()
    var kept: [HeapBuilder.Object] = []
    var dice = Dice()
    for index in 0..<300 {
      let session = server.request(keep: true)
      server.put(session)
      kept.append(session)
      let used =
        switch use {
        case .none: [HeapBuilder.Object]()
        case .single: (0..<6).map { _ in kept[dice.roll(kept.count)] }
        case .loop: index % 75 == 74 && index < 299 ? kept : []
        case .young: Array(kept.suffix(6))
        }
      for session in used { server.heap.retain(session, stack: server.inner) }
    }
    for _ in 0..<40 { server.heap.visit(server.inner) }
    #expect(try server.findings().map(\.isWeak) == [use == .single])
  }

  /// A thread adds three sessions to a list, and then takes the oldest two from it.
  @Test(arguments: [true, false]) func nothingUsesTheMembersOfAQueue(isUsed: Bool) throws {
    let server = RequestServer(isCalledBack: false)
    var waiting: [HeapBuilder.Object] = []
    for _ in 0..<150 {
      for _ in 0..<3 { waiting.append(server.request(keep: true)) }
      for _ in 0..<2 { server.heap.free(waiting.removeFirst(), stack: server.inner) }
      if isUsed { for session in waiting { server.heap.retain(session, stack: server.inner) } }
    }
    for session in waiting { server.put(session) }
    let listed = try server.findings().filter { !$0.isWeak }
    #expect(listed.map(\.verdict) == (isUsed ? [] : [.accumulating]))
  }

  /// Each session has a note with an unowned reference to it. The session keeps its note, or a table has all notes.
  @Test(arguments: [true, false]) func objectsThatOthersReferToAreNeeded(haveOwnNotes: Bool) throws {
    let server = RequestServer()
    server.heap.type("App.Note", fields: [HeapBuilder.field("session", 0, .unowned)])
    let table = server.heap.malloc(1 << 14, stack: [0x1000_1010])
    server.heap.global(table)
    for index in 0..<300 {
      let session = server.request(keep: true)
      server.put(session)
      let note = server.heap.object("App.Note", stack: server.inner)
      server.heap.set(note, 0, session)
      if haveOwnNotes {
        server.heap.set(session, 1, note)
      } else {
        server.heap.words[table.address + 16 + 8 * UInt64(index)] = note.address
      }
    }
    #expect(try server.findings().map(\.isWeak) == [!haveOwnNotes])
  }
}
