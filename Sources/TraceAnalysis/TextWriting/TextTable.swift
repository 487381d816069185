// Tables in text.

/// A table with headings. Each column is as wide as its widest cell.
package struct TextTable {
  package enum Alignment { case left, right }

  private let alignments: [Alignment]
  private var rows: [[String]]

  /// The text between columns.
  private static let gap = "  "

  /// Makes a table without rows. The last column may have long text: if not all of its cells fit, each of them gets its
  /// own line.
  package init(_ headings: [(String, Alignment)]) {
    alignments = headings.map(\.1)
    rows = [headings.map(\.0)]
  }

  /// Adds a row. Cells beyond the last column are ignored.
  package mutating func add(_ cells: [String]) { rows.append(cells) }

  package func write(to lines: inout TextLines, indent: Int) {
    let fixed = max(0, alignments.count - 1)
    let widths = (0..<fixed).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    let room = lines.style.width - indent - widths.reduce(0) { $0 + $1 + Self.gap.count }
    let fits = rows.allSatisfy { $0.count <= fixed || $0[fixed].count <= room }
    for (index, row) in rows.enumerated() {
      let cells = (0..<fixed).map { column in
        let cell = column < row.count ? row[column] : ""
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        return alignments[column] == .left ? cell + padding : padding + cell
      }
      var text = cells.joined(separator: Self.gap)
      let last = row.count > fixed ? row[fixed] : ""
      if fits, !last.isEmpty { text += Self.gap + last }
      while text.last == " " { text.removeLast() }
      lines.row(text, indent: indent)
      // The last column's heading would look like a row on its own line, so it is left out.
      if !fits, index > 0, !last.isEmpty { lines.pair(last, nil, indent: indent + 4, continuation: indent + 6) }
    }
  }
}
