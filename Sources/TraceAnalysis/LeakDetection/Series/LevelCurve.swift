// Decides whether a number has stopped growing.

/// A number in the course of a run, such as the live bytes of a process.
package struct LevelCurve: Hashable, Sendable {
  /// Positions in the run, in ascending order: seconds, or numbers of events.
  package var positions: [Double]
  /// One number for each position.
  package var values: [Double]

  package init(positions: [Double], values: [Double]) {
    precondition(positions.count == values.count, "a value for each position")
    (self.positions, self.values) = (positions, values)
  }

  /// A number that stays the same until the end of a run.
  package struct Level: Hashable, Sendable {
    package var value: Double
    /// The first point of the level, by its index.
    package var start: Int
  }

  /// Minimum number of points of a curve, and of a level.
  private static let (minPoints, minLevelPoints) = (6, 4)
  /// Minimum length of a level, as a share of the run. After a shorter level, the growth may just pause.
  private static let minLength = 0.25
  /// Maximum distance of a point from the level, as a share of the level. Objects that come and go sway by this much.
  private static let maxSway = 0.05
  /// Maximum growth within a level, as a share of the level, if it went on for the whole run. The medians of the level's
  /// two halves are compared. A cache that is still filling grows faster, and so does a leak beside a full cache.
  private static let maxGrowth = 0.02

  /// The level at the end of the run; nil if the number still changes. O(points²).
  package var level: Level? {
    guard values.count >= Self.minPoints, let first = positions.first, let last = positions.last, last > first else {
      return nil
    }
    let latest = last - Self.minLength * (last - first)
    let end = values[(positions.firstIndex { $0 >= latest } ?? 0)...]
    let level = Self.median(end)
    guard level > 0 else { return nil }
    let outside = values.lastIndex { abs($0 - level) > Self.maxSway * level }
    var start = outside.map { $0 + 1 } ?? 0
    while values.count - start >= Self.minLevelPoints, positions[start] <= latest {
      let middle = start + (values.count - start) / 2
      let growth = abs(Self.median(values[middle...]) - Self.median(values[start..<middle]))
      // The middles of the halves are half of the level's length apart.
      if growth * (last - first) <= Self.maxGrowth * level * (last - positions[start]) / 2 {
        return Level(value: level, start: start)
      }
      start += 1
    }
    return nil
  }

  private static func median(_ values: ArraySlice<Double>) -> Double { values.sorted()[values.count / 2] }
}
