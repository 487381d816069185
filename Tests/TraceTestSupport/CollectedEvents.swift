// Collects the events that a reader delivers.

@testable import TraceReading

/// The events of a trace in merged order.
package struct CollectedEvents: EventSink {
  package var events: [TraceEvent] = []
  package init() {}

  package mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict {
    events.append(event)
    return .taken
  }

  package static func of(_ reader: TraceReader) -> [TraceEvent] {
    var sink = CollectedEvents()
    reader.replay(into: &sink)
    return sink.events
  }

  /// Numbers stacks as in `tree` and drops positions in the file, to compare events with events of other traces or of
  /// none.
  package static func of(_ reader: TraceReader, in tree: StackTree) -> [TraceEvent] {
    of(reader).map { $0.content.moved(from: reader.definitions.stacks, to: tree) }
  }
}

extension TraceEvent {
  /// The event without the fields for its position in the file.
  package var content: TraceEvent {
    TraceEvent(operation: operation, address: address, size: size, type: type, stack: stack, time: time, thread: thread)
  }

  /// The same stack, by its number in another tree.
  package func moved(from old: StackTree, to new: StackTree) -> TraceEvent {
    var event = self
    event.stack = new.stack(old.keys(of: stack))
    return event
  }
}
