// Growth that repeated work proves, and growth that it cannot prove.

import TestRequirements
import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading

@Suite struct GrowthTests {
  private func finding(_ work: RepeatedWork) throws -> Finding {
    let report = try work.growth()
    #expect(report.findings.count == 1 && report.remarks.isEmpty)
    return try #require(report.findings.first)
  }

  private func expectNothing(_ work: RepeatedWork, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let report = try work.growth()
    #expect(report.findings.isEmpty && report.remarks.isEmpty, sourceLocation: sourceLocation)
  }

  @Test func moreObjectsOfOneHolderAfterEachRoundIsGrowth() throws {
    let work = RepeatedWork()
    work.rounds { _ in work.add(2) }
    let finding = try finding(work)
    #expect(finding.verdict == .growing && finding.instances == 8 && finding.path.last?.qualifiedType == "App.Session")
    #expect(finding.evidence.retention?.holder == "Registry.sessions" && finding.evidence.growth == [4, 6, 8, 10, 12])
    let rounds = try #require(finding.evidence.rounds)
    #expect(rounds.place == MarkPlace(name: "", file: "", line: 0) && rounds.first == 2 && rounds.measure == .objects)
    #expect(finding.path.last?.allocation?.function == "Registry.open()" && finding.evidence.retention?.snapshot == 6)
  }

  @Test func programsRoundHasItsNameAndPlace() throws {
    let work = RepeatedWork()
    for round in 1...5 {
      work.add(1)
      var mark = TraceMark(.round, time: 0)
      (mark.number, mark.round) = (7, UInt32(round))
      (mark.name, mark.file, mark.line) = (
        work.heap.trace.marks.intern("open"), work.heap.trace.marks.intern("App/Main.swift"), 4
      )
      work.heap.endRound(mark)
    }
    let place = MarkPlace(name: "open", file: "App/Main.swift", line: 4)
    let rounds = try #require(finding(work).evidence.rounds)
    #expect(rounds.place == place && rounds.first == 2 && rounds.measure == .objects)
  }

  @Test func reallocatedCollectionIsTheSameHolder() throws {
    let work = RepeatedWork()
    work.rounds { round in
      work.add(2)
      if round % 2 == 0 { work.regrow() }
    }
    #expect(try finding(work).evidence.growth == [4, 6, 8, 10, 12])
  }

  @Test func appendedListNodeIsHeldByTheList() throws {
    let work = RepeatedWork()
    var last: HeapBuilder.Object?
    work.rounds { _ in
      for _ in 0..<3 {
        let node = work.make()
        if let last { work.heap.set(last, 0, node) } else { work.heap.set(work.registry, 2, node) }
        last = node
      }
    }
    let finding = try finding(work)
    #expect(finding.evidence.retention?.holder == "Registry.first" && finding.evidence.growth == [6, 9, 12, 15, 18])
  }

  @Test func elementsWithoutObjectsGrowByCount() throws {
    let work = RepeatedWork()
    work.rounds { work.setNumbers(UInt64(10 * $0)) }
    let finding = try finding(work)
    #expect(finding.path.last?.kind == .array && finding.evidence.retention?.holder == "Registry.numbers")
    #expect(finding.evidence.growth == [20, 30, 40, 50, 60])
    #expect(finding.evidence.rounds?.measure == .elements)
  }

  @Test func queueWithASlowConsumerGrowsByItsElements() throws {
    let work = RepeatedWork()
    work.rounds { _ in
      work.add(10)
      work.removeFirst(8)
    }
    #expect(try finding(work).evidence.growth == [4, 6, 8, 10, 12])
  }

  @Test func capacityIsNotGrowth() throws {
    let work = RepeatedWork()
    work.rounds { round in
      work.regrow()
      work.setNumbers(UInt64(1 << round))
      work.setNumbers(5)
    }
    try expectNothing(work)
  }

  @Test func reachedLimitIsNotGrowth() throws {
    let work = RepeatedWork()
    var count = 0
    work.rounds { _ in
      work.add(20)
      count += 20
      if count > 30 { work.removeFirst(count - 30) }
      count = min(count, 30)
    }
    try expectNothing(work)
  }

  @Test func levelingOffIsNotGrowth() throws {
    let work = RepeatedWork()
    work.rounds { round in work.add(64 >> round) }
    try expectNothing(work)
  }

  @Test func roundWithoutAdditionsIsEvidenceAgainstGrowth() throws {
    let work = RepeatedWork()
    work.rounds { round in work.add(round == 4 ? 0 : 2) }
    try expectNothing(work)
  }

  @Test func firstTwoRoundsAreIgnored() throws {
    let work = RepeatedWork()
    work.rounds { round in work.add(round <= 2 ? 30 : 0) }
    try expectNothing(work)
  }

  @Test func risingCountsWithoutLastingObjectsAreNotGrowth() throws {
    let work = RepeatedWork()
    var count = 0
    // When a round ends, some requests of this round are still in progress.
    work.rounds { round in
      work.removeFirst(count)
      count = [3, 1, 2, 5, 6, 11][round - 1]
      work.add(count)
    }
    try expectNothing(work)
  }

  @Test func objectsHeldOnlyByAStackAreNotReported() throws {
    let work = RepeatedWork()
    let stack: UInt64 = 0x7000_0000_0000
    work.heap.regions.append(MemoryRegion(range: stack..<stack + 0x10000, kind: .mainStack))
    work.heap.threads = [SnapshotThread(osThread: 1, stackPointer: stack + 0x1000, threadPointer: 0, isSelf: true)]
    var place = stack + 0x2000
    work.rounds { _ in
      for _ in 0..<2 {
        work.heap.words[place] = work.make().address
        place += 8
      }
    }
    try expectNothing(work)
  }

  @Test func fewerThanFiveRoundsGiveOnlyARemark() throws {
    let work = RepeatedWork()
    work.rounds(4) { _ in work.add(2) }
    let report = try work.growth()
    #expect(report.findings.isEmpty)
    #expect(report.remarks == ["rounds marked from outside: 4 rounds with a heap image; growth is judged from 5 on"])
  }

  @Test func roundWithoutAnImageJoinsTheNext() throws {
    let work = RepeatedWork()
    for round in 1...7 {
      work.add(2)
      work.heap.endRound(isWhole: round != 5)
    }
    #expect(try finding(work).evidence.growth == [4, 6, 8, 12, 14])
  }

  @Test func testReportsOnlyItsOwnObjects() throws {
    let work = RepeatedWork()
    var own: [UInt64: UInt64] = [:]
    work.rounds { round in
      own.merge(work.add(2)) { $1 }
      // Another test at the same time is nearly done.
      work.add(round < 4 ? 9 : 0)
    }
    let report = try work.heap.growth(RepeatedWork.functions, among: own)
    #expect(report.findings.first?.evidence.growth == [4, 6, 8, 10, 12] && report.findings.count == 1)
    let others = RepeatedWork()
    var first: [UInt64: UInt64] = [:]
    others.rounds { round in
      if round == 1 { first = others.add(2) }
      others.add(2)
    }
    #expect(try others.heap.growth(RepeatedWork.functions, among: first).findings.isEmpty)
  }

  @Test func oneHoldersGrowthIsOneFinding() throws {
    let work = RepeatedWork()
    work.rounds { round in
      work.add(2)
      work.setNumbers(UInt64(2 * round))
    }
    // The numbers are a list of keys that belong to the sessions. The list is one object, although it grows by the same
    // number in each round.
    let finding = try finding(work)
    #expect(finding.path.last?.qualifiedType == "App.Session")
  }

  @Test func fingerprintIgnoresCounts() throws {
    let few = RepeatedWork(), many = RepeatedWork()
    few.rounds { _ in few.add(1) }
    many.rounds(8) { _ in many.add(7) }
    #expect(try finding(few).fingerprint == finding(many).fingerprint)
  }

  @Test(arguments: TestTier.seeds(0..<40)) func arbitraryImageWordsNeverTrap(seed: UInt64) throws {
    var random = SplitMix(seed)
    let work = RepeatedWork()
    var objects: [HeapBuilder.Object] = [work.registry, work.sessions, work.numbers]
    work.rounds { _ in
      for _ in 0..<12 {
        let object = Bool.random(using: &random) ? work.make() : work.heap.malloc(64)
        objects.append(object)
      }
      for _ in 0..<60 {
        let from = objects[Int.random(in: 0..<objects.count, using: &random)],
          to = objects[Int.random(in: 0..<objects.count, using: &random)]
        let value =
          Int.random(in: 0..<6, using: &random) == 0 ? UInt64.random(in: 0...UInt64.max, using: &random) : to.address
        work.heap.words[from.address + 8 * UInt64.random(in: 0..<6, using: &random)] = value
      }
      if Bool.random(using: &random) { work.heap.global(objects[Int.random(in: 0..<objects.count, using: &random)]) }
    }
    for finding in try work.growth().findings {
      #expect(finding.verdict == .growing && finding.evidence.growth.count == 5)
    }
  }
}

private struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
