// Reading the records of single chunks.

/// Decodes chunks one at a time, in any order. Takes the memory of one chunk. For one thread at a time.
package final class ChunkWalker {
  private let reader: TraceReader
  private let buffer = PayloadBuffer()
  private var decoder: EventDecoder

  /// `stacks` selects the events whose stacks are looked up. The stacks are added to the tree of `reader`.
  package init(_ reader: TraceReader, stacks: StackSelection = .all) {
    self.reader = reader
    reader.definitions.stacks.beginPass()
    decoder = reader.makeDecoder(wanting: stacks)
  }

  deinit { decoder.deallocate() }

  /// Calls `body` with each definition of chunk `index` and its offset in the payload. Damage is not reported here,
  /// because the reader has already reported it when it opened the trace. Linear.
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

  /// Calls `body` with each event of chunk `index`. Returns the damage that ended the chunk early; nil if there is
  /// none. Linear.
  package func events(inChunk index: Int, _ body: (TraceEvent) throws -> Void) rethrows -> TraceDiagnostic? {
    let chunk = reader.chunks[index]
    guard chunk.kind == .events else { return nil }
    if let failure = reader.loader.load(chunk, into: buffer) { return .init(failure, at: chunk.place, chunk: index) }
    // A local copy, which is stored back at the end, avoids checks for exclusive access.
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

  /// Decodes chunk `index` and returns the number of its events.
  func countEvents(inChunk index: Int) -> UInt64 {
    var time: UInt64 = 0
    return countEvents(inChunk: index, lastTime: &time)
  }

  /// Decodes chunk `index` and returns the number of its events. Sets `lastTime` to the time of its last event or time
  /// record.
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
