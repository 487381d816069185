// Gathers what a reader hands out.

@testable import TraceAnalysis

/// The events of a trace in merged order.
public struct CollectedEvents: EventSink {
  public var events: [TraceEvent] = []
  public init() {}

  public mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
    events.append(event)
    return .taken
  }

  public static func of(_ reader: TraceReader) -> [TraceEvent] {
    var sink = CollectedEvents()
    reader.replay(into: &sink)
    return sink.events
  }
}

extension TraceEvent {
  /// Without the fields that say where it stood in the file.
  public var content: TraceEvent {
    TraceEvent(operation: operation, address: address, size: size, type: type, stack: stack, time: time, thread: thread)
  }
}
