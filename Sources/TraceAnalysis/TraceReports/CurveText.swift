// Curves as text.

/// Draws values as a row of block characters.
package enum CurveText {
  private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// Draws one block for each value, but at most one per column. With fewer columns than values, the columns are equal
  /// time spans, and each column shows its last value. The lowest value gets the lowest block. If all values are equal,
  /// all get the lowest block. `times`: the time of each value, in ascending order.
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

  /// Returns the number of columns for a curve in lines of the given width.
  package static func columns(width: Int) -> Int { max(8, min(40, width / 4)) }
}
