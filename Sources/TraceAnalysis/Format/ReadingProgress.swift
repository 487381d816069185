// How far the events of a trace have been read.

/// Where a pass over the events of a trace stands.
public struct ReadingPosition: Hashable, Sendable {
  /// Of the chunks of events, as stored: what is done, and all of it.
  public var bytes: UInt64 = 0
  public var totalBytes: UInt64
  public var events: UInt64 = 0
  /// 0 for the first pass over the events.
  public var pass = 0

  public init(totalBytes: UInt64) { self.totalBytes = totalBytes }

  /// The next chunk is due, after all that is counted so far. One that does not fit any more is the first of another pass.
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
  /// Has `tell` called whenever a chunk of events is about to be read, with what has been read before it, on the thread that reads. O(chunks) once.
  public func whileReading(_ tell: @escaping (ReadingPosition) -> Void) {
    var position = ReadingPosition(totalBytes: chunks.lazy.filter { $0.kind == .events }.reduce(0) { $0 + UInt64($1.storedSize) })
    var last: TraceChunk?
    loader.willLoadEvents = { chunk in
      position.advance(to: chunk, past: last)
      last = chunk
      tell(position)
    }
  }
}
