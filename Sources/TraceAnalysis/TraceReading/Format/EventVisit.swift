// Visiting the events of a trace without rebuilding the heap.

extension TraceReader {
  /// Calls `body` with every event of the trace, merged by time. If `body` throws, stops calling it and rethrows the
  /// error. Takes one pass over the events. If the limit for the file's size allows no further pass, `body` is not
  /// called. O(events · log threads).
  package func forEachEvent(_ body: @escaping (TraceEvent) throws -> Void) throws {
    // `withoutActuallyEscaping` would put the length of this file's path into the code (Swift 6.3.1), and a release
    // built in another folder would differ.
    var visit = EventVisit(body: body)
    replay(into: &visit)
    if let failure = visit.failure { throw failure }
  }
}

private struct EventVisit: EventSink {
  let body: (TraceEvent) throws -> Void
  var failure: (any Error)?

  mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
    if failure != nil { return .taken }
    do { try body(event) } catch { failure = error }
    return .taken
  }
}
