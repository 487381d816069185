// Gathers what a reader hands out.

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

  /// With stacks numbered as in `tree`, to be compared with events that stand in other traces or in none, and without
  /// their places.
  package static func of(_ reader: TraceReader, in tree: StackTree) -> [TraceEvent] {
    of(reader).map { $0.content.moved(from: reader.definitions.stacks, to: tree) }
  }
}

extension TraceEvent {
  /// Without the fields that say where it stood in the file.
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
