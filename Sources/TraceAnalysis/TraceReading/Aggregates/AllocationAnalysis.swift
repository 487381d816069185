// Sums over the allocations of one trace: the data for reports.

/// The live heap of the process at one moment, and its resident size at about that time.
package struct MemoryMoment: Hashable, Sendable {
  /// Ticks.
  package var time: UInt64
  package var liveBytes: UInt64
  package var liveBlocks: UInt64
  /// The resident size that was measured nearest to `time`, without the recorder's own share; nil if none was recorded.
  package var residentBytes: UInt64?
  /// The time when `residentBytes` was measured, in ticks.
  package var residentTime: UInt64?
}

/// The results of a replay, summed by allocation site. Names are not looked up here, but only for the sites that a
/// report shows.
package struct AllocationAnalysis: Sendable {
  package var header: TraceHeader
  package var clock: TraceClock
  package var definitions: TraceDefinitions
  package var closing: TraceClosing?
  package var drops: DropCounts
  package var fileSize: ByteCount
  /// The limits on the work for this trace.
  package var limits: ReadingLimits
  /// True if the memory limit or an interrupt ended the reading before the last event.
  package var hasStopped: Bool
  /// Parts of the program's files, for names; nil if the trace has none.
  package var storedFiles: StoredFiles?
  package var diagnostics: TraceDiagnostics
  package let sites: AllocationSites
  package var threads: [ThreadTotal]
  /// The number of events of each operation; index: the operation's number.
  package var eventCounts: [UInt64]
  /// The number of mismatches of each kind; index: `Mismatch.rawValue`.
  var mismatchCounts: [UInt64]
  package var atExit: MemoryMoment
  package var atPeak: MemoryMoment
  /// The live bytes in the course of the run. Without blocks that were allocated before the recording began.
  package var liveBytes: LiveBytesCurve
  /// The blocks that were live at the requested snapshot. Their site IDs are indices into `sites`.
  package var blocksAtSnapshot = LiveBlockList([])
  /// The program's statements about its objects, with their outcomes at the snapshot; without a snapshot, at the
  /// trace's end.
  package var statements = ProgramStatements()
  /// The calls that the trace lacks up to the snapshot; without a snapshot, up to the trace's end.
  package var gaps = TraceGaps.none
  /// The sum of the blocks at the snapshot that have no event because they were allocated before the recording began.
  /// They are known from the allocator's metadata. Nil if the trace has no complete list of them.
  package private(set) var unseen: BlockSum?
  /// The activations that had not returned at the snapshot.
  package var activationsAtSnapshot = Activations.none
  /// The allocation stacks of the sampled blocks at the snapshot, by block address. Only light traces have sampled
  /// blocks.
  package private(set) var sampledStacks: [UInt64: StackID] = [:]
  /// Addresses of blocks that seem to have been retained or released after their free; see `FreedAddresses`.
  package var suspects: Set<UInt64> = []

  package var eventCount: UInt64 { eventCounts.reduce(0) { $0 &+ $1 } }

  package func count(of effect: Operation.Effect) -> UInt64 {
    var sum: UInt64 = 0
    for (number, count) in eventCounts.enumerated() where Operation(rawValue: UInt8(number)).effect == effect {
      sum &+= count
    }
    return sum
  }

  package subscript(mismatch: Mismatch) -> UInt64 { mismatchCounts[mismatch.rawValue] }

  package enum Completeness: Hashable, Sendable {
    /// Closed by the recorder.
    case whole
    /// Finished by `leaktrace` after the process had died.
    case recovered
    /// The trace has no closing record.
    case open
  }

  package var completeness: Completeness {
    switch closing?.reason {
    case nil: .open
    case .recovered: .recovered
    default: .whole
    }
  }

  /// Reads and replays a trace in one pass over its events. Memory is proportional to the trace's live blocks, sites
  /// and stacks.
  ///
  /// `snapshot`: if given, the blocks that were live when it was taken are kept as well. This takes memory in
  /// proportion to their number.
  package init(_ reader: TraceReader, snapshot: TraceSnapshot? = nil) {
    let activations = ActivationTracker(stacks: reader.definitions.stacks)
    var replayer = Replayer(
      ObserverPair(
        ObserverPair(SiteTotals(), SiteLifetimes(activations, until: snapshot?.time)),
        ObserverPair(
          FreedAddresses(), ProgramMarks(reader.marks, activations, until: snapshot?.time, limits: reader.limits))),
      for: reader, activations: activations, checkpoint: snapshot?.time)
    reader.replay(into: &replayer, stacks: .allocations)
    if snapshot != nil {
      blocksAtSnapshot = replayer.blocksAtCheckpoint
      activationsAtSnapshot = replayer.activationsAtCheckpoint
      sampledStacks = replayer.sampledStacksAtCheckpoint
    }
    header = reader.header
    clock = reader.clock
    definitions = reader.definitions
    closing = reader.closing
    drops = reader.drops
    fileSize = reader.fileSize
    limits = reader.limits
    hasStopped = reader.stopTime != nil
    storedFiles = reader.storedFiles
    diagnostics = reader.diagnostics
    if let snapshot, snapshot.isFrozen, definitions.process.isAttached {
      let list = BlockList(of: snapshot, in: reader, diagnostics: &diagnostics)
      if list.isWhole {
        let blocks = Self.unseenBlocks(list.blocks, beside: blocksAtSnapshot, replayer, since: header.startTime)
        for block in blocks {
          replayer.observer.first.first.reach(block.site)
          replayer.observer.first.second.reach(block.site)
        }
        blocksAtSnapshot = LiveBlockList(Array(blocksAtSnapshot) + blocks)
        unseen = blocks.reduce(into: BlockSum()) { $0.add($1.size) }
      }
    }
    if replayer.refusedBlocks > 0 { diagnostics.append(.init(.tooManyBlocks(ignored: replayer.refusedBlocks))) }
    if replayer.allocationsAtUnknownSites > 0 {
      diagnostics.append(.init(.tooManySites(allocations: replayer.allocationsAtUnknownSites)))
    }
    threads = replayer.threadTotals.sorted { $0.number < $1.number }
    eventCounts = replayer.eventCounts
    mismatchCounts = replayer.mismatchCounts
    suspects = replayer.observer.second.first.suspects

    let totals = replayer.observer.first.first
    sites = AllocationSites(
      keys: replayer.siteKeys, totals: totals, lifetimes: replayer.observer.first.second,
      repeatedTypes: definitions.repeatedTypes)

    let endTime =
      reader.stopTime ?? closing?.time ?? reader.chunks.lazy.filter { $0.kind == .events }.map(\.lastTime).max()
      ?? header.startTime
    statements = replayer.observer.second.second.statements(
      at: snapshot?.time ?? endTime, isFinal: snapshot.map { $0.reason == .exit || $0.reason == .signal } ?? true)
    gaps = TraceGaps(
      reader, diagnostics: diagnostics, until: snapshot?.time ?? endTime, listing: unseen == nil ? .unknown : .listed)
    let samples = Self.memorySamples(definitions, closing)
    liveBytes = totals.curve
    atExit = Self.moment(endTime, totals.liveBytes, totals.liveBlocks, samples)
    // If nothing was ever allocated, the peak is at the beginning.
    let peakTime = totals.peakBlocks == 0 ? header.startTime : totals.peakTime
    atPeak = Self.moment(peakTime, totals.peakBytes, totals.peakBlocks, samples)
  }

  /// Returns the blocks in the allocator's metadata that events do not account for. Such a block overlaps no known
  /// block, and its free was not in progress at the snapshot. Its birth time is set to the start of the recording. O(n
  /// log n).
  private static func unseenBlocks<Observer: ReplayObserver>(
    _ listed: [ListedBlock], beside known: LiveBlockList, _ replayer: Replayer<Observer>, since start: UInt64
  ) -> [LiveBlock] {
    let known = known.sorted { $0.address < $1.address }
    let freed = replayer.freesAtCheckpoint
    var result: [LiveBlock] = []
    var next = 0
    for block in listed {
      func end(_ known: LiveBlock) -> UInt64 { known.address.addingReportingOverflow(max(1, known.size)).partialValue }
      while next < known.count, known[next].address < block.address, end(known[next]) <= block.address { next += 1 }
      if next < known.count, known[next].address < block.address + max(1, block.size) { continue }
      if freed.contains(block.address) { continue }
      result.append(
        LiveBlock(
          address: block.address, size: block.size, birthTime: start, site: replayer.site(ofUnseen: block)))
    }
    return result
  }

  /// Measurements of the process's memory, in order of time. If the trace was closed, the last one is from its closing
  /// record.
  package var memorySamples: [MemorySample] { Self.memorySamples(definitions, closing) }

  private static func memorySamples(_ definitions: TraceDefinitions, _ closing: TraceClosing?) -> [MemorySample] {
    guard let closing, closing.residentBytes > 0 else { return definitions.memorySamples }
    return definitions.memorySamples + [
      MemorySample(
        time: closing.time, resident: closing.residentBytes, recorder: closing.recorderBytes,
        peakResident: closing.peakResidentBytes)
    ]
  }

  private static func moment(_ time: UInt64, _ bytes: UInt64, _ blocks: UInt64, _ samples: [MemorySample])
    -> MemoryMoment
  {
    func distance(_ sample: MemorySample) -> UInt64 { sample.time > time ? sample.time - time : time - sample.time }
    let nearest = samples.min { distance($0) < distance($1) }
    return MemoryMoment(
      time: time, liveBytes: bytes, liveBlocks: blocks, residentBytes: nearest?.residentOfProgram,
      residentTime: nearest?.time)
  }

  /// Seconds from the start to the end of the recording; nil if the clock's rate is unknown.
  package var duration: Double? { clock.seconds(at: atExit.time) }

  /// Returns the name of the Swift type that a site allocates, or else the name of the allocating function.
  package func typeName(of site: AllocationSite) -> String {
    if site.operation != .object { return site.operation.name }
    if let type = definitions.types[site.type] { return type.displayName }
    return "unknown type"
  }

  /// Totals of the allocations that share a type or an operation.
  package struct NamedTotal: Hashable, Sendable {
    package var name: String
    package var total: SiteTotal

    package init(name: String, total: SiteTotal) {
      self.name = name
      self.total = total
    }
  }
}
