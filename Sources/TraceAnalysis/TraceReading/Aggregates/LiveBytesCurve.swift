// Live bytes in the course of a process's work.

/// The live bytes of a process after certain numbers of its events. A long trace has 64 to 128 points at equal
/// distances.
package struct LiveBytesCurve: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    /// The number of the process's events so far.
    package var events: UInt64
    /// The time of the last of these events, in ticks.
    package var time: UInt64
    package var liveBytes: UInt64

    package init(events: UInt64, time: UInt64, liveBytes: UInt64) {
      (self.events, self.time, self.liveBytes) = (events, time, liveBytes)
    }
  }

  /// The points, in order.
  package private(set) var points: [Point] = []

  package init(_ points: [Point] = []) { self.points = points }

  /// Adds a point at a number of events that `CurveSchedule.next(after:)` returned. Amortised constant time.
  mutating func add(_ point: Point) {
    let step = CurveSchedule.step(at: point.events)
    // The distance has doubled: every second point remains.
    if let last = points.last, CurveSchedule.step(at: last.events) != step {
      points.removeAll { $0.events % step != 0 }
    }
    points.append(point)
  }
}
