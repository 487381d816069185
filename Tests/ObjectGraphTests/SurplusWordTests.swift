// Words that look like references, although the reference count shows that they are not.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceSymbolication

@Suite struct SurplusWordTests {
  private typealias Heap = HeapBuilder

  /// Returns the count word of an object with so many strong references.
  private func count(_ strong: UInt64) -> UInt64 { 3 | (strong - 1) << 33 }

  private func pairs(_ heap: HeapBuilder, _ number: Int, ownerCount: UInt64 = 1) -> [(
    owner: HeapBuilder.Object, part: HeapBuilder.Object
  )] {
    heap.type("App.Owner", fields: [Heap.field("part", 0, type: "App.Part")])
    heap.type("App.Part", fields: [Heap.field("owner", 0, type: "App.Owner")])
    return (0..<number).map { _ in
      let pair = (heap.object("App.Owner", count: count(ownerCount)), heap.object("App.Part", count: count(1)))
      heap.set(pair.0, 0, pair.1)
      heap.set(pair.1, 0, pair.0)
      return pair
    }
  }

  private func instances(_ heap: HeapBuilder, _ verdict: Verdict) throws -> [Int] {
    try heap.analysis().findings().filter { $0.verdict == verdict }.map(\.instances)
  }

  @Test func wordInLostMemoryDoesNotHideAFullyCountedCycle() throws {
    let heap = HeapBuilder()
    let pairs = pairs(heap, 5)
    let buffer = heap.malloc(64)
    heap.set(buffer, 0, pairs[2].owner)
    #expect(try instances(heap, .retainCycle) == [5])
    #expect(try instances(heap, .lost) == [1])
  }

  @Test func wordsBetweenCyclesDoNotJoinThem() throws {
    let heap = HeapBuilder()
    let pairs = pairs(heap, 4)
    // Each pair has memory of unknown layout with stale words that refer to the next pair.
    heap.type("App.Scratch", fields: nil)
    heap.type(
      "App.Owner", fields: [Heap.field("part", 0, type: "App.Part"), Heap.field("scratch", 1, type: "App.Scratch")])
    for (index, pair) in pairs.enumerated() {
      let scratch = heap.object("App.Scratch")
      heap.set(pair.owner, 1, scratch)
      heap.set(scratch, 0, pairs[(index + 1) % 4].owner)
    }
    #expect(try instances(heap, .retainCycle) == [4])
  }

  @Test func wordCoveredByTheReferenceCountIsAReference() throws {
    let heap = HeapBuilder()
    let pairs = pairs(heap, 3, ownerCount: 2)
    let buffer = heap.malloc(64)
    for index in 0..<3 { heap.set(buffer, index, pairs[index].owner) }
    #expect(try instances(heap, .retainCycle) == [])
    #expect(try instances(heap, .lost) == [1])
  }

  /// The frame of the waiting task has the second reference. A frame of another task has a stale word.
  @Test func wordInOwnedMemoryTakesPrecedence() throws {
    let heap = HeapBuilder()
    heap.type(
      "App.Session", fields: [Heap.field("scratch", 0, type: "App.Scratch"), Heap.field("own", 1, type: "App.Session")])
    heap.type("App.Scratch", fields: nil)
    let sessions = (0..<3).map { _ in heap.object("App.Session", count: count(2)) }
    for session in sessions {
      let scratch = heap.object("App.Scratch")
      heap.set(session, 0, scratch)
      heap.set(session, 1, session)
      heap.set(scratch, 0, session)
    }
    let buffer = heap.malloc(64)
    heap.set(buffer, 0, sessions[1])
    #expect(try instances(heap, .retainCycle) == [3])
    #expect(try instances(heap, .lost) == [1])
  }

  @Test func objectReachedFromARootByAWordIsInUse() throws {
    let heap = HeapBuilder()
    let pairs = pairs(heap, 3)
    heap.global(pairs[1].owner)
    #expect(try instances(heap, .retainCycle) == [2])
  }

  /// The fields of an object in `deinit` are released one after the other.
  @Test func fieldsOfAnEndingObjectDoNotCountAsReferences() throws {
    let heap = HeapBuilder()
    heap.type("App.Holder", fields: [Heap.field("item", 0, type: "App.Item")])
    heap.type("App.Item", fields: [])
    let holder = heap.object("App.Holder", count: 3 | 1 << 32)
    let item = heap.object("App.Item")
    heap.set(holder, 0, item)
    let buffer = heap.malloc(64)
    heap.set(buffer, 0, item)
    #expect(try heap.analysis().findings().filter { $0.verdict == .lost }.map { $0.path[0].type } == ["malloc"])
  }

  /// Memory of a library may have a stale word that leads to an object. The object's own references are farther away.
  @Test(arguments: [1, 2] as [UInt64]) func pathLeadsOverAStaleWordOnlyIfNoReferenceIsKnown(references: UInt64) throws {
    let heap = HeapBuilder()
    heap.type("App.Item", fields: [])
    heap.type("App.Link", fields: [Heap.field("next", 0)])
    let item = heap.object("App.Item", count: count(references))
    let buffer = heap.malloc(64)
    heap.global(buffer)
    heap.set(buffer, 0, item)
    let links = (0..<6).map { _ in heap.object("App.Link", count: count(1)) }
    heap.global(links[0])
    for (link, next) in zip(links, links.dropFirst() + [item]) { heap.set(link, 0, next) }
    let answer = try heap.analysis().explain(.type(NamePattern("Item")), limit: 2)
    let path = try #require(answer.groups.first).path.map(\.type)
    #expect(path == (references == 1 ? Array(repeating: "Link", count: 6) : ["malloc"]) + ["Item"])
  }
}
