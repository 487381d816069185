// Builds traces for tests, event by event.

import CTraceFormat

@testable import TraceReading

/// Builds a trace from definitions, and from events by thread. `bytes` returns the result.
package struct TraceBuilder {
  package var header: TraceHeader
  package var definitions: [Definition] = []
  package var closing: TraceClosing?
  package var compression: TraceWriter.Compression = .zstd
  /// The number of events in each chunk of a thread.
  package var eventsPerChunk = Int.max
  /// The heap images, with their words.
  package var snapshots: [(snapshot: TraceSnapshot, words: [(address: UInt64, value: UInt64)])] = []
  /// Parts of lists of blocks, which are chunks beside the events.
  package var blockParts: [BlockPart] = []
  package private(set) var events: [UInt32: [TraceEvent]] = [:]
  package let stacks = StackTree()
  package let marks = MarkTable()
  private var nextType: UInt32 = 1

  /// Begins a trace whose ticks are nanoseconds since 0.
  package init() {
    header = TraceHeader()
    header.clock = .monotonic
    header.ticksPerSecond = 1_000_000_000
    header.traceID = 0x1234_5678_9ABC_DEF0
    header.processID = 42
  }

  /// A part of a list of blocks.
  package struct BlockPart {
    package var snapshot: UInt32 = 1
    package var part: UInt32 = 0
    package var isLast = true
    package var blocks: [ListedBlock]
    /// The time of the image, in ticks.
    package var time: UInt64

    package init(_ blocks: [ListedBlock], time: UInt64) { (self.blocks, self.time) = (blocks, time) }

    var payload: [UInt8] {
      var builder = ByteBuilder()
      builder.bytes = rawBytes(of: lt_block_part(snapshot: snapshot, part: part, isLast: isLast ? 1 : 0, reserved: 0))
      var last: UInt64 = 0
      for block in blocks {
        builder.varint(block.address &- last)
        builder.varint(block.size)
        builder.varint(UInt64(block.type))
        last = block.address
      }
      return builder.bytes
    }
  }

  /// Returns the stack with these return addresses, outermost first.
  package func stack(_ addresses: [UInt64]) -> StackID {
    stacks.stack(addresses)
  }

  package mutating func type(_ name: String, kind: TraceType.Kind = .class, superclass: UInt32 = 0) -> UInt32 {
    definitions.append(
      .type(
        TraceType(
          id: nextType, metadata: RuntimeAddress(UInt64(nextType) << 12), kind: kind, name: name, superclass: superclass
        )))
    nextType += 1
    return nextType - 1
  }

  package mutating func image(_ path: String, _ range: Range<UInt64>, bias: UInt64 = 0, buildID: [UInt8] = []) {
    definitions.append(
      .imageLoaded(
        LoadedImage(
          path: path, buildID: buildID, loadBias: bias,
          range: RuntimeAddress(range.lowerBound)..<RuntimeAddress(range.upperBound)),
        time: 0))
  }

  package mutating func append(_ event: TraceEvent) {
    events[event.thread, default: []].append(event)
  }

  /// Appends an event at `time` ticks. The times of a thread must not decrease.
  package mutating func event(
    _ operation: Operation, _ address: UInt64, size: UInt64 = 0, type: UInt32 = 0, stack: StackID = .empty,
    time: UInt64,
    thread: UInt32 = 1, task: UInt64 = 0
  ) {
    var event = TraceEvent(
      operation: operation, address: address, size: size, type: type, stack: stack, time: time, thread: thread)
    event.task = task
    append(event)
  }

  /// Appends a mark, whose texts have their numbers from `marks`. `task`: the task of the thread's last event by
  /// default.
  package mutating func mark(_ mark: TraceMark, thread: UInt32 = 1, task: UInt64? = nil) {
    var event = TraceEvent(operation: .mark, size: UInt64(marks.append(mark)), time: mark.time, thread: thread)
    event.task = task ?? events[thread]?.last?.task ?? 0
    append(event)
  }

  /// Returns the trace. Every event carries its time, rounded down to 8 ticks.
  package func bytes() throws -> [UInt8] {
    var writer = TraceWriter(header: header)
    if !definitions.isEmpty { try writer.append(definitions, compression: compression) }
    let encoder = EventEncoder(stacks: stacks, referenceCounting: header.referenceCounting)
    for (thread, events) in events.sorted(by: { $0.key < $1.key }) {
      var start = 0
      while start < events.count {
        let part = events[start..<min(events.count, start + min(eventsPerChunk, events.count))]
        let firstTime = part[part.startIndex].time & ~7
        encoder.begin(firstTime: firstTime)
        encoder.makeTimesExact()
        var task: UInt64 = 0
        for event in part {
          if event.operation == .mark {
            if event.task != task { encoder.change(task: event.task) }
            encoder.append(marks.marks[Int(event.size)], of: marks)
          } else {
            encoder.append(event)
          }
          task = event.task
        }
        try writer.append(encoder, thread: thread, firstTime: firstTime, compression: compression)
        start = part.endIndex
      }
    }
    for part in blockParts {
      try writer.append(
        kind: .blocks, thread: 0, payload: part.payload, firstTime: part.time, lastTime: part.time,
        compression: compression)
    }
    for (snapshot, words) in snapshots {
      try writer.append(snapshot, words: words, pagesPerPart: 2, compression: compression)
    }
    if let closing { try writer.append(closing) }
    return writer.bytes
  }

  package func reader() throws -> TraceReader { try TraceReader(bytes: bytes()) }
}
