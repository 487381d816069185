// The replay: rebuilds the heap from a trace's events.

/// Totals of one thread.
package struct ThreadTotal: Hashable, Sendable, BitwiseCopyable {
  /// The thread's number in the trace, from 1.
  package var number: UInt32
  package var events: UInt64 = 0
  package var allocations: UInt64 = 0
  package var allocatedBytes: UInt64 = 0

  init(number: UInt32) { self.number = number }
}

/// Replays a trace, keeps the live blocks, and reports changes to an observer. An object ends when its block is freed.
///
/// Memory is proportional to the most blocks that are live at the same time, the sites and the threads, not to the
/// events. For one thread at a time.
package struct Replayer<Observer: ReplayObserver>: EventSink {
  package var observer: Observer
  private let memory = TableOwner()
  private let blocks: BlockTable
  /// The live blocks, while `isListing`. That is the case while all events are a list of blocks, from the start or from
  /// a new list on. `blocks` is then empty.
  private var listing = LiveBlockList.Listing()
  private var isListing: Bool
  /// True if `keptBlocks` shares the memory of `listing`, which must then not change any more.
  private var isListingKept = false
  private let siteTable: SiteTable
  private let siteMemory = TableOwner()
  private let threads: RowTable<ThreadState>
  private var threadIndices: [UInt32: UInt32] = [:]
  private var lastThread: UInt32 = 0
  private var lastIndex = -1
  /// The state of `lastThread` in the replayer and in the tracker.
  private var state: UnsafeMutablePointer<ThreadState>
  private var trackedThread: UnsafeMutablePointer<ActivationTracker.ThreadRow>
  private let hasUnseenBlocks: Bool
  /// True if the trace is light: its blocks come in lists. The stack of a sampled block is then kept apart from its
  /// site, because equal objects with and without stacks must have the same site.
  private let isLight: Bool
  private var sampledStacks: [UInt64: StackID] = [:]

  private struct ThreadState: BitwiseCopyable {
    var total: ThreadTotal
    /// The last block that the thread passed to realloc; its address is 0 if there is none.
    var reallocated = LiveBlock(address: 0, size: 0, birthTime: 0, site: SiteID(0))
    /// Address of the last block that the thread freed. The free may still be in progress.
    var freed: UInt64 = 0
    /// Address of the last orphan block that the thread passed to realloc.
    var orphanRealloc: UInt64 = 0
    /// True if the thread's next event was delivered before and had to wait. Its stack is then already recorded.
    var isTakenInAlready = false
  }

  /// Makes a replayer without limits. If the process was forked or attached, frees of blocks that were never seen
  /// allocated are expected: the blocks are older than the recording.
  package init(_ observer: Observer, process: ProcessRecord, stacks: StackTree, checkpoint: UInt64? = nil) {
    self.init(observer, process: process, activations: ActivationTracker(stacks: stacks), checkpoint: checkpoint)
  }

  /// Makes a replayer for the events of `reader`, with its limits on live blocks and sites. The observer may share the
  /// tracker.
  init(_ observer: Observer, for reader: TraceReader, activations: ActivationTracker? = nil, checkpoint: UInt64? = nil)
  {
    let tracker = activations ?? ActivationTracker(stacks: reader.definitions.stacks)
    self.init(
      observer, process: reader.definitions.process, activations: tracker, limits: reader.limits,
      checkpoint: checkpoint, isLight: reader.header.isLight, isListing: reader.header.lacksHistory)
  }

  private init(
    _ observer: Observer, process: ProcessRecord, activations: ActivationTracker, limits: ReadingLimits? = nil,
    checkpoint: UInt64? = nil, isLight: Bool = false, isListing: Bool = false
  ) {
    self.isListing = isListing
    self.observer = observer
    self.isLight = isLight
    self.activations = activations
    tracker = Unmanaged.passUnretained(activations)
    blocks = BlockTable(ownedBy: memory)
    siteTable = SiteTable(limit: limits?.siteCount ?? .max, ownedBy: siteMemory)
    threads = RowTable(blank: ThreadState(total: ThreadTotal(number: 0)), ownedBy: memory)
    state = UnsafeMutablePointer(bitPattern: 64)!
    trackedThread = UnsafeMutablePointer(bitPattern: 64)!
    countsByOperation = RowTable(blank: 0, count: Self.operationCount, ownedBy: memory)[0]
    countsByMismatch = RowTable(blank: 0, count: Mismatch.allCases.count, ownedBy: memory)
    hasUnseenBlocks = process.isForked || process.isAttached
    blockLimit = limits?.liveBlocks ?? ReadingLimits.blockLimit
    spareFarAllocations = limits?.farAllocations ?? .max
    self.checkpoint = checkpoint ?? .max
  }

  /// The most blocks that may be live at once.
  private let blockLimit: Int
  /// The number of further allocations that are accepted while more than `nearBlocks` blocks are live.
  private var spareFarAllocations: UInt64
  /// With at most this many live blocks, the table stays in a processor's cache.
  private static var nearBlocks: Int { 1 << 14 }
  /// The number of allocations that were left out because one of these limits was reached.
  private(set) var refusedBlocks: UInt64 = 0
  /// The number of allocations whose sites are not distinguished, because there are too many sites.
  var allocationsAtUnknownSites: UInt64 { siteTable.overflowCount }
  private let activations: ActivationTracker
  /// The same tracker for the loop, which does not retain it.
  private let tracker: Unmanaged<ActivationTracker>
  /// Events of all threads so far.
  private var eventCount: UInt64 = 0
  /// The number of events at the next point of curves. More than `eventCount`.
  private var nextPoint = CurveSchedule.next(after: 0)

  /// A time in ticks. `blocksAtCheckpoint` keeps the blocks that are live after the events up to and including this
  /// time.
  private let checkpoint: UInt64
  private var keptBlocks: LiveBlockList?
  private var keptActivations: Activations?
  private var keptStacks: [UInt64: StackID]?
  private var keptFrees: Set<UInt64>?

  /// The activations that had not returned at the checkpoint; the current activations if no event came after the
  /// checkpoint.
  var activationsAtCheckpoint: Activations { keptActivations ?? presentActivations }

  /// The blocks that were live at the checkpoint, in no particular order; the current blocks if no event came after the
  /// checkpoint.
  var blocksAtCheckpoint: LiveBlockList { keptBlocks ?? liveBlocks }

  /// The stacks of the sampled blocks at the checkpoint, by address; for light traces.
  var sampledStacksAtCheckpoint: [UInt64: StackID] { keptStacks ?? sampledStacks }

  /// The addresses of the last blocks that threads freed before the checkpoint, one for each thread. Frees are recorded
  /// before they happen, so these may not have happened at the checkpoint.
  var freesAtCheckpoint: Set<UInt64> { keptFrees ?? lastFrees }

  private var lastFrees: Set<UInt64> { Set(threads.all.lazy.map(\.freed)) }

  private var liveBlocks: LiveBlockList {
    if isListing { return listing.blocks }
    return LiveBlockList(capacity: blocks.count) { places in
      var count = 0
      blocks.forEach {
        places[count] = $0
        count += 1
      }
      return count
    }
  }

  /// Replays a whole trace and returns the replayer, which then has the blocks that are live at the end.
  package static func replay(_ reader: TraceReader, _ observer: Observer, checkpoint: UInt64? = nil) -> Replayer {
    let activations = ActivationTracker(stacks: reader.definitions.stacks)
    var replayer = Replayer(observer, for: reader, activations: activations, checkpoint: checkpoint)
    reader.replay(into: &replayer, stacks: .allocations)
    return replayer
  }

  /// The number of blocks that are live now.
  var liveCount: Int { isListing ? listing.count : blocks.count }
  package var siteCount: Int { siteTable.count }
  package func key(of site: SiteID) -> SiteKey { siteTable[site] }
  /// Keys of all sites, valid even after the end of the replayer.
  var siteKeys: SiteKeys { SiteKeys(table: siteTable, owner: siteMemory) }
  /// The totals of the threads, in order of their first events.
  var threadTotals: [ThreadTotal] { threads.all.map(\.total) }
  /// The number of events of each operation, including unknown operations; index: the operation's number.
  package var eventCounts: [UInt64] { Array(UnsafeBufferPointer(start: countsByOperation, count: Self.operationCount)) }
  private let countsByOperation: UnsafeMutablePointer<UInt64>
  private static var operationCount: Int { 256 }
  /// The number of mismatches of each kind; index: `Mismatch.rawValue`.
  var mismatchCounts: [UInt64] { countsByMismatch.all }
  private let countsByMismatch: RowTable<UInt64>

  /// Calls `body` with each live block, in no particular order.
  func forEachLiveBlock(_ body: (LiveBlock) -> Void) {
    if isListing { listing.blocks.forEach(body) } else { blocks.forEach(body) }
  }

  /// Returns the site of a block that has no event, and so no stack.
  func site(ofUnseen block: ListedBlock) -> SiteID {
    siteTable.site(SiteKey(operation: block.type == 0 ? .malloc : .object, stack: .empty, type: block.type))
  }

  /// Returns the live block at `address`; nil if there is none.
  package func liveBlock(at address: RuntimeAddress) -> LiveBlock? {
    isListing ? listing.blocks.listed(at: address.rawValue) : blocks.find(address.rawValue)?.pointee
  }

  @inline(__always)
  private mutating func select(_ thread: UInt32) {
    if thread != lastThread || lastIndex < 0 { changeThread(thread) }
  }

  @inline(never)
  private mutating func changeThread(_ thread: UInt32) {
    if let known = threadIndices[thread] {
      lastIndex = Int(known)
    } else {
      lastIndex = threads.count
      threadIndices[thread] = UInt32(lastIndex)
      threads.reach(lastIndex)
      threads[lastIndex].pointee.total.number = thread
    }
    lastThread = thread
    state = threads[lastIndex]
    trackedThread = activations.row(ofThread: lastIndex)
  }

  package mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
    withUnsafePointer(to: event) { take(UnsafeBufferPointer(start: $0, count: 1), mayWait: mayWait).next }
  }

  /// Takes a run of events in windows, whose data it prefetches first.
  package mutating func take(_ events: UnsafeBufferPointer<TraceEvent>, mayWait: Bool) -> (
    count: Int, next: EventVerdict
  ) {
    guard let start = events.baseAddress else { return (0, .taken) }
    let prefetch = TablePrefetch(blocks: blocks, sites: siteTable)
    var next = 0
    while next < events.count {
      // A window ends at the next point of curves, so the points do not depend on the runs.
      let rest = Int(truncatingIfNeeded: nextPoint &- eventCount)
      let end = min(next &+ min(Self.window, rest), events.count)
      prefetch.begin(UnsafeBufferPointer(start: start + next, count: end &- next), observer)
      while next < end {
        let verdict = take(at: start + next, mayWait: mayWait)
        if verdict != .taken { return (next, verdict) }
        next &+= 1
      }
      if eventCount >= nextPoint { passPoint(at: events[next &- 1].time) }
    }
    return (next, .taken)
  }

  @inline(never)
  private mutating func passPoint(at time: UInt64) {
    observer.passed(events: eventCount, time: time)
    nextPoint = CurveSchedule.next(after: eventCount)
  }

  /// The number of events whose data is prefetched together. Their data fits in a processor's first cache.
  private static var window: Int { 128 }

  @inline(__always)
  private mutating func take(at event: UnsafePointer<TraceEvent>, mayWait: Bool) -> EventVerdict {
    if event.pointee.time > checkpoint, keptBlocks == nil { reachCheckpoint() }
    if isListing, !continuesListing(event) { endListing() }
    select(event.pointee.thread)
    let execution = state.pointee.isTakenInAlready ? trackedThread.pointee.present : advance(event)
    let operation = event.pointee.operation
    if operation.countsReferences {
      changeReferences(event)
    } else {
      let verdict = apply(event, execution, mayWait: mayWait)
      if verdict != .taken {
        state.pointee.isTakenInAlready = true
        return verdict
      }
    }
    state.pointee.isTakenInAlready = false
    if operation != .mark {
      countsByOperation[Int(operation.rawValue)] &+= 1
      state.pointee.total.events &+= 1
      eventCount &+= 1
    }
    return .taken
  }

  private var presentActivations: Activations {
    var numbers: [UInt32: Int] = [:]
    for (index, row) in threads.all.enumerated() { numbers[row.total.number] = index }
    return activations.present(ordinal: eventCount, threads: numbers)
  }

  @inline(__always)
  private func continuesListing(_ event: UnsafePointer<TraceEvent>) -> Bool {
    switch event.pointee.operation.effect {
    case .allocation:
      (isLight || event.pointee.stack == .empty) && !isListingKept
        && listing.admits(address: event.pointee.address, time: event.pointee.time)
    case .heapListed, .mark: true
    default: false
    }
  }

  /// Moves the listed blocks to the table, which replaces the list from now on.
  @inline(never)
  private mutating func endListing() {
    let listed = listing.blocks
    (isListing, isListingKept) = (false, false)
    for block in listed { blocks.insert(block) }
    listing = LiveBlockList.Listing()
  }

  @inline(never)
  private mutating func reachCheckpoint() {
    keptBlocks = liveBlocks
    isListingKept = isListing
    keptActivations = presentActivations
    keptStacks = sampledStacks
    keptFrees = lastFrees
  }

  @inline(__always)
  private mutating func advance(_ event: UnsafePointer<TraceEvent>) -> ExecutionID {
    let ordinal = eventCount
    let row = trackedThread
    return tracker._withUnsafeGuaranteedRef {
      $0.advance(event, row, ordinal: ordinal) { context in taskBlock(of: context) }
    }
  }

  /// Returns the address of the block that was allocated for the task with this context, and marks the block. A task's
  /// outermost context is near the beginning of the task's block, if the task has its own block.
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
    countsByMismatch[mismatch.rawValue].pointee &+= 1
    observer.mismatched(mismatch, event)
  }

  /// Applies a retain or release.
  @inline(__always)
  private mutating func changeReferences(_ event: UnsafePointer<TraceEvent>) {
    if let found = blocks.find(event.pointee.address) {
      found.pointee.noteUse(at: eventCount)
      observer.referencesChanged(at: found, by: event)
    } else {
      report(event.pointee.address == 0 ? .nullAddress : .unknownObject, event.pointee)
    }
  }

  /// Applies any other event.
  @inline(never)
  private mutating func apply(_ event: UnsafePointer<TraceEvent>, _ execution: ExecutionID, mayWait: Bool)
    -> EventVerdict
  {
    switch event.pointee.operation.effect {
    case .retain, .release, .unownedRetain, .unownedRelease: return .taken  // Done by `changeReferences`.
    case .allocation:
      return takeAllocation(event, execution, mayWait: mayWait)
    case .free:
      state.pointee.freed = event.pointee.address
      if let block = blocks.remove(event.pointee.address) {
        if block.pointee.hasTask { activations.endTask(inBlock: block.pointee.address) }
        if event.pointee.operation == .reallocFree { state.pointee.reallocated = block.pointee }
        observer.blockFreed(at: block, by: event)
        return .taken
      }
      return takeOrphanFree(event.pointee, mayWait: mayWait)
    case .reallocFailed:
      takeReallocFailure(event.pointee)
      return .taken
    case .heapListed:
      forgetBlocks(event.pointee)
      return .taken
    case .mark:
      let address = event.pointee.address
      observer.marked(
        event.pointee, execution: execution, block: address == 0 ? nil : liveBlock(at: RuntimeAddress(address)))
      return .taken
    case .unknown:
      report(.unknownOperation, event.pointee)
      return .taken
    }
  }

  @inline(__always)
  private mutating func takeAllocation(_ event: UnsafePointer<TraceEvent>, _ execution: ExecutionID, mayWait: Bool)
    -> EventVerdict
  {
    let address = event.pointee.address
    if address == 0 {
      report(.nullAddress, event.pointee)
      return .taken
    }
    let liveCount = self.liveCount
    if liveCount > Self.nearBlocks {
      if liveCount >= blockLimit || spareFarAllocations == 0 {
        refusedBlocks &+= 1
        return .taken
      }
      spareFarAllocations -= 1
    } else if liveCount >= blockLimit {
      refusedBlocks &+= 1
      return .taken
    }
    if isListing, !listing.admits(execution: execution, threadIndex: UInt32(truncatingIfNeeded: lastIndex)) {
      endListing()
    }
    var vacancy: Int?
    if !isListing {
      vacancy = blocks.vacancy(for: address)
      if vacancy == nil {
        if mayWait { return .waitForFree }
        evictStale(event.pointee)
        vacancy = blocks.vacancy(for: address)
      }
    }
    let site = siteTable.site(
      SiteKey(operation: event.pointee.operation, stack: stackOfSite(event), type: event.pointee.type))
    let block = LiveBlock(
      address: address, size: event.pointee.size, birthTime: event.pointee.time, site: site,
      threadIndex: UInt32(truncatingIfNeeded: lastIndex),
      ordinal: eventCount, threadOrdinal: UInt32(truncatingIfNeeded: state.pointee.total.allocations),
      execution: execution)
    state.pointee.total.allocations &+= 1
    state.pointee.total.allocatedBytes &+= event.pointee.size
    if let vacancy {
      observer.blockAllocated(at: blocks.insert(block, at: vacancy), by: event)
    } else {
      listing.append(block)
      withUnsafePointer(to: block) { observer.blockAllocated(at: $0, by: event) }
    }
    return .taken
  }

  @inline(__always)
  private mutating func stackOfSite(_ event: UnsafePointer<TraceEvent>) -> StackID {
    if !isLight || event.pointee.stack == .empty { return event.pointee.stack }
    sampledStacks[event.pointee.address] = event.pointee.stack
    return .empty
  }

  /// Ends all blocks, because a list of the existing blocks follows.
  @inline(never)
  private mutating func forgetBlocks(_ event: TraceEvent) {
    for block in liveBlocks { observer.blockFreed(block, by: event) }
    blocks.removeAll()
    sampledStacks.removeAll()
    if isLight { (isListing, isListingKept, listing) = (true, false, LiveBlockList.Listing()) }
  }

  /// Ends the live block at an allocation's address. The free of this block was not recorded.
  @inline(never)
  private mutating func evictStale(_ event: TraceEvent) {
    guard let block = blocks.remove(event.address)?.pointee else { return }
    if block.hasTask { activations.endTask(inBlock: block.address) }
    report(.allocationOverLive, event)
    observer.blockFreed(block, by: event)
  }

  @inline(never)
  private mutating func takeOrphanFree(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
    if event.address == 0 {
      report(.nullAddress, event)
      return .taken
    }
    if hasUnseenBlocks {
      report(.inheritedFree, event)
    } else {
      if mayWait { return .waitForAllocation }
      report(.orphanFree, event)
    }
    if event.operation == .reallocFree {
      state.pointee.reallocated.address = 0
      state.pointee.orphanRealloc = event.address
    }
    return .taken
  }

  @inline(never)
  private mutating func takeReallocFailure(_ event: TraceEvent) {
    let block = state.pointee.reallocated
    if block.address == event.address, block.address != 0, blocks.find(event.address) == nil {
      state.pointee.reallocated.address = 0
      blocks.insert(block)
      observer.blockRestored(block, by: event)
    } else if state.pointee.orphanRealloc == event.address, event.address != 0 {
      // The free was already counted as an orphan.
      state.pointee.orphanRealloc = 0
    } else {
      report(event.address == 0 ? .nullAddress : .orphanReallocFailure, event)
    }
  }
}
