// The ends of objects that a program frees shortly before it ends.

import Testing

@testable import TraceReading

@Suite struct TeardownTests {
  /// Events of one thread, on stacks of given depths.
  private final class Process {
    private var search: TeardownSearch
    private var live: [LiveBlock] = []
    private var time: UInt64
    private let step: UInt64
    private static let chosen = SiteID(1)
    private static let other = SiteID(0)

    /// - Parameter step: ticks from one event to the next.
    init(step: UInt64 = 10, limit: Int = 1_000, after moment: Teardown.Moment = .peak) {
      (time, self.step) = (100, step)
      search = TeardownSearch([Self.chosen], after: moment, until: 1_000_000, limit: limit)
    }

    private func event(_ operation: Operation, _ depth: UInt32) -> TraceEvent {
      time += step
      var event = TraceEvent(operation: operation, time: time, thread: 1)
      event.depth = depth
      return event
    }

    /// Makes an object, and returns its number.
    func make(isChosen: Bool = false) -> Int {
      let block = LiveBlock(
        address: 0x1000 + 64 * UInt64(live.count), size: 48, birthTime: time, site: isChosen ? Self.chosen : Self.other,
        ordinal: UInt64(live.count))
      search.blockAllocated(block, by: event(.object, 5))
      live.append(block)
      return live.count - 1
    }

    func retain(_ object: Int) { search.referencesChanged(live[object], by: event(.retain, 5)) }
    func release(_ object: Int, at depth: UInt32 = 5) {
      search.referencesChanged(live[object], by: event(.release, depth))
    }
    func free(_ object: Int, at depth: UInt32 = 6) { search.blockFreed(live[object], by: event(.free, depth)) }
    var result: Teardown? { search.teardown }
    func end(_ object: Int) -> Teardown.End? { result?.ends[live[object].identity] }
    func address(_ object: Int) -> UInt64 { live[object].address }
    var now: UInt64 { time }
  }

  @Test func endOfAnOwnerEndsItsParts() throws {
    let process = Process()
    let (service, list) = (process.make(), process.make())
    let items = (0..<3).map { _ in process.make(isChosen: true) }
    let peak = process.now
    process.release(service)
    process.release(list, at: 7)
    for item in items {
      process.release(item, at: 9)
      process.free(item, at: 10)
    }
    process.free(list, at: 8)
    process.free(service)
    let found = try #require(process.result)
    #expect(found.peak == 3 && found.rest == 0 && found.time == peak)
    #expect(items.allSatisfy { process.end($0)?.owner == process.address(list) })
    #expect(process.end(list)?.owner == process.address(service))
    #expect(process.end(service)?.owner == nil)
    #expect(items.map { process.end($0)?.order } == [0, 1, 2])
  }

  /// The second object ends in the same function, after the first.
  @Test func endsSideBySideHaveNoOwner() throws {
    let process = Process()
    let (first, second) = (process.make(isChosen: true), process.make(isChosen: true))
    // The free of the first object is not seen.
    process.release(first)
    process.release(second)
    process.free(second)
    #expect(process.end(second) != nil && process.end(second)?.owner == nil)
  }

  @Test func endsBeforeThePeakDoNotCount() throws {
    let process = Process()
    let early = process.make(isChosen: true)
    process.release(early)
    process.free(early)
    let late = [process.make(isChosen: true), process.make(isChosen: true)]
    process.free(late[0])
    let found = try #require(process.result)
    #expect(found.peak == 2 && found.rest == 1 && found.ends.count == 1)
    #expect(process.end(early) == nil && process.end(late[0]) != nil)
  }

  /// A program reads its objects once it has made all of them.
  @Test func peakLastsUntilTheFirstEnd() throws {
    let process = Process()
    let objects = [process.make(isChosen: true), process.make(isChosen: true)]
    let other = process.make()
    process.retain(objects[0])
    process.free(other)
    process.release(objects[0])
    let last = process.now
    process.release(objects[0])
    process.free(objects[0])
    process.retain(objects[1])
    let found = try #require(process.result)
    #expect(found.time == last && found.ends.count == 1)
  }

  /// The first half of the births has the peak of the first piece of work.
  @Test(arguments: [0, 500]) func earlierPeakIsThatOfTheFirstHalf(others: Int) throws {
    let process = Process()
    for _ in 0..<others { _ = process.make() }
    for _ in 0..<2 {
      let objects = (0..<40).map { _ in process.make(isChosen: true) }
      for object in objects { process.free(object) }
    }
    let found = try #require(process.result)
    #expect(found.peak == 40 && found.earlierPeak == 40)
    let growing = Process()
    for _ in 0..<others { _ = growing.make() }
    for _ in 0..<80 { _ = growing.make(isChosen: true) }
    #expect(try (40...56).contains(#require(growing.result).earlierPeak))
  }

  /// Work goes on after the peak, and some of it ends one by one.
  @Test func lastBirthIsAfterThePeak() throws {
    let process = Process(after: .lastBirth)
    let objects = (0..<3).map { _ in process.make(isChosen: true) }
    for object in objects.prefix(2) {
      process.release(object)
      process.free(object)
    }
    let last = process.make(isChosen: true)
    let moment = process.now
    process.free(last)
    let found = try #require(process.result)
    #expect(found.time == moment && found.ends.count == 1 && found.peak == 2 && found.rest == 1)
    #expect(process.end(last) != nil && process.end(objects[0]) == nil)
  }

  /// One release sets off a cascade. The end of another object is a cascade of its own.
  @Test func cascadesAreCounted() throws {
    let process = Process()
    let list = process.make()
    let items = (0..<2).map { _ in process.make(isChosen: true) }
    let single = process.make(isChosen: true)
    process.release(list)
    for item in items {
      process.release(item, at: 7)
      process.free(item, at: 8)
    }
    process.free(list)
    process.release(single)
    process.free(single)
    let cascades = try (items + [list, single]).map { try #require(process.end($0)).cascade }
    #expect(Set(cascades.prefix(3)).count == 1 && cascades[3] != cascades[0])
  }

  /// Ends at the time of the peak come after it, so the moment is earlier.
  @Test func momentIsBeforeAllEnds() throws {
    let process = Process(step: 0)
    let object = process.make(isChosen: true)
    process.free(object)
    #expect(try #require(process.result).time < process.now)
  }

  @Test func tooManyObjectsHaveNoResult() {
    let process = Process(limit: 2)
    for _ in 0..<3 { _ = process.make(isChosen: true) }
    #expect(process.result == nil)
  }
}
