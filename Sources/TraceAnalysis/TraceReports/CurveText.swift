// Curves as text.

/// Draws values as a row of blocks. Only formats.
package enum CurveText {
  private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// A block for each value, but no more than there are columns: each stands for an equal stretch of time, and shows the
  /// last value that was known by its end. The lowest value is the lowest block, and values that are all equal lie at
  /// the bottom. `times`: as many as values, in order.
  package static func text(_ values: [Double], times: [Double], columns: Int) -> String {
    guard let first = times.first, let last = times.last, values.count == times.count, columns > 0 else { return "" }
    let count = min(columns, values.count)
    var next = 0
    let shown = (1...count).map { column in
      let end = count == 1 ? last : first + (last - first) * Double(column - 1) / Double(count - 1)
      while next + 1 < times.count, times[next + 1] <= end { next += 1 }
      return column == count ? values[values.count - 1] : values[next]
    }
    guard let lowest = shown.min(), let highest = shown.max(), highest > lowest else {
      return String(repeating: blocks[0], count: count)
    }
    return String(
      shown.map { value in
        let part = (value - lowest) / (highest - lowest)
        return blocks[min(blocks.count - 1, max(0, Int(part * Double(blocks.count))))]
      })
  }

  /// The columns that a curve has in lines of some width.
  package static func columns(width: Int) -> Int { max(8, min(40, width / 4)) }
}
