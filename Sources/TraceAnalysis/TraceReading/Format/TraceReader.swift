// Opening a trace.

import CTraceFormat

/// An open trace, with its header, its sound chunks, and all its definitions. Events are read on demand, in order of
/// time (`replay(into:)`) or chunk by chunk (`ChunkWalker`).
///
/// Damage inside the trace is skipped and reported in `diagnostics`. Reading stops at the memory limit of the policy,
/// and reports how far it came. For one thread at a time.
package final class TraceReader {
  package let header: TraceHeader
  package let status: TraceStatus
  /// The closing record, if no events or definitions come after it. The trace is then whole.
  package let closing: TraceClosing?
  package let definitions: TraceDefinitions
  /// The heap images that have at least a beginning, in order of time.
  package let snapshots: [TraceSnapshot]
  /// Heap images that failed before any part of them was written.
  package let failedSnapshots: [FailedSnapshot]
  /// The marks of the current or last pass over the events, up to the events that were read so far.
  package let marks = MarkTable()
  /// The sound chunks in file order, then the payloads of the live file that are not in the trace yet.
  package let chunks: [TraceChunk]
  /// Bytes of the trace file.
  package let fileSize: ByteCount
  /// True if there is a live file with the same `traceID` beside the trace.
  package let hasLiveFile: Bool
  package private(set) var diagnostics: TraceDiagnostics
  /// The limits on the work for this trace.
  package let limits: ReadingLimits
  package let loader: PayloadLoader
  /// Parts of the program's files for the look-up of names; nil if the trace has none.
  package let storedFiles: StoredFiles?
  /// A time in ticks. Events after this time are left out, because they belong to another part of the trace.
  let end: UInt64
  private let source: ByteSource
  /// Keeps a running recorder from deleting the trace's images. Nil for a trace in memory.
  private var hold: TraceHold?
  /// True after the first pass. Later passes find the same damage, and do not report it again.
  var hasReplayed = false
  /// The bytes of events that all passes so far have read.
  private var replayedBytes: UInt64 = 0
  /// The reason why a pass over the events was refused; nil if none was. The results of such a pass are missing.
  package private(set) var refusedPass: TraceDiagnostic?
  let budget: ReadingBudget
  package var memoryLimit: MemoryLimit { budget.policy.memoryLimit }
  /// The number of events that each pass reads: all of them, or as many as the first pass read before it stopped.
  private(set) var eventLimit = UInt64.max
  /// The time, in ticks, where a pass over the events stopped at the memory limit or by an interrupt; nil if none did.
  package private(set) var stopTime: UInt64?

  /// Opens the trace at `path`, and the live file beside it if there is one. The live file is read before the trace: if
  /// a running process then seals a chunk, the chunk is in the trace. Linear in the file.
  package convenience init(path: String, part: TracePart = .whole, policy: ReadingPolicy = ReadingPolicy())
    throws(TraceFormatError)
  {
    // The trace's header is needed first, to check that the live file belongs to the trace. The trace is then opened
    // again, because the live file must be read before the trace is scanned.
    let hold = TraceHold(tracePath: path)
    let header = try Self.header(of: ByteSource(path: path))
    let liveFile = LiveFile(path: path + LT_LIVE_SUFFIX, traceID: header.traceID)
    try self.init(source: ByteSource(path: path), header: header, liveFile: liveFile, policy: policy, part: part)
    self.hold = hold
  }

  /// Opens a trace in memory, and its live file if given.
  package convenience init(
    bytes: [UInt8], liveBytes: [UInt8]? = nil, part: TracePart = .whole, policy: ReadingPolicy = ReadingPolicy()
  ) throws(TraceFormatError) {
    try self.init(bytes: bytes, liveBytes: liveBytes, limits: nil, part: part, policy: policy)
  }

  /// Opens a trace in memory. `limits`: replaces the limits of the policy.
  convenience init(
    bytes: [UInt8], liveBytes: [UInt8]? = nil, limits: ReadingLimits?, part: TracePart = .whole,
    policy: ReadingPolicy = ReadingPolicy()
  ) throws(TraceFormatError) {
    let source = ByteSource(bytes: bytes)
    let header = try Self.header(of: source)
    try self.init(
      source: source, header: header,
      liveFile: liveBytes.map { LiveFile(source: ByteSource(bytes: $0), traceID: header.traceID) }, limits: limits,
      policy: policy, part: part)
  }

  private static func header(of source: ByteSource) throws(TraceFormatError) -> TraceHeader {
    let count = Int(min(source.size, UInt64(LT_TRACE_HEADER_SIZE)))
    let page = source.bytes(at: 0, count: count) ?? []
    let header = try TraceHeader(decoding: page)
    if page.count < Int(LT_TRACE_HEADER_SIZE) { throw .truncatedHeader(size: ByteCount(UInt64(page.count))) }
    return header
  }

  private init(
    source: ByteSource, header: TraceHeader, liveFile: LiveFile?, limits givenLimits: ReadingLimits? = nil,
    policy: ReadingPolicy, part: TracePart
  ) throws(TraceFormatError) {
    self.source = source
    fileSize = ByteCount(source.size)
    status = Self.status(of: source)
    let payloads = liveFile?.payloads ?? []
    let liveSize = payloads.reduce(UInt64(0)) { $0 + UInt64($1.bytes.count) }
    limits = givenLimits ?? (policy.isUntrusted ? ReadingLimits(fileSize: source.size + liveSize) : .ofRecorder)
    budget = ReadingBudget(policy)
    var diagnostics = TraceDiagnostics()
    let chunks =
      ChunkContents(source: source, liveFile: liveFile, limits: limits, diagnostics: &diagnostics).chunks
    hasLiveFile = liveFile.map { !$0.isIgnored } ?? false
    loader = PayloadLoader(source: source, livePayloads: payloads)
    storedFiles = StoredFiles(chunks, source: source)
    var records = TraceRecords(limits: limits, budget: budget)
    records.read(chunks, with: loader, diagnostics: &diagnostics)
    records.addThreads(of: payloads)
    failedSnapshots = records.snapshots.failures
    var contents = PartContents(
      header: header, chunks: chunks, snapshots: records.snapshots.finish(), closing: records.closing,
      definitions: records.definitions.finish(diagnostics: &diagnostics))
    contents.keep(part)
    self.header = contents.header
    self.chunks = contents.chunks
    snapshots = contents.snapshots
    closing = contents.closing
    definitions = contents.definitions
    end = contents.end
    self.diagnostics = diagnostics
  }

  private static func status(of source: ByteSource) -> TraceStatus {
    let size = MemoryLayout<lt_trace_status>.size
    return TraceStatus(
      decoding: source.bytes(at: UInt64(LT_TRACE_STATUS_OFFSET), count: size) ?? Array(repeating: 0, count: size))
  }

  /// Converts ticks to seconds.
  package var clock: TraceClock { TraceClock(header: header, samples: definitions.clockSamples, closing: closing) }

  /// Returns the chunk with a sound header at `offset`, even if its payload is damaged.
  func tornChunk(at offset: UInt64) -> TraceChunk? {
    source.bytes(at: offset, count: TraceChunk.headerSize)?.withUnsafeBytes {
      TraceChunk(header: $0.baseAddress!, offset: offset)
    }
  }

  /// `marks` receives the marks in the events; nil for the reader's own table.
  func makeDecoder(wanting stacks: StackSelection, marks: MarkTable? = nil) -> EventDecoder {
    EventDecoder(
      stacks: definitions.stacks, marks: marks ?? self.marks, referenceCounting: header.referenceCounting,
      wanting: stacks)
  }

  /// The number of further passes over the events that the limits allow. The first pass is always allowed.
  var sparePasses: Int {
    let spare = limits.replayedBytes - min(replayedBytes, limits.replayedBytes)
    return max(replayedBytes == 0 ? 1 : 0, Int(clamping: spare / max(1, ReadingLimits.eventBytes(of: chunks))))
  }

  /// Returns the number of heap images that may be analysed: for each, the events are replayed, and a graph of `blocks`
  /// live blocks is built.
  package func replays(blocks: Int) -> Int {
    // Three passes are kept for other purposes: for freed blocks, for growth, and for stacks.
    min(
      sparePasses, max(1, sparePasses - 3),
      limits.replays(ofBytes: ReadingLimits.eventBytes(of: chunks), blocks: blocks))
  }

  /// Returns whether `times` more passes are allowed. If not, `refusedPass` has the reason.
  package func mayReplay(times: Int) -> Bool {
    if times <= sparePasses { return true }
    if refusedPass == nil {
      refusedPass = TraceDiagnostic(.tooManyPasses(bytes: ByteCount(ReadingLimits.eventBytes(of: chunks))))
    }
    return false
  }

  /// Begins a pass over the events. False if the pass is refused.
  func beginPass() -> Bool {
    guard mayReplay(times: 1) else { return false }
    budget.resume()
    // A pass over a trace without events counts, too.
    replayedBytes &+= max(1, ReadingLimits.eventBytes(of: chunks))
    return true
  }

  /// Notes that a pass stopped after some of the events. Later passes stop there, too.
  func noteStop(_ reason: ReadingStop.Reason, after read: UInt64, at time: UInt64) {
    let count = chunks.reduce(UInt64(0)) { $0 &+ ($1.kind == .events ? $1.eventCount : 0) }
    let diagnostic = TraceDiagnostic(.stopped(ReadingStop(reason: reason, place: .events(read: read, of: count))))
    if hasReplayed { refusedPass = refusedPass ?? diagnostic } else { diagnostics.append(diagnostic) }
    (eventLimit, stopTime) = (min(eventLimit, read), min(stopTime ?? .max, time))
  }

  func reportWhileReplaying(_ diagnostic: TraceDiagnostic) {
    if !hasReplayed { diagnostics.append(diagnostic) }
  }

  /// The drop counters of the closing record; without a closing record, of the status block.
  package var drops: DropCounts { closing?.drops ?? status.drops }
}
