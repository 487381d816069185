// A batch of merged events that is passed to a sink.

/// A sequence of events, with the marks among them. Owns its memory, which is reused for further events. For one thread
/// at a time.
final class EventBatch: @unchecked Sendable {
  /// The most events of a batch. So few events stay in the cache from the decoder to the replay.
  static let capacity = 1024

  let start = UnsafeMutablePointer<TraceEvent>.allocate(capacity: capacity)
  var count = 0
  /// True if other threads still have events after the batch.
  var hasOthers = false
  /// The marks that first appear in events of this batch.
  var marks: [NamedMark] = []

  init() { start.initialize(repeating: TraceEvent(), count: Self.capacity) }

  deinit { start.deallocate() }

  var room: Int { Self.capacity - count }

  /// Removes the events after a time, in ticks. Linear.
  func leaveOut(after end: UInt64) {
    var kept = 0
    for index in 0..<count where start[index].time <= end {
      if kept != index { start[kept] = start[index] }
      kept += 1
    }
    count = kept
  }

  func removeAll() {
    count = 0
    marks.removeAll()
  }
}
