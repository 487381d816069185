// Opening a trace: its contents, and its damage.

import CTraceFormat

/// An opened trace: its header, its sound chunks, and all its definitions. Events are read on demand, in order of time
/// (`replay(into:)`) or chunk by chunk (`ChunkWalker`).
///
/// Damage inside the trace is stepped over and told in `diagnostics`. Reading never takes more memory than the file
/// justifies.
/// For one thread at a time.
package final class TraceReader {
  package let header: TraceHeader
  package let status: TraceStatus
  /// The closing record, if it is the last chunk: then the trace is whole.
  package let closing: TraceClosing?
  package let definitions: TraceDefinitions
  /// The heap images that were begun, in order of time.
  package let snapshots: [TraceSnapshot]
  /// Heap images that failed before anything of them was written.
  package let failedSnapshots: [FailedSnapshot]
  /// Scopes and expectations of itself, as far as events have been read.
  package let marks = MarkTable()
  /// Sound chunks in file order, then the payloads of the live file that the trace does not hold yet.
  package let chunks: [TraceChunk]
  /// Bytes of the trace file.
  package let fileSize: ByteCount
  /// True if a live file with its `traceID` stands beside it.
  package let hasLiveFile: Bool
  package private(set) var diagnostics: TraceDiagnostics
  /// The amount of work that its file pays for.
  package let limits: ReadingLimits
  package let loader: PayloadLoader
  private let source: ByteSource
  /// A second pass finds the same damage again.
  var hasReplayed = false
  /// Bytes of events, in all passes so far.
  private var replayedBytes: UInt64 = 0
  /// The reason why a pass over the events was refused, if one was: its results are not known.
  package private(set) var refusedPass: TraceDiagnostic?

  /// Opens the trace at `path`, and the live file beside it if there is one. The live file is read first, so that
  /// chunks that a running process seals in between are in the trace. Linear in the file.
  package convenience init(path: String) throws(TraceFormatError) {
    // The snapshot of the live file must be older than the scan of the trace, but is checked against the trace's
    // header.
    let header = try Self.header(of: ByteSource(path: path))
    let liveFile = LiveFile(path: path + LT_LIVE_SUFFIX, traceID: header.traceID)
    try self.init(source: ByteSource(path: path), header: header, liveFile: liveFile)
  }

  /// Opens a trace, and its live file if given, that stand in memory.
  package convenience init(bytes: [UInt8], liveBytes: [UInt8]? = nil) throws(TraceFormatError) {
    try self.init(bytes: bytes, liveBytes: liveBytes, limits: nil)
  }

  /// `limits`: in the place of those that the size justifies.
  convenience init(bytes: [UInt8], liveBytes: [UInt8]? = nil, limits: ReadingLimits?) throws(TraceFormatError) {
    let source = ByteSource(bytes: bytes)
    let header = try Self.header(of: source)
    try self.init(
      source: source, header: header,
      liveFile: liveBytes.map { LiveFile(source: ByteSource(bytes: $0), traceID: header.traceID) }, limits: limits)
  }

  private static func header(of source: ByteSource) throws(TraceFormatError) -> TraceHeader {
    let count = Int(min(source.size, UInt64(LT_TRACE_HEADER_SIZE)))
    let page = source.bytes(at: 0, count: count) ?? []
    let header = try TraceHeader(decoding: page)
    if page.count < Int(LT_TRACE_HEADER_SIZE) { throw .truncatedHeader(size: ByteCount(UInt64(page.count))) }
    return header
  }

  private init(source: ByteSource, header: TraceHeader, liveFile: LiveFile?, limits givenLimits: ReadingLimits? = nil)
    throws(TraceFormatError)
  {
    self.header = header
    self.source = source
    fileSize = ByteCount(source.size)
    status = TraceStatus(
      decoding: source.bytes(at: UInt64(LT_TRACE_STATUS_OFFSET), count: MemoryLayout<lt_trace_status>.size)
        ?? Array(repeating: 0, count: MemoryLayout<lt_trace_status>.size))
    var diagnostics = TraceDiagnostics()
    let liveSize = (liveFile?.payloads ?? []).reduce(UInt64(0)) { $0 + UInt64($1.bytes.count) }
    let limits = givenLimits ?? ReadingLimits(fileSize: source.size + liveSize)
    self.limits = limits
    var scanner = ChunkScanner(source: source, damageLimit: limits.damagedBytes)
    scanner.scan()
    var contents = ChunkContents(scanned: scanner.chunks, diagnostics: &diagnostics)
    if let liveFile {
      for diagnostic in liveFile.diagnostics { diagnostics.append(diagnostic) }
      contents.add(liveFile.payloads)
    }
    for (index, diagnostic) in scanner.diagnostics.enumerated() {
      // A chunk that was being written when its process died is no loss if the live file, or the tool that finished the
      // trace, had it all.
      if let torn = scanner.torn[index], contents.holds(torn) { continue }
      diagnostics.append(diagnostic)
    }
    contents.reportMissing(diagnostics: &diagnostics)
    var chunks = contents.chunks
    for index in limits.refusedChunks(chunks) { chunks[index].isRefused = true }
    self.chunks = chunks
    hasLiveFile =
      liveFile.map { file in
        !file.diagnostics.contains { if case .liveFileIgnored = $0.kind { true } else { false } }
      } ?? false
    loader = PayloadLoader(source: source, livePayloads: liveFile?.payloads ?? [])

    var collector = DefinitionCollector(limits: limits)
    let buffer = PayloadBuffer()
    var closing: TraceClosing?
    var snapshots = SnapshotCollector(fileSize: source.size)
    for (index, chunk) in chunks.enumerated() {
      switch chunk.kind {
      case .definitions:
        if let failure = loader.load(chunk, into: buffer) {
          diagnostics.append(.init(failure, at: chunk.place, chunk: index))
        } else {
          collector.collect(buffer, place: chunk.place, chunk: index, diagnostics: &diagnostics)
        }
      case .closing:
        if let failure = loader.load(chunk, into: buffer) {
          diagnostics.append(.init(failure, at: chunk.place, chunk: index))
        } else if let record = TraceClosing(decoding: buffer.bytes) {
          closing = record
        } else {
          diagnostics.append(.init(.damagedClosing, at: chunk.place, chunk: index))
        }
      case .events:
        closing = nil
      case .snapshot, .snapshotEnd:
        if let failure = loader.load(chunk, into: buffer) {
          diagnostics.append(.init(failure, at: chunk.place, chunk: index))
        } else if let damage = snapshots.take(buffer.bytes, of: chunk) {
          diagnostics.append(.init(damage, at: chunk.place, chunk: index))
        }
      case .memory:
        snapshots.takeMemory(chunk: index, time: chunk.firstTime)
      case .unknown:
        break
      }
      if chunk.kind == .definitions { closing = nil }
    }
    for payload in liveFile?.payloads ?? [] where payload.osThread != 0 {
      collector.add(ThreadRecord(thread: payload.thread, osThread: UInt64(payload.osThread), time: payload.firstTime))
    }
    definitions = collector.finish(diagnostics: &diagnostics)
    self.snapshots = snapshots.finish()
    failedSnapshots = snapshots.failures
    self.closing = closing
    self.diagnostics = diagnostics
  }

  /// Ticks as seconds.
  package var clock: TraceClock { TraceClock(header: header, samples: definitions.clockSamples, closing: closing) }

  /// The chunk whose sound header stands at `offset`, whatever its payload.
  func tornChunk(at offset: UInt64) -> TraceChunk? {
    source.bytes(at: offset, count: TraceChunk.headerSize)?.withUnsafeBytes {
      TraceChunk(header: $0.baseAddress!, offset: offset)
    }
  }

  /// `marks` takes those that are met; the reader's own unless given.
  func makeDecoder(wanting stacks: StackSelection, marks: MarkTable? = nil) -> EventDecoder {
    EventDecoder(
      stacks: definitions.stacks, marks: marks ?? self.marks, referenceCounting: header.referenceCounting,
      wanting: stacks)
  }

  /// The number of further passes over the events that the file pays for. The first is always made.
  var sparePasses: Int {
    let spare = limits.replayedBytes - min(replayedBytes, limits.replayedBytes)
    return max(replayedBytes == 0 ? 1 : 0, Int(clamping: spare / max(1, ReadingLimits.eventBytes(of: chunks))))
  }

  /// Returns for how many heap images the events may be replayed once more and a graph be built of so many live blocks.
  package func replays(blocks: Int) -> Int {
    // One each is left for freed blocks, for growth, and for stacks.
    min(
      sparePasses, max(1, sparePasses - 3),
      limits.replays(ofBytes: ReadingLimits.eventBytes(of: chunks), blocks: blocks))
  }

  /// Tells whether so many passes may be made now. If not, `refusedPass` says why.
  package func mayReplay(times: Int) -> Bool {
    if times <= sparePasses { return true }
    if refusedPass == nil {
      refusedPass = TraceDiagnostic(.tooManyPasses(bytes: ByteCount(ReadingLimits.eventBytes(of: chunks))))
    }
    return false
  }

  /// Begins a pass over the events; false if it is refused.
  func beginPass() -> Bool {
    guard mayReplay(times: 1) else { return false }
    // A pass that reads nothing counts, too.
    replayedBytes += max(1, ReadingLimits.eventBytes(of: chunks))
    return true
  }

  func reportWhileReplaying(_ diagnostic: TraceDiagnostic) {
    if !hasReplayed { diagnostics.append(diagnostic) }
  }

  /// The closing record's drop counters, or the status block's.
  package var drops: DropCounts { closing?.drops ?? status.drops }
}

/// The chunks of a trace, each thread, kind and number once.
private struct ChunkContents {
  private struct Identity: Hashable {
    var thread: UInt32
    var kind: ChunkKind
    var sequence: UInt32
  }

  private(set) var chunks: [TraceChunk] = []
  private var known: Set<Identity> = []

  init(scanned: [TraceChunk], diagnostics: inout TraceDiagnostics) {
    for chunk in scanned {
      switch chunk.kind {
      case .definitions, .events:
        guard known.insert(Identity(thread: chunk.thread, kind: chunk.kind, sequence: chunk.sequence)).inserted else {
          diagnostics.append(.init(.duplicateChunk(thread: chunk.thread, sequence: chunk.sequence), at: chunk.place))
          continue
        }
      case .closing, .snapshot, .memory, .snapshotEnd, .unknown: break
      }
      chunks.append(chunk)
    }
  }

  mutating func add(_ payloads: [LivePayload]) {
    for (index, payload) in payloads.enumerated() {
      guard known.insert(Identity(thread: payload.thread, kind: payload.kind, sequence: payload.sequence)).inserted
      else { continue }
      chunks.append(
        TraceChunk(
          kind: payload.kind, thread: payload.thread, sequence: payload.sequence, firstTime: payload.firstTime,
          lastTime: payload.lastTime,
          eventCount: payload.eventCount, compression: 0, storedSize: UInt32(payload.bytes.count),
          rawSize: UInt32(payload.bytes.count),
          place: .live(FileOffset(payload.offset)), livePayload: index))
    }
  }

  /// Tells whether there is a sound chunk of the same thread, kind and number.
  func holds(_ chunk: TraceChunk) -> Bool {
    known.contains(Identity(thread: chunk.thread, kind: chunk.kind, sequence: chunk.sequence))
  }

  func reportMissing(diagnostics: inout TraceDiagnostics) {
    struct Row: Hashable {
      var thread: UInt32
      var kind: ChunkKind
    }
    var numbers: [Row: [UInt32]] = [:]
    for chunk in chunks where chunk.kind == .definitions || chunk.kind == .events {
      numbers[Row(thread: chunk.thread, kind: chunk.kind), default: []].append(chunk.sequence)
    }
    for (row, sequences) in numbers.sorted(by: {
      ($0.key.thread, $0.key.kind.rawValue) < ($1.key.thread, $1.key.kind.rawValue)
    }) {
      var expected: UInt64 = 0
      for sequence in sequences.sorted() {
        if UInt64(sequence) > expected {
          diagnostics.append(
            .init(.missingChunks(thread: row.thread, kind: row.kind, sequences: UInt32(expected)...(sequence - 1))))
        }
        expected = UInt64(sequence) + 1
      }
    }
  }
}
