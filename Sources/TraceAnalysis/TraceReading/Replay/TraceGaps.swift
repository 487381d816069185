// Gaps of a trace: times when calls are missing, so that the trace does not show all allocations and frees.

/// The time until which calls may be missing from a trace, and the causes.
///
/// A block that was made before the last gap ended may have been freed in the gap, and its memory reused. A block that
/// was allocated in a gap is unknown, and may hold any object. So if no reference to an object is found, the object may
/// still be in use.
package struct TraceGaps: Hashable, Sendable {
  package enum Cause: Hashable, Sendable, CaseIterable {
    /// `leaktrace pause` was used, or the recording began paused.
    case paused
    /// The recorder counted calls that it could not record.
    case dropped
    /// Chunks of the trace are missing or cannot be read.
    case damaged
    /// The process began as a fork, so it has memory that its parent allocated. The process's own frees are recorded.
    case inherited
    /// The recording began while the process was running, so the process has older memory. Its frees since then are
    /// recorded.
    case attached
    /// An image or inspection did not find all blocks of the allocator.
    case notFound
  }

  package var causes: Set<Cause> = []
  /// A time in ticks. A block that was made up to this time may have been freed without a record. Nil if every free is
  /// recorded.
  package var end: UInt64?

  /// The trace has every call.
  package static let none = TraceGaps()

  /// True if there may be memory in use whose allocation the trace does not show.
  package var hideAllocations: Bool { !causes.isEmpty }

  /// Returns whether the free of a block that was made at a time may be missing.
  package func mayHideFree(ofBlockMadeAt time: UInt64) -> Bool { end.map { time <= $0 } ?? false }

  private mutating func add(_ cause: Cause, until time: UInt64) {
    causes.insert(cause)
    end = max(end ?? 0, time)
  }

  /// States whether the trace has a list of the allocator's blocks at the moment of interest.
  enum BlockListing: Hashable, Sendable { case listed, unknown }

  /// Finds the gaps of a trace before `time`, in ticks. The trace's events must have been read. `listing`: whether the
  /// trace has a list of the blocks at `time`, besides the events.
  init(_ reader: TraceReader, diagnostics: TraceDiagnostics, until time: UInt64, listing: BlockListing = .unknown) {
    let isLight = reader.header.isLight
    defer {
      // Each image of a light trace lists all blocks. Only damage and blocks that were not found leave gaps.
      if isLight { causes.formIntersection([.damaged, .notFound]) }
      if isLight, causes.isEmpty { end = nil }
    }
    if isLight || listing == .listed, reader.snapshots.contains(where: { $0.time == time && $0.lacksBlocks }) {
      causes.insert(.notFound)
    }
    if reader.definitions.process.isForked { causes.insert(.inherited) }
    if reader.definitions.process.isAttached, listing == .unknown { causes.insert(.attached) }
    if reader.definitions.process.lacksBlocks { causes.insert(.notFound) }
    if reader.header.startedPaused { add(.paused, until: reader.header.startTime) }
    var isPaused = false
    for pause in reader.definitions.pauses where pause.time <= time {
      isPaused = pause.begins
      add(.paused, until: pause.time)
    }
    if isPaused { add(.paused, until: time) }
    // The time of dropped calls is unknown, except for calls after a forced stop of the recording.
    let drops = reader.drops
    let isCounted = DropCounts.Reason.allCases.contains { $0.losesEvents && $0 != .stopped && drops[$0] > 0 }
    let hasStopped = drops[.stopped] > 0 && reader.status.stopTime < time
    if isCounted || hasStopped || drops.unknown > 0 { add(.dropped, until: time) }
    // The live file is missing, and threads had events in it.
    let isLiveMissing = reader.closing == nil && reader.status.state == 1 && !reader.hasLiveFile
    if isLiveMissing || diagnostics.count > diagnostics.first.count
      || diagnostics.first.contains(where: { Self.losesEvents($0, reader) })
    {
      add(.damaged, until: time)
    }
  }

  private init() {}

  /// Returns whether the problem may have lost events. Chunks of heap images and the closing record have no events.
  private static func losesEvents(_ diagnostic: TraceDiagnostic, _ reader: TraceReader) -> Bool {
    switch diagnostic.kind {
    case .duplicateChunk, .damagedClosing, .damagedSnapshot, .damagedMemory, .incompleteSnapshot, .tooMuchMemory,
      .overMemoryLimit, .tooManyStacks:
      return false
    case .missingChunks(_, let kind, _): return kind == .events || kind == .definitions
    default: break
    }
    guard let chunk = diagnostic.chunk, reader.chunks.indices.contains(chunk) else { return true }
    switch reader.chunks[chunk].kind {
    case .snapshot, .memory, .snapshotEnd, .blocks, .closing: return false
    default: return true
    }
  }

  /// The causes in words: a clause that `:` or a full stop can end.
  package var explanation: String {
    var parts: [String] = []
    if causes.contains(.paused) { parts.append("recording was paused at times") }
    if causes.contains(.dropped) { parts.append("calls were dropped") }
    if causes.contains(.damaged) { parts.append("parts of the trace are missing") }
    if causes.contains(.inherited) { parts.append("the process began as a fork") }
    if causes.contains(.attached) { parts.append("the recording began while the process was running") }
    if causes.contains(.notFound) { parts.append("some of the allocator's blocks were not found") }
    return parts.count < 2
      ? parts.first ?? "" : parts.dropLast().joined(separator: ", ") + " and " + parts[parts.count - 1]
  }
}
