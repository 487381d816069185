import Testing
import TraceTestSupport

@testable import TraceReading

private func replay(_ builder: TraceBuilder) throws -> Replayer<SiteTotals> {
  Replayer.replay(try builder.reader(), SiteTotals())
}

extension Replayer where Observer == SiteTotals {
  subscript(mismatch: Mismatch) -> UInt64 { mismatchCounts[mismatch.rawValue] }
  var sum: SiteTotal { observer.totals.reduce(into: SiteTotal()) { $0 += $1 } }
}

@Suite struct ReplayRuleTests {
  @Test func failedReallocRestoresTheOldBlock() throws {
    var trace = TraceBuilder()
    let site = trace.stack([0x10])
    trace.event(.malloc, 0x100, size: 50, stack: site, time: 8)
    trace.event(.reallocFree, 0x100, time: 16)
    trace.event(.reallocFailed, 0x100, size: 0, time: 24)
    let reader = try trace.reader()
    let result = Replayer.replay(reader, SiteTotals())
    let block = try #require(result.liveBlock(at: RuntimeAddress(0x100)))
    #expect(block.size == 50 && block.birthTime == 8)
    #expect(reader.definitions.stacks.keys(of: result.key(of: block.site).stack) == trace.stacks.keys(of: site))
    #expect(result.sum.allocatedBlocks == 1 && result.sum.liveBytes == 50 && result.observer.peakBytes == 50)
    #expect(Mismatch.allCases.allSatisfy { result[$0] == 0 })
  }

  @Test func reallocIsAFreeAndAnAllocationButNotTemporary() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 50, time: 8)
    trace.event(.reallocFree, 0x100, time: 16)
    trace.event(.realloc, 0x100, size: 70, time: 24)
    let result = try replay(trace)
    #expect(result.sum.liveBytes == 70 && result.sum.allocatedBytes == 120 && result.sum.temporaryBlocks == 0)
    #expect(result.observer.peakBytes == 70)
  }

  @Test func failedReallocOfAnUnknownBlockIsOneOrphan() throws {
    var trace = TraceBuilder()
    trace.event(.reallocFree, 0x100, time: 8)
    trace.event(.reallocFailed, 0x100, time: 16)
    trace.event(.reallocFailed, 0x200, time: 24)
    let result = try replay(trace)
    #expect(result[.orphanFree] == 1 && result[.orphanReallocFailure] == 1 && result.liveCount == 0)
  }

  @Test func freesOfInheritedBlocksAreCountedSeparatelyInForkedProcesses() throws {
    var trace = TraceBuilder()
    trace.definitions.append(.process(ProcessRecord(executable: "/app", flags: 4)))
    trace.event(.free, 0x100, time: 8)
    trace.event(.retain, 0x200, time: 8)
    let result = try replay(trace)
    #expect(result[.inheritedFree] == 1 && result[.orphanFree] == 0 && result[.unknownObject] == 1)
  }

  @Test func blockFreedAfterAtMostOneAllocationOfItsThreadIsTemporary() throws {
    var trace = TraceBuilder()
    func pair(_ address: UInt64, between: Int, time: UInt64, freedBy: UInt32 = 1) {
      trace.event(.malloc, address, size: 10, time: time)
      for n in 0..<between { trace.event(.calloc, address + 0x1000 * UInt64(n + 1), size: 1, time: time + 8) }
      // Allocations of other threads do not count.
      trace.event(.calloc, address + 0x80_0000, size: 1, time: time + 8, thread: 2)
      trace.event(.free, address, time: time + 16, thread: freedBy)
    }
    pair(0x10, between: 0, time: 1000)
    pair(0x20, between: 1, time: 2000)
    pair(0x30, between: 2, time: 3000)
    pair(0x40, between: 0, time: 4000, freedBy: 2)
    let result = try replay(trace)
    #expect(result.sum.temporaryBlocks == 2 && result.sum.temporaryBytes == 20)
  }

  @Test func referenceCountsAreSummedByKind() throws {
    var trace = TraceBuilder()
    trace.event(.object, 0x10, size: 16, type: 1, time: 8)
    for (operation, count) in [
      (.retain, 0), (.retainN, 5), (.nonatomicRetainN, 2), (.tryRetain, 0), (.weakLoadStrong, 0), (.weakTakeStrong, 0),
      (.unownedRetainStrong, 0), (.unownedRetainStrongAndRelease, 0), (.nonatomicRetain, 0), (.release, 0),
      (.releaseN, 3),
      (.nonatomicRelease, 0), (.nonatomicReleaseN, 4), (.unownedRetain, 0), (.unownedRelease, 0),
    ] as [(Operation, UInt64)] {
      trace.event(operation, 0x10, size: count, time: 16)
    }
    let total = try replay(trace).sum
    #expect(total.retains == 14 && total.releases == 9 && total.unownedRetains == 1)
    // The operation unownedRetainStrongAndRelease counts as one of these releases.
    #expect(total.unownedReleases == 2)
  }

  @Test func peakIsTheFirstMomentOfTheMostBytes() throws {
    var trace = TraceBuilder()
    let (a, b) = (trace.stack([0x10]), trace.stack([0x20]))
    trace.event(.malloc, 0x100, size: 100, stack: a, time: 8)
    trace.event(.malloc, 0x200, size: 50, stack: b, time: 16)
    trace.event(.free, 0x100, time: 24)
    trace.event(.malloc, 0x300, size: 100, stack: b, time: 32)
    let result = try replay(trace)
    #expect(result.observer.peakBytes == 150 && result.observer.peakTime == 16)
    #expect(result.observer.totals.map(\.peakBytes) == [100, 50])
    #expect(result.observer.totals.map(\.liveBytes) == [0, 150])
  }

  @Test func memoryFollowsLiveBlocksNotEvents() throws {
    let tree = StackTree()
    let (inner, outer) = (tree.stack([0x10]), tree.stack([0x20]))
    let encoder = EventEncoder(stacks: tree)
    encoder.begin(firstTime: 0)
    for n in 0..<200_000 as Range<UInt64> {
      encoder.append(TraceEvent(operation: .malloc, address: 16 * (n + 1), size: 8, stack: inner))
      encoder.append(TraceEvent(operation: .free, address: 16 * (n + 1), stack: outer))
    }
    var writer = TraceWriter()
    try writer.append(encoder, thread: 1, firstTime: 0)
    let result = Replayer.replay(try TraceReader(bytes: writer.bytes), SiteTotals())
    #expect(result.liveCount == 0 && result.siteCount == 1 && result.sum.temporaryBlocks == 200_000)
  }

  @Test func severalObserversReceiveTheSameEvents() throws {
    let (builder, inOrder) = RandomHeap(seed: 4).build()
    struct Counter: ReplayObserver {
      var calls = 0
      mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) { calls += 1 }
      mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) { calls += 1 }
      mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) { calls += 1 }
      mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) { calls += 1 }
      mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) { calls += 1 }
    }
    let result = Replayer.replay(try builder.reader(), ObserverPair(SiteTotals(), Counter()))
    #expect(result.observer.second.calls == inOrder.count)
    #expect(result.observer.first.totals == Replayer.replay(try builder.reader(), SiteTotals()).observer.totals)
  }

  @Test func sitesOfEqualStacksAreMerged() throws {
    var trace = TraceBuilder()
    let type = trace.type("App.Node")
    let (a, b) = (trace.stack([0x10, 0x20]), trace.stack([0x10, 0x20]))
    trace.event(.object, 0x100, size: 16, type: type, stack: a, time: 8)
    trace.event(.object, 0x200, size: 16, type: type, stack: b, time: 16)
    trace.event(.malloc, 0x300, size: 16, stack: b, time: 16)
    let analysis = AllocationAnalysis(try trace.reader())
    #expect(analysis.sites.count == 2)
    #expect(analysis.sites.first { $0.operation == .object }?.total.liveBlocks == 2)
  }

  @Test func liveBytesHaveTheResidentSizeNearestInTime() throws {
    var trace = TraceBuilder()
    trace.event(.malloc, 0x100, size: 1000, time: 1000)
    trace.event(.free, 0x100, time: 2000)
    for (time, resident) in [(0, 100), (900, 5000), (1800, 300)] as [(UInt64, UInt64)] {
      trace.definitions.append(.memory(MemorySample(time: time, resident: resident + 7, recorder: 7, peakResident: 0)))
    }
    var closing = TraceClosing(time: 3000, eventCount: 2)
    closing.residentBytes = 4000
    closing.recorderBytes = 1000
    trace.closing = closing
    let analysis = AllocationAnalysis(try trace.reader())
    #expect(
      analysis.atPeak
        == MemoryMoment(time: 1000, liveBytes: 1000, liveBlocks: 1, residentBytes: 5000, residentTime: 900))
    #expect(
      analysis.atExit == MemoryMoment(time: 3000, liveBytes: 0, liveBlocks: 0, residentBytes: 3000, residentTime: 3000))
    #expect(analysis.completeness == .whole && analysis.duration == 3e-6)
  }
}
