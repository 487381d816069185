// The moments when an owner lets an object go that others keep.

import Testing

@testable import TraceReading

@Suite struct PartingsTests {
  /// A group of objects, and the events of their process. Each event takes one unit of work.
  private final class Process {
    private var partings: Partings
    private var live: [LiveBlock] = []
    private var work: UInt64 = 0
    private static let site = SiteID(2)

    init(limit: Int = 100) { partings = Partings([Self.site], until: 1_000_000, limit: limit) }

    private func event(_ operation: Operation) -> TraceEvent {
      work += 1
      return TraceEvent(operation: operation, time: work * 10)
    }

    /// Makes an object, and returns its number.
    func make(at site: SiteID = site) -> Int {
      let block = LiveBlock(
        address: 0x1000 + 64 * UInt64(live.count), size: 48, birthTime: work * 10, site: site, ordinal: work)
      partings.blockAllocated(block, by: event(.object))
      live.append(block)
      return live.count - 1
    }

    func retain(_ object: Int) { partings.referencesChanged(live[object], by: event(.retain)) }
    func release(_ object: Int) { partings.referencesChanged(live[object], by: event(.release)) }
    func free(_ object: Int) { partings.blockFreed(live[object], by: event(.free)) }

    /// Uses an object for a moment, some times.
    func use(_ object: Int, _ times: Int) {
      for _ in 0..<times {
        retain(object)
        release(object)
      }
    }

    func identity(_ object: Int) -> BlockIdentity { live[object].identity }

    /// Returns the result. The process must not go on.
    func result() -> Partings.Result? { partings.finish()?[Self.site] }

    /// Returns the parting of a live object, with its level. The process must not go on.
    func parting(_ object: Int) -> (level: Int, parting: Partings.Parting)? {
      result()?.live[live[object].identity]
    }
  }

  @Test func objectPartsWhenOneOfTwoOwnersLetsItGo() throws {
    let process = Process()
    let (object, other) = (process.make(), process.make())
    process.retain(object)
    process.use(other, 20)
    process.release(object)
    process.use(other, 30)
    let result = try #require(process.result())
    let found = try #require(result.live[process.identity(object)])
    #expect(found.level == 1 && found.parting.after.work == 60 && result.lone[0].work <= 2)
    // A use for a moment is no owner.
    #expect(result.live[process.identity(other)] == nil)
  }

  @Test func useAfterThePartingDoesNotEndTheLoneLife() throws {
    let process = Process()
    let (object, other) = (process.make(), process.make())
    process.retain(object)
    process.use(other, 40)
    process.release(object)
    process.use(object, 5)
    process.use(other, 10)
    let parting = try #require(process.parting(object)).parting
    #expect(parting.after.work == 30)
  }

  @Test func newOwnerEndsTheLoneLife() throws {
    let process = Process()
    let (object, other) = (process.make(), process.make())
    process.retain(object)
    process.use(other, 20)
    process.release(object)
    process.use(other, 7)
    process.retain(object)
    process.use(other, 10)
    process.release(object)
    process.use(other, 2)
    let result = try #require(process.result())
    let parting = try #require(result.live[process.identity(object)]).parting
    #expect(parting.after.work == 4 && result.lone[0].work == 15)
  }

  @Test func endedObjectHadALoneLifeFromItsPartingToItsEnd() throws {
    let process = Process()
    let (object, other) = (process.make(), process.make())
    process.retain(object)
    process.use(other, 20)
    process.release(object)
    process.use(other, 3)
    process.release(object)
    process.free(object)
    let result = try #require(process.result())
    let ended = result.ended
    #expect(result.lone[0].work >= 8)
    #expect(ended.map(\.count) == [1, 0, 0])
  }

  /// A third owner lets the object go. Two remain.
  @Test func levelIsTheNumberOfReferencesThatRemain() throws {
    let process = Process()
    let (object, other) = (process.make(), process.make())
    process.retain(object)
    process.retain(object)
    process.use(other, 20)
    process.release(object)
    process.use(other, 3)
    let found = try #require(process.parting(object))
    #expect(found.level == 2 && found.parting.after.work == 6)
  }

  @Test func otherSitesAndTooManyObjectsHaveNoResult() throws {
    let process = Process()
    let object = process.make(at: SiteID(0))
    process.retain(object)
    process.release(object)
    #expect(try #require(process.result()).live.isEmpty)
    let small = Process(limit: 2)
    for _ in 0..<3 { _ = small.make() }
    #expect(small.result() == nil)
  }
}
