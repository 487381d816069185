// Visiting the events of a trace without rebuilding the heap.

extension TraceReader {
  /// Calls `body` with every event of the trace, merged by time. If `body` throws, stops calling it and rethrows the
  /// error. Takes one pass over the events. If the limit for the file's size allows no further pass, `body` is not
  /// called. O(events · log threads).
  package func forEachEvent(_ body: (TraceEvent) throws -> Void) throws {
    let failure = withoutActuallyEscaping(body) { body in
      var visit = EventVisit(body: body)
      replay(into: &visit)
      return visit.failure
    }
    if let failure { throw failure }
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
