// Live memory in the course of a recording.

/// The live bytes and blocks over time, in intervals of equal length: for each interval, the most that were live in it.
///
/// Memory is proportional to the number of intervals, whatever the trace's length. Amortised constant time for each
/// event.
package struct LiveTimeline: ReplayObserver {
  package struct Interval: Hashable, Sendable {
    /// The end of the interval, in ticks.
    package var end: UInt64
    /// The most live bytes and the most live blocks in the interval.
    package var liveBytes: UInt64
    package var liveBlocks: UInt64
  }

  /// The number of intervals for a chart: about as many as a chart has columns of pixels.
  static let standardCount = 400

  private let start: UInt64
  private let width: UInt64
  private let count: Int
  private var finished: [Interval] = []
  private var live = (bytes: UInt64(0), blocks: UInt64(0))
  private var most = (bytes: UInt64(0), blocks: UInt64(0))

  /// Makes a timeline of `count` intervals from `start` to `end`, in ticks.
  package init(from start: UInt64, to end: UInt64, count: Int = Self.standardCount) {
    self.start = start
    self.count = max(1, count)
    width = max(1, (end - min(start, end)) / UInt64(self.count) + 1)
    finished.reserveCapacity(self.count)
  }

  /// All intervals, in order. Intervals after the last event have the blocks that were live after this event.
  package var intervals: [Interval] {
    var result = self
    while result.finished.count < count { result.finish() }
    return result.finished
  }

  private mutating func finish() {
    finished.append(
      Interval(end: start &+ UInt64(finished.count + 1) &* width, liveBytes: most.bytes, liveBlocks: most.blocks))
    most = live
  }

  @inline(__always)
  private mutating func advance(to time: UInt64) {
    guard time > start else { return }
    while finished.count < count - 1, time - start >= UInt64(finished.count + 1) &* width { finish() }
  }

  @inline(__always)
  private mutating func add(_ block: LiveBlock, at time: UInt64) {
    advance(to: time)
    live.blocks &+= 1
    live.bytes &+= block.size
    most = (max(most.bytes, live.bytes), max(most.blocks, live.blocks))
  }

  @inline(__always)
  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) { add(block, at: event.time) }

  @inline(__always)
  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    advance(to: event.time)
    live.blocks &-= 1
    live.bytes &-= block.size
  }

  @inline(__always)
  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) { add(block, at: event.time) }

  @inline(__always)
  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}

  @inline(__always)
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
