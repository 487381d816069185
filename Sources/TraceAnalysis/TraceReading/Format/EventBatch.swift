// Merged events on their way to their sink.

/// A row of events, and the marks among them. Owns its memory, which is used again and again. For one thread at a time.
final class EventBatch: @unchecked Sendable {
  /// So few that they stay in the cache from the decoder to the replay.
  static let capacity = 1024

  let start = UnsafeMutablePointer<TraceEvent>.allocate(capacity: capacity)
  var count = 0
  /// Events of other threads are still to come.
  var hasOthers = false
  /// The marks that first appear in events of this batch.
  var marks: [NamedMark] = []

  init() { start.initialize(repeating: TraceEvent(), count: Self.capacity) }

  deinit { start.deallocate() }

  var room: Int { Self.capacity - count }

  /// Leaves out events after a time, in ticks. Linear.
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
