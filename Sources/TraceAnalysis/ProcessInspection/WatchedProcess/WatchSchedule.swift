// Decides when heap images are taken.

/// Times of heap images, in seconds of a monotonic clock. They are multiples of the interval after the start,
/// regardless of how long an image takes. Times that pass while an image is taken are skipped.
package struct WatchSchedule: Hashable, Sendable {
  package let start: Double
  package let interval: Double

  /// `interval`: must be above 0.
  package init(start: Double, interval: Double) {
    precondition(interval > 0, "an interval lasts")
    (self.start, self.interval) = (start, interval)
  }

  /// Returns the first time after `now`.
  package func next(after now: Double) -> Double {
    now < start ? start : start + (((now - start) / interval).rounded(.down) + 1) * interval
  }

  /// Returns the number of scheduled times that were skipped between the last heap image and the next one.
  package func missed(between kept: Double, and next: Double) -> Int {
    max(0, Int(((next - kept) / interval).rounded()) - 1)
  }
}

/// Decides when a heap image is due because a process has reached a size. Another image is due only in two cases: the
/// process has grown by a quarter since, or it has fallen well below the limit and reached it again. So a process that
/// stays at its limit does not cause endless images.
package struct SizeThreshold: Hashable, Sendable {
  package let limit: Double
  private var next: Double

  /// Share of the limit below which the process counts as having fallen back.
  private static let fallback = 0.9
  private static let growth = 1.25

  package init(limit: Double) { (self.limit, next) = (limit, limit) }

  /// Returns whether a heap image is due at this size. If it is, raises the size for the next one.
  package mutating func isReached(by size: Double) -> Bool {
    if size < limit * Self.fallback { next = limit }
    guard size >= next else { return false }
    next = size * Self.growth
    return true
  }
}
