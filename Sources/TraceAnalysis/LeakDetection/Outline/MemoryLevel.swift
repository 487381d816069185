// Finds out whether a process's memory has levelled off, and what holds the memory.

import HeapAnalysis
import TraceReading

/// The live memory of a process whose growth has stopped. A fact, not a verdict.
package struct MemoryLevel: Hashable, Sendable {
  /// The collection or the variable that retains the most memory.
  package struct Holder: Hashable, Sendable {
    /// The field or variable.
    package var name: String
    /// The type of the objects or of the collection, without modules.
    package var type: String
    package var isCollection: Bool
    /// The number of elements or objects.
    package var count: UInt64
    package var retainedBytes: UInt64
  }

  /// Live bytes at the heap image.
  package var bytes: UInt64
  /// The share of the run before memory was level: of the process's events in a recording, of the time in a series of
  /// heap images. 0 if memory was level from the start.
  package var share: Double
  /// The time when memory became level, and the time of the heap image, in seconds since the recording or the process
  /// began; nil if the clock is unknown.
  package var start: Double?
  package var end: Double?
  package var holder: Holder?

  /// Minimum of live bytes to report. Less memory needs no explanation.
  static let minBytes: UInt64 = 1 << 20
  /// Minimum number of elements or objects of a holder, and the minimum share of the live bytes that they retain.
  private static let (minCount, minShare) = (UInt64(16), 0.1)

  /// Finds the holder among the rows of a heap image. `figures`: returns the figures of a row.
  static func holder(
    _ rows: some Sequence<HolderCensus.Row>, of bytes: UInt64, figures: (HolderCensus.Row) -> HolderFigures
  ) -> Holder? {
    let candidates = rows.filter { $0.isJudged && $0.holderKind != .task }.map { ($0, figures($0)) }.filter {
      $1.count >= minCount && Double($1.retainedBytes) >= minShare * Double(bytes)
    }
    // A collection and its elements are two rows. The elements say more, if they retain as much.
    let best = candidates.max {
      ($0.1.retainedBytes, $1.0.rank, $1.0.key) < ($1.1.retainedBytes, $0.0.rank, $0.0.key)
    }
    return best.map {
      Holder(
        name: $0.key.holder, type: $0.name, isCollection: $0.kind.isCollection, count: $1.count,
        retainedBytes: min($1.retainedBytes, bytes))
    }
  }
}

extension LeakAnalysis {
  /// Returns the level of the live memory; nil if memory still grows, or if its course is not known. Makes a census of
  /// the heap image if memory is level.
  package func memoryLevel() -> MemoryLevel? {
    let (trace, process) = (model.trace, model.trace.definitions.process)
    // Events do not tell when older blocks are freed.
    guard verdicts.hasHistory, !process.isAttached, !process.isForked else { return nil }
    let events = model.activations.ordinal
    let bytes = graph.heap.blocks.reduce(UInt64(0)) { $0 &+ $1.size }
    guard bytes >= MemoryLevel.minBytes else { return nil }
    let points =
      trace.liveBytes.points.filter { $0.events < events }
      + [LiveBytesCurve.Point(events: events, time: model.snapshot.time, liveBytes: bytes)]
    let curve = LevelCurve(
      positions: [0] + points.map { Double($0.events) }, values: [0] + points.map { Double($0.liveBytes) })
    guard let level = curve.level, level.start > 0 else { return nil }
    let first = points[level.start - 1]
    return MemoryLevel(
      bytes: bytes, share: Double(first.events) / Double(max(1, events)), start: trace.clock.seconds(at: first.time),
      end: trace.clock.seconds(at: model.snapshot.time),
      holder: MemoryLevel.holder(census().census.rows, of: bytes) {
        HolderFigures(count: $0.count, bytes: $0.bytes, retainedBytes: $0.retainedBytes)
      })
  }
}

extension ImageSeries {
  /// The level of the live memory in the heap images; nil if memory still grows. O(rows).
  var memoryLevel: MemoryLevel? {
    let curve = LevelCurve(positions: moments.map(\.time), values: moments.map { Double($0.live) })
    guard let level = curve.level, let first = moments.first, let last = moments.last,
      last.live >= MemoryLevel.minBytes
    else { return nil }
    let start = moments[level.start].time
    return MemoryLevel(
      bytes: last.live, share: (start - first.time) / (last.time - first.time), start: start, end: last.time,
      holder: MemoryLevel.holder(rows.values.lazy.map(\.row), of: last.live) {
        rows[$0.key]?.figures.last ?? HolderFigures()
      })
  }
}
