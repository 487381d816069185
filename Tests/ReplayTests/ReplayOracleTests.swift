import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

/// Replays events one by one with dictionaries. It is slow, but obviously correct.
struct NaiveHeap {
  struct Block: Equatable {
    var size: UInt64
    var site: SiteKey
    var thread: UInt32
    var ordinal: Int
  }

  var live: [UInt64: Block] = [:]
  var totals: [SiteKey: SiteTotal] = [:]
  var peakBytes: UInt64 = 0
  var peakShares: [SiteKey: (bytes: UInt64, blocks: UInt64)] = [:]
  var peakTime: UInt64 = 0
  var mismatches: [Mismatch: UInt64] = [:]
  var allocations: [UInt32: Int] = [:]
  private var given: [UInt32: (address: UInt64, block: Block)] = [:]
  private var orphanGiven: [UInt32: UInt64] = [:]
  var isForked = false

  var liveBytes: UInt64 { live.values.reduce(0) { $0 + $1.size } }

  mutating func take(_ event: TraceEvent) {
    switch event.operation.effect {
    case .allocation:
      if event.address == 0 {
        mismatches[.nullAddress, default: 0] += 1
        return
      }
      if live[event.address] != nil {
        mismatches[.allocationOverLive, default: 0] += 1
        live[event.address] = nil
      }
      let site = SiteKey(operation: event.operation, stack: event.stack, type: event.type)
      live[event.address] = Block(
        size: event.size, site: site, thread: event.thread, ordinal: allocations[event.thread, default: 0])
      allocations[event.thread, default: 0] += 1
      totals[site, default: SiteTotal()].allocatedBlocks += 1
      totals[site]!.allocatedBytes += event.size
      notePeak(event)
    case .free:
      guard let block = live.removeValue(forKey: event.address) else {
        mismatches[event.address == 0 ? .nullAddress : isForked ? .inheritedFree : .orphanFree, default: 0] += 1
        if event.operation == .reallocFree, event.address != 0 {
          given[event.thread] = nil
          orphanGiven[event.thread] = event.address
        }
        return
      }
      if event.operation == .reallocFree {
        given[event.thread] = (event.address, block)
      } else if block.thread == event.thread, allocations[block.thread]! - block.ordinal - 1 <= 1 {
        totals[block.site]!.temporaryBlocks += 1
        totals[block.site]!.temporaryBytes += block.size
      }
    case .reallocFailed:
      if let last = given[event.thread], last.address == event.address, live[event.address] == nil {
        live[event.address] = last.block
        given[event.thread] = nil
        notePeak(event)
      } else if orphanGiven[event.thread] == event.address {
        orphanGiven[event.thread] = nil
      } else {
        mismatches[.orphanReallocFailure, default: 0] += 1
      }
    case .heapListed:
      for block in live.values where block.thread == event.thread && allocations[block.thread]! - block.ordinal - 1 <= 1
      {
        totals[block.site]!.temporaryBlocks += 1
        totals[block.site]!.temporaryBytes += block.size
      }
      live = [:]
    case .mark: break
    case .retain, .release, .unownedRetain, .unownedRelease:
      guard let block = live[event.address] else {
        mismatches[event.address == 0 ? .nullAddress : .unknownObject, default: 0] += 1
        return
      }
      switch event.operation.effect {
      case .retain: totals[block.site]!.retains += event.referenceCount
      case .release: totals[block.site]!.releases += event.referenceCount
      case .unownedRetain: totals[block.site]!.unownedRetains += event.referenceCount
      default: totals[block.site]!.unownedReleases += event.referenceCount
      }
    case .unknown:
      mismatches[.unknownOperation, default: 0] += 1
    }
  }

  private mutating func notePeak(_ event: TraceEvent) {
    let bytes = liveBytes
    guard bytes > peakBytes else { return }
    peakBytes = bytes
    peakTime = event.time
    peakShares = [:]
    for block in live.values {
      peakShares[block.site, default: (0, 0)].bytes += block.size
      peakShares[block.site]!.blocks += 1
    }
  }

  /// The totals, including the live blocks and the blocks at the peak.
  var finished: [SiteKey: SiteTotal] {
    var result = totals
    for block in live.values {
      result[block.site]!.liveBlocks += 1
      result[block.site]!.liveBytes += block.size
    }
    for (site, share) in peakShares {
      result[site]!.peakBytes = share.bytes
      result[site]!.peakBlocks = share.blocks
    }
    return result
  }
}

@Suite struct ReplayOracleTests {
  private func compare(_ builder: TraceBuilder, _ inOrder: [TraceEvent], peakLimit: UInt32 = .max) throws {
    var naive = NaiveHeap()
    for event in inOrder { naive.take(event) }
    let reader = try builder.reader()
    let replayer = Replayer.replay(reader, SiteTotals(peakLimit: peakLimit))
    var totals: [SiteKey: SiteTotal] = [:]
    for (number, total) in replayer.observer.totals.enumerated() {
      var key = replayer.key(of: SiteID(UInt32(number)))
      key.stack = builder.stack(reader.definitions.stacks.keys(of: key.stack))
      totals[key] = total
    }
    #expect(totals == naive.finished)
    #expect(replayer.observer.peakBytes == naive.peakBytes)
    #expect(replayer.observer.peakTime == naive.peakTime)
    #expect(replayer.observer.peakBlocks == naive.peakShares.values.reduce(0) { $0 + $1.blocks })
    #expect(replayer.observer.liveBytes == naive.liveBytes)
    #expect(replayer.liveCount == naive.live.count)
    var live: [UInt64: UInt64] = [:]
    replayer.forEachLiveBlock { live[$0.address] = $0.size }
    #expect(live == naive.live.mapValues(\.size))
    for mismatch in Mismatch.allCases {
      #expect(replayer.mismatchCounts[mismatch.rawValue] == naive.mismatches[mismatch] ?? 0, "\(mismatch)")
    }
    for operation in 0..<UInt8(48) {
      #expect(replayer.eventCounts[Int(operation)] == UInt64(inOrder.count { $0.operation.rawValue == operation }))
    }
    for thread in replayer.threadTotals {
      #expect(thread.events == UInt64(inOrder.count { $0.thread == thread.number }))
      #expect(thread.allocations == UInt64(naive.allocations[thread.number] ?? 0))
    }
  }

  @Test(arguments: TestTier.seeds(0..<40))
  func replayOfOneThreadMatchesAnOracle(seed: UInt64) throws {
    var heap = RandomHeap(seed: seed)
    heap.oddOneIn = seed % 2 == 0 ? 0 : 20
    heap.liveBlocks = [5, 50, 300][Int(seed % 3)]
    let (builder, inOrder) = heap.build()
    try compare(builder, inOrder)
  }

  @Test(arguments: TestTier.seeds(0..<40))
  func replayOfManyThreadsMatchesAnOracle(seed: UInt64) throws {
    var heap = RandomHeap(seed: seed &+ 500)
    heap.threads = UInt32(2 + seed % 7)
    heap.liveBlocks = [5, 50, 300][Int(seed % 3)]
    var (builder, inOrder) = heap.build()
    builder.eventsPerChunk = 50
    try compare(builder, inOrder)
  }

  /// The sums of a site take less memory while all of its blocks have the same size.
  @Test(arguments: TestTier.seeds(0..<20))
  func replayOfSitesWithOneSizeMatchesAnOracle(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var builder = TraceBuilder()
    let stacks = (1...12 as ClosedRange<UInt64>).map { builder.stack([0x10, $0]) }
    var inOrder: [TraceEvent] = []
    func add(_ operation: TraceReading.Operation, _ address: UInt64, size: UInt64 = 0, stack: StackID) {
      let event = TraceEvent(
        operation: operation, address: address, size: size, stack: stack, time: 8 * UInt64(inOrder.count), thread: 1)
      inOrder.append(event)
      builder.append(event)
    }
    for step in 0..<2000 as Range<Int> {
      let site = Int(random.next() % 12)
      let address = 0x1000 + 16 * (random.next() % 40)
      switch random.next() % 8 {
      case 0...3:
        // Some sites have other sizes from some moment on, and some have blocks that are larger than 4 GiB.
        let base: UInt64 = site == 11 ? 5 << 30 : UInt64(8 * site)
        add(
          .malloc, address, size: base + (site % 3 == 0 && step > 1000 ? random.next() % 100 : 0), stack: stacks[site])
      case 4...6: add(.free, address, stack: stacks[site])
      default:
        add(.reallocFree, address, stack: stacks[site])
        if random.oneIn(2) { add(.reallocFailed, address, stack: stacks[site]) }
      }
    }
    try compare(builder, inOrder)
    // Peaks are counted from 0 again after a few of them.
    try compare(builder, inOrder, peakLimit: 1 + UInt32(seed))
  }

  /// The data of many sites is prefetched before the events are applied.
  @Test(arguments: TestTier.seeds(0..<2))
  func replayOfManySitesMatchesAnOracle(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var builder = TraceBuilder()
    let stacks = (0..<4500 as Range<UInt64>).map { builder.stack([0x10, 0x100 + $0 % 70, 0x10_000 + $0]) }
    var inOrder: [TraceEvent] = []
    for step in 0..<9000 as Range<UInt64> {
      // Many events are at addresses without a block, or at the address of a live block.
      let address = 0x1000 + 16 * (random.next() % (random.oneIn(2) ? 400 : 4000))
      let operation: Operation = step < 4500 ? .malloc : [.malloc, .free, .retain, .release][Int(random.next() % 4)]
      let stack = stacks[Int(step < 4500 ? step : random.next() % 4500)]
      inOrder.append(
        TraceEvent(
          operation: operation, address: address, size: operation == .malloc ? 8 + step % 100 : 0, stack: stack,
          time: 8 * step, thread: 1))
      builder.append(inOrder[inOrder.count - 1])
    }
    try compare(builder, inOrder)
  }

  @Test func blockTableSurvivesAMillionChanges() {
    var random = SeededRandom(seed: 3)
    let memory = TableOwner()
    let table = BlockTable(minimumCapacity: 4, ownedBy: memory)
    var oracle: [UInt64: UInt64] = [:]
    for step in 0..<1_000_000 as Range<UInt64> {
      // A few thousand addresses form long runs, so that clusters form and are cut in the middle. Some addresses differ
      // only in their highest bits, and some have the same part in the slots.
      let high = (random.next() % 2) << 60
      let address = (16 * (1 + random.next() % 3000) | high) ^ ((random.next() % 2) * high >> 32)
      if let found = table.find(address) {
        #expect(found.pointee.size == oracle[address])
        if random.oneIn(2) {
          #expect(table.remove(address)?.pointee.size == oracle[address])
          oracle[address] = nil
        }
      } else {
        #expect(oracle[address] == nil)
        table.insert(LiveBlock(address: address, size: step, birthTime: 0, site: SiteID(0)))
        oracle[address] = step
      }
    }
    var all: [UInt64: UInt64] = [:]
    table.forEach { all[$0.address] = $0.size }
    #expect(all == oracle && table.count == oracle.count)
    #expect(table.find(0) == nil)
    withExtendedLifetime(memory) {}
  }

  @Test func sitesKeepTheirNumbersAsTheirCountGrows() {
    let memory = TableOwner()
    let table = SiteTable(ownedBy: memory)
    for round in 0..<2 {
      for n in 0..<50_000 as Range<UInt32> {
        let key = SiteKey(operation: n % 2 == 0 ? .object : .malloc, stack: StackID(n / 4), type: n % 4 / 2)
        #expect(table.site(key).rawValue == n, "round \(round)")
      }
    }
    #expect(table.count == 50_000)
    withExtendedLifetime(memory) {}
  }
}
