// The one record loop: rebuilding the heap from a trace's events.

/// What one thread did.
public struct ThreadTotal: Hashable, Sendable, BitwiseCopyable {
  /// The trace's number for it, from 1.
  public var number: UInt32
  public var events: UInt64 = 0
  public var allocations: UInt64 = 0
  public var allocatedBytes: UInt64 = 0

  init(number: UInt32) { self.number = number }
}

/// Replays a trace, keeping what is live, and telling an observer. An object's death is the free of its block.
///
/// Memory in proportion to the blocks live at once, the sites and the threads, not to the events. For one thread at a time.
public struct Replayer<Observer: ReplayObserver>: EventSink {
  public var observer: Observer
  private let blocks = BlockTable()
  private let siteTable = SiteTable()
  private let threads = RowTable(blank: ThreadState(total: ThreadTotal(number: 0)))
  private var threadIndices: [UInt32: UInt32] = [:]
  private var lastThread: UInt32 = 0
  private var lastIndex = -1
  private let isForked: Bool

  private struct ThreadState: BitwiseCopyable {
    var total: ThreadTotal
    /// The block it gave to realloc last; at address 0 if none.
    var reallocated = LiveBlock(address: 0, size: 0, birthTime: 0, site: SiteID(0))
    /// Address of a block given to realloc that was an orphan.
    var orphanRealloc: UInt64 = 0
  }

  /// `isForked`: the process began as a fork, so that frees of what was never seen allocated are to be expected.
  public init(_ observer: Observer, process: ProcessRecord, stacks: StackTree, checkpoint: UInt64? = nil) {
    self.init(observer, process: process, activations: ActivationTracker(stacks: stacks), checkpoint: checkpoint)
  }

  /// With a tracker that the observer asks as well.
  init(_ observer: Observer, process: ProcessRecord, activations: ActivationTracker, checkpoint: UInt64? = nil) {
    self.observer = observer
    self.activations = activations
    isForked = process.isForked
    self.checkpoint = checkpoint ?? .max
  }

  private let activations: ActivationTracker
  /// Events of all threads so far.
  private var eventCount: UInt64 = 0

  /// Ticks. What is live after the events up to and including this time is kept in `blocksAtCheckpoint`.
  private let checkpoint: UInt64
  private var keptBlocks: [LiveBlock]?
  private var keptActivations: Activations?

  /// Where control was at the checkpoint; where it is now if no event came after it.
  public var activationsAtCheckpoint: Activations { keptActivations ?? presentActivations }

  /// The blocks that were live at the checkpoint, in no particular order; those live now if no event came after it.
  public var blocksAtCheckpoint: [LiveBlock] { keptBlocks ?? liveBlocks }

  private var liveBlocks: [LiveBlock] {
    var result: [LiveBlock] = []
    result.reserveCapacity(blocks.count)
    blocks.forEach { result.append($0) }
    return result
  }

  /// Replays a whole trace and gives the observer back, with what is live at the end.
  public static func replay(_ reader: TraceReader, _ observer: Observer, checkpoint: UInt64? = nil) -> Replayer {
    let activations = ActivationTracker(stacks: reader.definitions.stacks)
    var replayer = Replayer(observer, process: reader.definitions.process, activations: activations, checkpoint: checkpoint)
    reader.replay(into: &replayer, stacks: .allocations)
    return replayer
  }

  /// Blocks live now.
  public var liveCount: Int { blocks.count }
  public var siteCount: Int { siteTable.count }
  public func key(of site: SiteID) -> SiteKey { siteTable[site] }
  /// In order of first event.
  public var threadTotals: [ThreadTotal] { threads.all.map(\.total) }
  /// Events by operation number, those unknown included.
  public var eventCounts: [UInt64] { countsByOperation.all }
  private let countsByOperation = RowTable<UInt64>(blank: 0, count: 256)
  /// By `Mismatch`.
  public private(set) var mismatchCounts = [UInt64](repeating: 0, count: Mismatch.allCases.count)

  /// Calls `body` with each block live now, in no particular order.
  public func forEachLiveBlock(_ body: (LiveBlock) -> Void) { blocks.forEach(body) }

  /// The block live now at `address`.
  public func liveBlock(at address: RuntimeAddress) -> LiveBlock? { blocks.find(address.rawValue)?.pointee }

  @inline(__always)
  private mutating func index(of thread: UInt32) -> Int {
    if thread == lastThread, lastIndex >= 0 { return lastIndex }
    return changeThread(thread)
  }

  @inline(never)
  private mutating func changeThread(_ thread: UInt32) -> Int {
    if let known = threadIndices[thread] {
      lastIndex = Int(known)
    } else {
      lastIndex = threads.count
      threadIndices[thread] = UInt32(lastIndex)
      threads.reach(lastIndex)
      threads[lastIndex].pointee.total.number = thread
    }
    lastThread = thread
    return lastIndex
  }

  @inline(__always)
  public mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
    if event.time > checkpoint, keptBlocks == nil { reachCheckpoint() }
    let strand = advance(event)
    let verdict = apply(event, strand, mayWait: mayWait)
    if verdict == .taken, event.operation != .mark {
      countsByOperation[Int(event.operation.rawValue)].pointee &+= 1
      let thread = index(of: event.thread)
      threads[thread].pointee.total.events &+= 1
      eventCount &+= 1
    }
    return verdict
  }

  private var presentActivations: Activations {
    var numbers: [UInt32: Int] = [:]
    for (index, row) in threads.all.enumerated() { numbers[row.total.number] = index }
    return activations.present(ordinal: eventCount, threads: numbers)
  }

  @inline(never)
  private mutating func reachCheckpoint() {
    keptBlocks = liveBlocks
    keptActivations = presentActivations
  }

  @inline(__always)
  private mutating func advance(_ event: TraceEvent) -> StrandID {
    let thread = index(of: event.thread)
    return activations.advance(event, thread: thread, ordinal: eventCount) { context in taskBlock(of: context) }
  }

  /// A task's outermost context stands near the beginning of the block that the task was given, if it was given one of its own. Marks the block.
  @inline(never)
  private func taskBlock(of context: UInt64) -> UInt64? {
    var address = context & ~15
    for _ in 0..<64 where address >= 16 {
      if let block = blocks.find(address) {
        if context - address >= block.pointee.size { return nil }
        block.pointee.hasTask = true
        return address
      }
      address -= 16
    }
    return nil
  }

  private mutating func report(_ mismatch: Mismatch, _ event: TraceEvent) {
    mismatchCounts[mismatch.rawValue] &+= 1
    observer.mismatched(mismatch, event)
  }

  @inline(__always)
  private mutating func apply(_ event: TraceEvent, _ strand: StrandID, mayWait: Bool) -> EventVerdict {
    switch event.operation.effect {
    case .retain, .release, .unownedRetain, .unownedRelease:
      if let found = blocks.find(event.address) {
        found.pointee.lastUse = UInt32(truncatingIfNeeded: eventCount / LiveBlock.useUnit)
        observer.referencesChanged(found.pointee, by: event)
      } else {
        report(event.address == 0 ? .nullAddress : .unknownObject, event)
      }
      return .taken
    case .allocation:
      return takeAllocation(event, strand, mayWait: mayWait)
    case .free:
      if let block = blocks.remove(event.address) {
        if block.hasTask { activations.endTask(inBlock: block.address) }
        if event.operation == .reallocFree { threads[index(of: event.thread)].pointee.reallocated = block }
        observer.blockFreed(block, by: event)
        return .taken
      }
      return takeOrphanFree(event, mayWait: mayWait)
    case .reallocFailed:
      takeReallocFailure(event)
      return .taken
    case .mark:
      observer.marked(event)
      return .taken
    case .unknown:
      report(.unknownOperation, event)
      return .taken
    }
  }

  @inline(__always)
  private mutating func takeAllocation(_ event: TraceEvent, _ strand: StrandID, mayWait: Bool) -> EventVerdict {
    if event.address == 0 {
      report(.nullAddress, event)
      return .taken
    }
    if blocks.find(event.address) != nil {
      if mayWait { return .waitForFree }
      let block = blocks.remove(event.address)!
      if block.hasTask { activations.endTask(inBlock: block.address) }
      report(.allocationOverLive, event)
      observer.blockFreed(block, by: event)
    }
    let thread = index(of: event.thread)
    let block = LiveBlock(
      address: event.address, size: event.size, birthTime: event.time,
      site: siteTable.site(SiteKey(operation: event.operation, stack: event.stack, type: event.type)), threadIndex: UInt32(thread),
      ordinal: eventCount, threadOrdinal: UInt32(truncatingIfNeeded: threads[thread].pointee.total.allocations), strand: strand)
    threads[thread].pointee.total.allocations &+= 1
    threads[thread].pointee.total.allocatedBytes &+= event.size
    blocks.insert(block)
    observer.blockAllocated(block, by: event)
    return .taken
  }

  @inline(never)
  private mutating func takeOrphanFree(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
    if event.address == 0 {
      report(.nullAddress, event)
      return .taken
    }
    if isForked {
      report(.inheritedFree, event)
    } else {
      if mayWait { return .waitForAllocation }
      report(.orphanFree, event)
    }
    if event.operation == .reallocFree {
      let thread = index(of: event.thread)
      threads[thread].pointee.reallocated.address = 0
      threads[thread].pointee.orphanRealloc = event.address
    }
    return .taken
  }

  @inline(never)
  private mutating func takeReallocFailure(_ event: TraceEvent) {
    let thread = index(of: event.thread)
    let block = threads[thread].pointee.reallocated
    if block.address == event.address, block.address != 0, blocks.find(event.address) == nil {
      threads[thread].pointee.reallocated.address = 0
      blocks.insert(block)
      observer.blockRestored(block, by: event)
    } else if threads[thread].pointee.orphanRealloc == event.address, event.address != 0 {
      // Counted already, as the orphan that it was.
      threads[thread].pointee.orphanRealloc = 0
    } else {
      report(event.address == 0 ? .nullAddress : .orphanReallocFailure, event)
    }
  }
}
