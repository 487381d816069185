// Reading the records of a trace that are not events.

/// Collects the contents of all chunks without events: definitions, heap images, and the closing record.
struct TraceRecords {
  var definitions: DefinitionCollector
  private(set) var snapshots: SnapshotCollector
  /// The closing record, if no events or definitions come after it.
  private(set) var closing: TraceClosing?

  private let budget: ReadingBudget

  init(limits: ReadingLimits, budget: ReadingBudget) {
    self.budget = budget
    definitions = DefinitionCollector(limits: limits, budget: budget)
    snapshots = SnapshotCollector(limits: limits)
  }

  /// Reads the chunks in order, until the budget ends. Linear in their payloads.
  mutating func read(_ chunks: [TraceChunk], with loader: PayloadLoader, diagnostics: inout TraceDiagnostics) {
    let buffer = PayloadBuffer()
    for (index, chunk) in chunks.enumerated() {
      switch chunk.kind {
      case .definitions, .closing, .snapshot, .snapshotEnd:
        guard budget.mayGoOn(adding: chunk.plausibleRawSize) else { continue }
        if let failure = loader.load(chunk, into: buffer) {
          diagnostics.append(.init(failure, at: chunk.place, chunk: index))
        } else {
          take(buffer, of: chunk, at: index, diagnostics: &diagnostics)
        }
      case .memory: snapshots.takeMemory(chunk: index, time: chunk.firstTime)
      case .blocks: snapshots.takeBlocks(chunk: index, time: chunk.firstTime)
      case .events, .void, .fileParts, .names, .unknown: break
      }
      if chunk.kind == .definitions || chunk.kind == .events { closing = nil }
    }
    if let reason = budget.stop {
      diagnostics.append(.init(.stopped(ReadingStop(reason: reason, place: .definitions))))
    }
  }

  private mutating func take(
    _ payload: PayloadBuffer, of chunk: TraceChunk, at index: Int, diagnostics: inout TraceDiagnostics
  ) {
    switch chunk.kind {
    case .definitions:
      definitions.collect(payload, place: chunk.place, chunk: index, diagnostics: &diagnostics)
    case .closing:
      if let record = TraceClosing(decoding: payload.bytes) {
        closing = record
      } else {
        diagnostics.append(.init(.damagedClosing, at: chunk.place, chunk: index))
      }
    case .snapshot, .snapshotEnd:
      if let damage = snapshots.take(payload.bytes, of: chunk) {
        diagnostics.append(.init(damage, at: chunk.place, chunk: index))
      }
    case .events, .memory, .blocks, .void, .fileParts, .names, .unknown: break
    }
  }

  /// Adds the threads of the live file. The trace may not contain their definitions yet.
  mutating func addThreads(of payloads: [LivePayload]) {
    for payload in payloads where payload.osThread != 0 {
      definitions.add(
        ThreadRecord(thread: payload.thread, osThread: UInt64(payload.osThread), time: payload.firstTime))
    }
  }
}
