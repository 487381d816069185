// The allocations of one trace, summed: what reports are made from.

/// The heap at one moment beside what the system gave the process for it.
public struct MemoryMoment: Hashable, Sendable {
  /// Ticks.
  public var time: UInt64
  public var liveBytes: UInt64
  public var liveBlocks: UInt64
  /// The resident size nearest in time, without the recorder's own share; nil if none was recorded.
  public var residentBytes: UInt64?
  /// When that was measured.
  public var residentTime: UInt64?
}

/// A trace, replayed and summed by site. A value of numbers: names are looked up for what is shown.
public struct AllocationAnalysis: Sendable {
  public var header: TraceHeader
  public var clock: TraceClock
  public var definitions: TraceDefinitions
  public var closing: TraceClosing?
  public var drops: DropCounts
  public var fileSize: ByteCount
  public var diagnostics: TraceDiagnostics
  public let sites: AllocationSites
  public var threads: [ThreadTotal]
  /// Events by operation number.
  public var eventCounts: [UInt64]
  /// By `Mismatch`.
  public var mismatchCounts: [UInt64]
  public var atExit: MemoryMoment
  public var atPeak: MemoryMoment
  /// What was live at the snapshot that was asked for; sites index `sites`.
  public var blocksAtSnapshot: [LiveBlock] = []
  /// What the program said of its objects, and what had come of it by then.
  public var statements = ProgramStatements()
  /// Calls that the trace lacks up to then; without a snapshot up to the trace's end.
  public var gaps = TraceGaps.none
  /// Where control was then.
  public var activationsAtSnapshot = Activations.none
  /// Addresses at which references seem to have been counted after the free of what stood there; see `FreedAddresses`.
  var suspects: Set<UInt64> = []

  public var eventCount: UInt64 { eventCounts.reduce(0) { $0 &+ $1 } }

  public func count(of effect: Operation.Effect) -> UInt64 {
    var sum: UInt64 = 0
    for (number, count) in eventCounts.enumerated() where Operation(rawValue: UInt8(number)).effect == effect { sum &+= count }
    return sum
  }

  public subscript(mismatch: Mismatch) -> UInt64 { mismatchCounts[mismatch.rawValue] }

  public enum Completeness: Hashable, Sendable {
    /// Closed by the recorder.
    case whole
    /// Finished by `leaktrace` after the process had died.
    case recovered
    /// No closing record.
    case open
  }

  public var completeness: Completeness {
    switch closing?.reason {
    case nil: .open
    case .recovered: .recovered
    default: .whole
    }
  }

  /// Reads and replays a trace: one pass over its events. Memory in proportion to its live blocks, sites and stacks.
  ///
  /// `snapshot`: what was live when it was taken is kept as well, in memory in proportion to that.
  public init(_ reader: TraceReader, snapshot: TraceSnapshot? = nil) {
    let activations = ActivationTracker(stacks: reader.definitions.stacks)
    var replayer = Replayer(
      ObserverPair(
        ObserverPair(SiteTotals(), SiteLifetimes(activations, until: snapshot?.time)),
        ObserverPair(FreedAddresses(), ProgramMarks(reader.marks, activations, until: snapshot?.time, limits: reader.limits))),
      for: reader, activations: activations, checkpoint: snapshot?.time)
    reader.replay(into: &replayer, stacks: .allocations)
    if snapshot != nil {
      blocksAtSnapshot = replayer.blocksAtCheckpoint
      activationsAtSnapshot = replayer.activationsAtCheckpoint
    }
    header = reader.header
    clock = reader.clock
    definitions = reader.definitions
    closing = reader.closing
    drops = reader.drops
    fileSize = reader.fileSize
    diagnostics = reader.diagnostics
    if replayer.refusedBlocks > 0 { diagnostics.append(.init(.tooManyBlocks(ignored: replayer.refusedBlocks))) }
    if replayer.allocationsAtUnknownSites > 0 { diagnostics.append(.init(.tooManySites(allocations: replayer.allocationsAtUnknownSites))) }
    threads = replayer.threadTotals.sorted { $0.number < $1.number }
    eventCounts = replayer.eventCounts
    mismatchCounts = replayer.mismatchCounts
    suspects = replayer.observer.second.first.suspects

    let totals = replayer.observer.first.first
    sites = AllocationSites(keys: replayer.siteKeys, totals: totals, lifetimes: replayer.observer.first.second, repeatedTypes: definitions.repeatedTypes)

    let endTime = closing?.time ?? reader.chunks.lazy.filter { $0.kind == .events }.map(\.lastTime).max() ?? header.startTime
    statements = replayer.observer.second.second.statements(at: snapshot?.time ?? endTime, isFinal: snapshot.map { $0.reason == .exit || $0.reason == .signal } ?? true)
    gaps = TraceGaps(reader, diagnostics: diagnostics, until: snapshot?.time ?? endTime)
    var samples = definitions.memorySamples
    if let closing, closing.residentBytes > 0 {
      samples.append(
        MemorySample(
          time: closing.time, resident: closing.residentBytes, recorder: closing.recorderBytes, peakResident: closing.peakResidentBytes))
    }
    atExit = Self.moment(endTime, totals.liveBytes, totals.liveBlocks, samples)
    atPeak = Self.moment(totals.peakTime, totals.peakBytes, totals.peakBlocks, samples)
  }

  private static func moment(_ time: UInt64, _ bytes: UInt64, _ blocks: UInt64, _ samples: [MemorySample]) -> MemoryMoment {
    func distance(_ sample: MemorySample) -> UInt64 { sample.time > time ? sample.time - time : time - sample.time }
    let nearest = samples.min { distance($0) < distance($1) }
    return MemoryMoment(
      time: time, liveBytes: bytes, liveBlocks: blocks, residentBytes: nearest?.residentOfProgram, residentTime: nearest?.time)
  }

  /// Seconds from the start to the end of the recording; nil if the clock's rate is unknown.
  public var duration: Double? { clock.seconds(at: atExit.time) }

  /// What a site allocates, in words: a type's name, or the function that was called.
  public func typeName(of site: AllocationSite) -> String {
    if site.operation != .object { return site.operation.name }
    if let type = definitions.types[site.type] { return type.displayName }
    return "unknown type"
  }

  /// Totals of one key, most allocated bytes first, then by name.
  public struct NamedTotal: Hashable, Sendable {
    public var name: String
    public var total: SiteTotal
  }

  /// Sums by what is allocated.
  public var totalsByType: [NamedTotal] { totals { typeName(of: $0) } }

  /// Sums by the operation that allocates.
  public var totalsByOperation: [NamedTotal] { totals { $0.operation.name } }

  private func totals(by name: (AllocationSite) -> String) -> [NamedTotal] {
    var sums: [String: SiteTotal] = [:]
    for site in sites { sums[name(site), default: SiteTotal()] += site.total }
    return sums.map { NamedTotal(name: $0.key, total: $0.value) }
      .sorted { ($1.total.allocatedBytes, $0.name) < ($0.total.allocatedBytes, $1.name) }
  }
}
