// The allocations of one trace, summed: the data for reports.

/// The heap at one moment beside the memory that the system gave the process for it.
package struct MemoryMoment: Hashable, Sendable {
  /// Ticks.
  package var time: UInt64
  package var liveBytes: UInt64
  package var liveBlocks: UInt64
  /// The resident size nearest in time, without the recorder's own share; nil if none was recorded.
  package var residentBytes: UInt64?
  /// The time of that measurement.
  package var residentTime: UInt64?
}

/// A trace, replayed and summed by site. A value of numbers: names are looked up only for sites that are shown.
package struct AllocationAnalysis: Sendable {
  package var header: TraceHeader
  package var clock: TraceClock
  package var definitions: TraceDefinitions
  package var closing: TraceClosing?
  package var drops: DropCounts
  package var fileSize: ByteCount
  /// Parts of the program's files, for names; nil if the trace has none.
  package var storedFiles: StoredFiles?
  package var diagnostics: TraceDiagnostics
  package let sites: AllocationSites
  package var threads: [ThreadTotal]
  /// Events by operation number.
  package var eventCounts: [UInt64]
  /// By `Mismatch`.
  package var mismatchCounts: [UInt64]
  package var atExit: MemoryMoment
  package var atPeak: MemoryMoment
  /// The blocks that were live at the requested snapshot; sites index `sites`.
  package var blocksAtSnapshot = LiveBlockList([])
  /// Scopes and expectations of these objects, and their outcomes by then.
  package var statements = ProgramStatements()
  /// Calls that the trace lacks until then; without a snapshot, until the trace's end.
  package var gaps = TraceGaps.none
  /// The blocks at the snapshot without any event: the allocator's metadata has them, and they were allocated before
  /// the recording began. Nil if the trace does not identify them.
  package private(set) var unseen: BlockSum?
  /// The activations that control was in then.
  package var activationsAtSnapshot = Activations.none
  /// The stacks of the sampled blocks at the snapshot, by address; for light traces.
  package private(set) var sampledStacks: [UInt64: StackID] = [:]
  /// Addresses whose references seem to have been counted after the free of the block there; see `FreedAddresses`.
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
    /// No closing record.
    case open
  }

  package var completeness: Completeness {
    switch closing?.reason {
    case nil: .open
    case .recovered: .recovered
    default: .whole
    }
  }

  /// Reads and replays a trace: one pass over its events. Memory in proportion to its live blocks, sites and stacks.
  ///
  /// `snapshot`: the blocks live when it was taken are kept as well, in memory in proportion to their number.
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
      closing?.time ?? reader.chunks.lazy.filter { $0.kind == .events }.map(\.lastTime).max() ?? header.startTime
    statements = replayer.observer.second.second.statements(
      at: snapshot?.time ?? endTime, isFinal: snapshot.map { $0.reason == .exit || $0.reason == .signal } ?? true)
    gaps = TraceGaps(
      reader, diagnostics: diagnostics, until: snapshot?.time ?? endTime, books: unseen == nil ? .unknown : .listed)
    let samples = Self.memorySamples(definitions, closing)
    atExit = Self.moment(endTime, totals.liveBytes, totals.liveBlocks, samples)
    // If nothing was ever allocated, the peak is at the beginning.
    let peakTime = totals.peakBlocks == 0 ? header.startTime : totals.peakTime
    atPeak = Self.moment(peakTime, totals.peakBytes, totals.peakBlocks, samples)
  }

  /// The blocks in the allocator's metadata that events do not account for. They neither equal nor overlap a known
  /// block, and are not about to be freed. Their time is the start of the recording. O(n log n).
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

  /// Measurements of the process's memory in order of time, the last one at its end.
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

  /// A site's allocations in words: a type's name, or the function that was called.
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
