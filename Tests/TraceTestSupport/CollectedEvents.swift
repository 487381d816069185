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

  /// Returns a reader's events with the stack numbers of `tree`, and without their positions in the file. Such events
  /// can be compared with events of other traces.
  package static func of(_ reader: TraceReader, in tree: StackTree) -> [TraceEvent] {
    of(reader).map { $0.content.moved(from: reader.definitions.stacks, to: tree) }
  }
}

extension TraceEvent {
  /// The event without the fields for its position in the file.
  package var content: TraceEvent {
    TraceEvent(operation: operation, address: address, size: size, type: type, stack: stack, time: time, thread: thread)
  }

  /// Returns the event with the number that its stack has in another tree.
  package func moved(from old: StackTree, to new: StackTree) -> TraceEvent {
    var event = self
    event.stack = new.stack(old.keys(of: stack))
    return event
  }
}
