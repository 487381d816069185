// The growth of all that a holder has, where a family is only a part of it.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct WholeOfHolderTests {
  private let server = RequestServer()
  private var heap: HeapBuilder { server.heap }
  private static let sessions = "Swift._ContiguousArrayStorage<App.Session>"
  private static let lists = "Swift._ContiguousArrayStorage<Swift.Array<App.Session>>"
  private static let entries = "Swift._ContiguousArrayStorage<App.Entry>"
  private static let count = 300
  /// Sessions in a list of a nested collection.
  private static let listSize = 10

  init() {
    for type in [Self.sessions, Self.lists, Self.entries] { heap.type(type, fields: nil) }
    heap.type("App.Entry", fields: [HeapBuilder.field("session", 0)])
  }

  /// The stack of a second caller, which makes objects of the same types.
  private var other: [UInt64] { server.outer + [0x1000_1400] }

  /// Makes a registry in a variable, with a collection.
  private func registry(of collection: String) -> HeapBuilder.Object {
    let (registry, storage) = (
      heap.object("App.Registry", stack: [0x1000_1010]),
      heap.object(collection, size: 16_384, stack: [0x1000_1010])
    )
    heap.global(registry)
    heap.set(registry, 0, storage)
    return storage
  }

  /// Returns the numbers of objects with siblings, at the beginning and at the end, that a rule noted about the sessions.
  /// Nil if it noted none.
  private func whole() throws -> (from: Int, to: Int)? {
    let entries = try server.accounts().filter { $0.type == "Session" && $0.live == Self.count }.flatMap(\.entries)
    let figures = entries.filter { $0.rule == .populationGrew && $0.figures.hasSuffix(" with siblings") }
    #expect(figures.count <= 1 && figures.allSatisfy { $0.effect == .weakens })
    let numbers = figures.first?.figures.split(separator: " ").compactMap { Int($0) }
    return numbers.map { ($0[0], $0[1]) }
  }

  /// Checks that there is a suspicion if and only if the sessions and their siblings together grow.
  private func expect(areSuspected: Bool) throws {
    let whole = try whole()
    #expect(try heap.findings(RequestServer.functions).map(\.isWeak) == (areSuspected ? [false] : []))
    #expect((whole == nil) == areSuspected)
    if let whole { #expect(whole.from > Self.count * 9 / 10 && whole.to == Self.count + Self.listSize, "\(whole)") }
  }

  @Test(
    "A family is no growth if siblings of another caller end in the same collections", arguments: [false, true],
    [false, true])
  func replaced(isNested: Bool, doEnd: Bool) throws {
    let storage = registry(of: isNested ? Self.lists : Self.sessions)
    var list = storage
    var used = 0
    func put(_ session: HeapBuilder.Object) {
      if isNested, used % Self.listSize == 0 {
        list = heap.object(Self.sessions, size: 512, stack: server.outer + [0x1000_1410])
        server.put(list, in: storage)
      }
      server.put(session, in: list)
      used += 1
    }
    let old = (0..<Self.count).map { _ in heap.object("App.Session", stack: other) }
    old.forEach(put)
    for index in 0..<Self.count {
      put(server.request(keep: true))
      // Some siblings stay, and show the place where they were made.
      if doEnd, index < Self.count - Self.listSize { heap.free(old[index], stack: server.inner) }
    }
    try expect(areSuspected: !doEnd)
  }

  @Test("A family of parts is no growth if elements of another caller end", arguments: [false, true])
  func parts(doEnd: Bool) throws {
    let storage = registry(of: Self.entries)
    let old = (0..<Self.count).map { _ in heap.object("App.Entry", stack: other) }
    for entry in old { server.put(entry, in: storage) }
    for index in 0..<Self.count {
      let session = server.request(keep: true)
      let entry = heap.object("App.Entry", stack: server.inner + [0x1000_1500])
      heap.set(entry, 0, session)
      server.put(entry, in: storage)
      if doEnd, index < Self.count - Self.listSize { heap.free(old[index], stack: server.inner) }
    }
    try expect(areSuspected: !doEnd)
  }
}
