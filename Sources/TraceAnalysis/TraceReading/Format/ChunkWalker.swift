// Reading one chunk's records by themselves, in file order.

/// Decodes chunks one at a time, whatever their order in time. For one thread at a time; memory of one chunk.
package final class ChunkWalker {
  private let reader: TraceReader
  private let buffer = PayloadBuffer()
  private var decoder: EventDecoder

  /// `stacks` says whose stacks are looked up: the tree of `reader` grows with them.
  package init(_ reader: TraceReader, stacks: StackSelection = .all) {
    self.reader = reader
    reader.definitions.stacks.beginPass()
    decoder = reader.makeDecoder(wanting: stacks)
  }

  deinit { decoder.deallocate() }

  /// Calls `body` with each definition of chunk `index` and its offset in the payload. Damage is added to the reader's
  /// diagnostics only while it opens, not here. Linear.
  package func definitions(inChunk index: Int, _ body: (Definition, Int) throws -> Void) rethrows {
    guard reader.chunks[index].kind == .definitions, reader.loader.load(reader.chunks[index], into: buffer) == nil
    else { return }
    var decoder = DefinitionDecoder(buffer)
    while true {
      switch decoder.next() {
      case .definition(let definition): try body(definition, decoder.recordOffset)
      case .damagedRecord: continue
      case .damaged, .end: return
      }
    }
  }

  /// Calls `body` with each event of chunk `index`. Returns the damage that broke it off, if any. Linear.
  package func events(inChunk index: Int, _ body: (TraceEvent) throws -> Void) rethrows -> TraceDiagnostic? {
    let chunk = reader.chunks[index]
    guard chunk.kind == .events else { return nil }
    if let failure = reader.loader.load(chunk, into: buffer) { return .init(failure, at: chunk.place, chunk: index) }
    // A local copy, put back at the end, spares checks for exclusive access.
    var decoder = self.decoder
    defer { self.decoder = decoder }
    decoder.begin(buffer, firstTime: chunk.firstTime)
    var event = TraceEvent()
    event.thread = chunk.thread
    event.chunk = UInt32(truncatingIfNeeded: index)
    while true {
      switch decoder.next(&event) {
      case .event: try body(event)
      case .end: return nil
      case .damaged:
        return .init(
          .damagedEvents(payloadOffset: decoder.offset, events: decoder.eventCount), at: chunk.place, chunk: index)
      }
    }
  }

  /// The number of events in chunk `index`, by decoding it.
  package func countEvents(inChunk index: Int) -> UInt64 {
    var time: UInt64 = 0
    return countEvents(inChunk: index, lastTime: &time)
  }

  /// Also sets `lastTime` to the time of the last event or time record.
  func countEvents(inChunk index: Int, lastTime: inout UInt64) -> UInt64 {
    let chunk = reader.chunks[index]
    guard chunk.kind == .events, reader.loader.load(chunk, into: buffer) == nil else { return 0 }
    var decoder = self.decoder
    defer { self.decoder = decoder }
    decoder.begin(buffer, firstTime: chunk.firstTime)
    var event = TraceEvent()
    while case .event = decoder.next(&event) {}
    lastTime = decoder.time
    return decoder.eventCount
  }

  /// The number of the heap image that begins in chunk `index`.
  package func snapshotNumber(inChunk index: Int) -> UInt32? {
    guard reader.chunks[index].kind == .snapshot, reader.loader.load(reader.chunks[index], into: buffer) == nil else {
      return nil
    }
    return TraceSnapshot(decoding: buffer.bytes)?.number
  }

  /// The closing record in chunk `index`.
  package func closing(inChunk index: Int) -> TraceClosing? {
    guard reader.chunks[index].kind == .closing, reader.loader.load(reader.chunks[index], into: buffer) == nil else {
      return nil
    }
    return TraceClosing(decoding: buffer.bytes)
  }
}
