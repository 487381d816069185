// The moments of a replay when observers note figures of the whole process.

/// The numbers of events that are points of a curve. A long trace has 64 points in each doubling of the events.
enum CurveSchedule {
  /// Binary logarithm of the number of points in each doubling of the events.
  private static let pointsShift: UInt64 = 6
  /// Minimum number of events between two points. A replay prefetches the data of this many events together.
  private static let firstStep: UInt64 = 128

  /// Returns the distance between the points near `events`.
  static func step(at events: UInt64) -> UInt64 {
    guard events > 0 else { return firstStep }
    return max(firstStep, (1 << UInt64(63 - events.leadingZeroBitCount)) >> pointsShift)
  }

  /// Returns the number of events at the next point after `events`.
  static func next(after events: UInt64) -> UInt64 {
    let step = step(at: events)
    return (events / step &+ 1) &* step
  }
}
