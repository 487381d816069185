// Uses of single objects, and loops over all objects of a group.

import Testing

@testable import TraceReading

@Suite struct SingleUsesTests {
  /// A group of objects that live until the end, and the events of the process.
  private final class Process {
    private(set) var blocks: [LiveBlock]
    private var uses: SingleUses
    private var ordinal: UInt64 = 0
    private static let site = SiteID(3)
    static let end: UInt64 = 1_000_000_000

    /// Each object is made after 100 other events.
    init(_ count: Int) {
      blocks = (0..<count).map { index in
        LiveBlock(
          address: 0x1000 + 64 * UInt64(index), size: 48, birthTime: 1, site: Self.site, ordinal: UInt64(index) * 100)
      }
      uses = SingleUses([.init(blocks: blocks, sites: [Self.site])], until: Self.end)
      for block in blocks { uses.blockAllocated(block, by: TraceEvent(operation: .object)) }
      ordinal = UInt64(count) * 100
    }

    /// Retains and releases an object, between `work` other events.
    func use(_ index: Int, work: UInt64 = 100, time: UInt64 = 1) {
      for operation in [Operation.retain, .release] {
        ordinal += work / 2
        blocks[index].noteUse(at: ordinal)
        uses.referencesChanged(blocks[index], by: TraceEvent(operation: operation, time: time))
      }
    }

    /// Makes an object that ends before the snapshot.
    func makeTemporary() {
      let block = LiveBlock(address: 0x90_0000, size: 48, birthTime: 1, site: Self.site, ordinal: ordinal)
      uses.blockAllocated(block, by: TraceEvent(operation: .object))
    }

    /// Returns the uses. The process must not go on.
    func found() -> [SingleUses.Use] { uses.uses()[0] }

    /// The present, in the unit of uses.
    var now: UInt32 { UInt32(ordinal / LiveBlock.useUnit) }
  }

  @Test func loopsInTheSameOrderAreNoUse() {
    let process = Process(40)
    // The code that makes the objects, and the first loop.
    for _ in 0..<2 { for index in 0..<40 { process.use(index) } }
    let first = process.now
    for _ in 0..<20 { for index in 0..<40 { process.use(index) } }
    let found = process.found()
    // The first element has followed the last one only once when the second loop begins.
    #expect(found[1...].allSatisfy { $0.last > 0 && $0.last <= first })
  }

  @Test func firstLoopInTheOrderOfBirthsIsAUse() {
    let process = Process(40)
    for index in 0..<40 { process.use(index) }
    let made = process.now
    for index in 0..<40 { process.use(index) }
    // The loop has the order of the births. That order does not show that the loop ran before.
    #expect(process.found().allSatisfy { $0.last > made })
  }

  @Test func searchThatEndsEarlyIsNoUse() {
    let process = Process(40)
    for _ in 0..<2 { for index in 0..<12 { process.use(index) } }
    let first = process.now
    for round in 0..<60 { for index in 0..<(round % 2 == 0 ? 6 : 12) { process.use(index) } }
    let found = process.found()
    // A search disturbs the order where it begins, and after its end.
    #expect([1, 2, 3, 4, 5, 8, 9, 10, 11].allSatisfy { found[$0].last <= first })
    #expect(found[12...].allSatisfy { $0.last == 0 })
  }

  @Test func usesInNoOrderAreUses() {
    let process = Process(40)
    var state: UInt64 = 7
    for _ in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      process.use(Int(state >> 33) % 40)
    }
    let end = process.now
    #expect(process.found().allSatisfy { Double($0.last) > 0.5 * Double(end) })
  }

  @Test func useOfOneObjectBetweenLoopsIsAUse() {
    let process = Process(40)
    for round in 0..<20 {
      for index in 0..<40 { process.use(index) }
      process.use(round % 2 == 0 ? 17 : 23)
    }
    let (end, found) = (process.now, process.found())
    let used = found.indices.filter { Double(found[$0].last) > 0.8 * Double(end) }
    #expect(used.contains(17) && used.contains(23))
    // The next loop begins with the first object.
    #expect(used.filter { $0 > 0 } == [17, 23])
  }

  @Test func loopInANewOrderIsNoUseAfterSeveralLoops() {
    let process = Process(40)
    let shuffled = (0..<40).map { $0 * 7 % 40 }
    for _ in 0..<12 { for index in 0..<40 { process.use(index) } }
    let before = process.now
    for _ in 0..<3 { for index in shuffled { process.use(index) } }
    let found = process.found()
    #expect(found.count { $0.last > before } <= 12)
  }

  @Test func firstLoopIsAUse() {
    let process = Process(40)
    for index in 0..<40 { process.use(index, work: 10_000) }
    let end = process.now
    #expect(process.found().allSatisfy { $0.last > end / 64 && $0.ages > 1 })
  }

  @Test func eventsAfterTheSnapshotAreIgnored() {
    let process = Process(8)
    process.use(3, time: Process.end + 1)
    #expect(process.found().allSatisfy { $0.last == 0 && $0.ages == 0 })
  }

  @Test func spanIsMeasuredInBirthsThatFollow() {
    let process = Process(10)
    process.use(3)
    for _ in 0..<30 { process.makeTemporary() }
    process.use(3)
    for _ in 0..<10 { process.makeTemporary() }
    // Nothing is made after this use.
    process.use(4)
    let found = process.found()
    #expect(found[3].span == Double(40 - 3) / 50)
    #expect(found.indices.filter { found[$0].span > 0 } == [3])
  }

  @Test func passHasNoSpan() {
    let process = Process(10)
    for round in 0..<4 {
      for index in 0..<10 { process.use(round % 2 == 0 ? index : index * 3 % 10) }
      for _ in 0..<10 { process.makeTemporary() }
    }
    #expect(process.found().allSatisfy { $0.span == 0 })
  }

  @Test func birthsOfEndedSiblingsCount() {
    let process = Process(10)
    for _ in 0..<30 { process.makeTemporary() }
    #expect(process.found().map(\.births) == (0..<10).map { Double($0) / 40 })
  }
}
