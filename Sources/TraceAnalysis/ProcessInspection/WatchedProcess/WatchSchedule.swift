// The times of images.

/// Times of images, in seconds of a monotonic clock: multiples of the interval after the start, however long an image
/// takes. Times that pass during an image are skipped. A value.
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

  /// The number of times that were skipped between the last image and the next one.
  package func missed(between kept: Double, and next: Double) -> Int {
    max(0, Int(((next - kept) / interval).rounded()) - 1)
  }
}

/// Decides when a process reaches a size. It does so once; again only if the process has grown by a quarter since, or
/// had fallen well below the limit. So a process that stays at its limit does not cause endless images. A value.
package struct SizeThreshold: Hashable, Sendable {
  package let limit: Double
  private var next: Double

  /// Part of the limit: below it, the process counts as having fallen back.
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
