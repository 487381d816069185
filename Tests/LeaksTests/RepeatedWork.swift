// A program that repeats the same work, for tests of growth in each round.

import TraceTestSupport

@testable import LeakDetection

/// A registry that a global variable holds. It has a collection of sessions and a collection of numbers.
final class RepeatedWork {
  let heap = HeapBuilder()
  let registry: HeapBuilder.Object
  private(set) var sessions: HeapBuilder.Object
  private(set) var numbers: HeapBuilder.Object
  private var held: [HeapBuilder.Object] = []
  private static let capacity = 200
  private static let sessionsType = "Swift._ContiguousArrayStorage<App.Session>"
  private static let numbersType = "Swift._ContiguousArrayStorage<Swift.Int>"

  init() {
    heap.type("App.Session", fields: [HeapBuilder.field("next", 0)])
    heap.type(
      "App.Registry",
      fields: [HeapBuilder.field("sessions", 0), HeapBuilder.field("numbers", 1), HeapBuilder.field("first", 2)])
    heap.type(Self.sessionsType, fields: (2..<Self.capacity).map { HeapBuilder.field("[]", $0) })
    heap.type(Self.numbersType)
    registry = heap.object("App.Registry")
    heap.global(registry)
    sessions = heap.object(Self.sessionsType, size: UInt64(32 + 8 * Self.capacity))
    numbers = heap.object(Self.numbersType, size: 64)
    heap.set(registry, 0, sessions)
    heap.set(registry, 1, numbers)
    count(numbers, 0)
    store()
  }

  func make() -> HeapBuilder.Object { heap.object("App.Session", stack: [0x1000_1000, 0x1000_1200]) }

  /// Adds sessions. Returns the times of their births by address.
  @discardableResult
  func add(_ count: Int) -> [UInt64: UInt64] {
    var births: [UInt64: UInt64] = [:]
    for _ in 0..<count {
      let session = make()
      births[session.address] = heap.time
      held.append(session)
    }
    store()
    return births
  }

  /// Ends the oldest sessions.
  func removeFirst(_ count: Int) {
    for object in held.prefix(count) { heap.free(object) }
    held.removeFirst(min(count, held.count))
    store()
  }

  func removeLast(_ count: Int) {
    for object in held.suffix(count) { heap.free(object) }
    held.removeLast(min(count, held.count))
    store()
  }

  /// Moves the collection to a larger block.
  func regrow() {
    let old = sessions
    sessions = heap.object(Self.sessionsType, size: UInt64(32 + 8 * Self.capacity))
    heap.set(registry, 0, sessions)
    heap.free(old)
    store()
  }

  /// Sets the number of numbers. Their block doubles in size whenever they do not fit.
  func setNumbers(_ total: UInt64) {
    if 32 + 8 * total > numbers.size {
      let old = numbers
      numbers = heap.object(Self.numbersType, size: numbers.size * 2)
      heap.set(registry, 1, numbers)
      heap.free(old)
    }
    count(numbers, total)
  }

  func count(_ collection: HeapBuilder.Object, _ total: UInt64) { heap.words[collection.address + 16] = total }

  private func store() {
    count(sessions, UInt64(held.count))
    for index in 2..<Self.capacity {
      heap.words[sessions.address + 16 + 8 * UInt64(index)] = index - 2 < held.count ? held[index - 2].address : 0
    }
  }

  /// Runs `count` rounds, and marks the end of each round from outside.
  func rounds(_ count: Int = 6, _ work: (Int) -> Void) {
    for round in 1...count {
      work(round)
      heap.endRound()
    }
  }

  static let functions: [UInt64: String] = [0x1000_1000: "main()", 0x1000_1200: "Registry.open()"]
  func growth() throws -> GrowthReport { try heap.growth(Self.functions) }
}
