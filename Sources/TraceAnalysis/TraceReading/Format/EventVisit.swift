// The events of a trace one by one, without a heap that is rebuilt from them.

extension TraceReader {
  /// Calls `body` with every event of the trace, merged by time, until it throws, and rethrows its error. One pass over
  /// the events; a pass beyond the limit for the file's size has no events. O(events · log threads).
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
