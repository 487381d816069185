// Progress of reading a trace's events.

/// The position of a pass over the events of a trace.
package struct ReadingPosition: Hashable, Sendable {
  /// The stored bytes of the event chunks that are done (`bytes`), and of all event chunks (`totalBytes`).
  package var bytes: UInt64 = 0
  package var totalBytes: UInt64
  package var events: UInt64 = 0
  /// The number of the pass over the events, from 0.
  package var pass = 0

  package init(totalBytes: UInt64) { self.totalBytes = totalBytes }

  /// Moves the position to `chunk`. `last`: the previous chunk, which is now done. A chunk that exceeds the total is
  /// the first chunk of another pass.
  mutating func advance(to chunk: TraceChunk, past last: TraceChunk?) {
    if let last {
      bytes += UInt64(last.storedSize)
      events += UInt64(last.eventCount)
    }
    if bytes + UInt64(chunk.storedSize) > totalBytes {
      bytes = 0
      events = 0
      pass += 1
    }
  }
}

extension TraceReader {
  /// Sets a function that is called before each chunk of events is read, with the position before the chunk. The call
  /// is on the reading thread. O(chunks).
  package func whileReading(_ tell: @escaping (ReadingPosition) -> Void) {
    var position = ReadingPosition(
      totalBytes: chunks.lazy.filter { $0.kind == .events }.reduce(0) { $0 + UInt64($1.storedSize) })
    var last: TraceChunk?
    loader.willLoadEvents = { chunk in
      position.advance(to: chunk, past: last)
      last = chunk
      tell(position)
    }
  }
}
