// When the next image is due.

/// Times of images, in seconds of a clock that only goes forward: multiples of the interval after the start, however
/// long an image takes. Those that are missed meanwhile are left out. A value.
package struct WatchSchedule: Hashable, Sendable {
  package let start: Double
  package let interval: Double

  /// `interval`: above zero.
  package init(start: Double, interval: Double) {
    precondition(interval > 0, "an interval lasts")
    (self.start, self.interval) = (start, interval)
  }

  /// The first time after `now`.
  package func next(after now: Double) -> Double {
    now < start ? start : start + (((now - start) / interval).rounded(.down) + 1) * interval
  }

  /// Times that were missed between one that was kept and the next that can be.
  package func missed(between kept: Double, and next: Double) -> Int {
    max(0, Int(((next - kept) / interval).rounded()) - 1)
  }
}

/// Tells when a process reaches a size: once, and then only if it has grown by a quarter since, or had fallen well
/// below. A process that stays at its limit is not looked at without end. A value.
package struct SizeThreshold: Hashable, Sendable {
  package let limit: Double
  private var next: Double

  /// Of the limit: below it the process has fallen back.
  private static let fallback = 0.9
  private static let growth = 1.25

  package init(limit: Double) { (self.limit, next) = (limit, limit) }

  /// True if an image is due.
  package mutating func isReached(by size: Double) -> Bool {
    if size < limit * Self.fallback { next = limit }
    guard size >= next else { return false }
    next = size * Self.growth
    return true
  }
}
