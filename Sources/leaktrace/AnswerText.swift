// Formats the rows that a database query returns as text.

import TraceAnalysis

/// Formats rows one by one. CSV and JSON are written while rows are read; a table is written when all rows are known,
/// because its columns need their widths.
struct AnswerText {
  /// Maximum number of rows in a table: more than anybody reads, and few enough to keep in memory.
  static let longestTable = 100_000

  private let columns: [String]
  private let format: QueryCommand.AnswerFormat
  private var rows: [[SQLValue]] = []
  private var isFirst = true
  /// True if rows of the table were left out.
  private(set) var isCut = false

  init(_ columns: [String], format: QueryCommand.AnswerFormat) {
    self.columns = columns.map(PlainText.escaped)
    self.format = format
  }

  func start() -> String {
    switch format {
    case .table: ""
    case .csv: Self.line(columns)
    case .json: "["
    }
  }

  mutating func row(_ values: [SQLValue]) -> String {
    switch format {
    case .table:
      if rows.count < Self.longestTable { rows.append(values) } else { isCut = true }
      return ""
    case .csv: return Self.line(values.map(Self.text))
    case .json:
      let object = JSONValue.object(zip(columns, values).map { ($0, Self.json($1)) })
      defer { isFirst = false }
      return (isFirst ? "\n" : ",\n") + object.compactText
    }
  }

  func end() -> String {
    switch format {
    case .csv: return ""
    case .json: return isFirst ? "]\n" : "\n]\n"
    case .table: return table()
    }
  }

  /// Formats the table. Numbers are right-aligned. Each column is as wide as its widest cell.
  private func table() -> String {
    let cells = [columns] + rows.map { $0.map(Self.text) }
    let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    let isNumber = columns.indices.map { column in
      rows.contains { $0[column].isNumber } && rows.allSatisfy { $0[column].isNumber || $0[column] == .null }
    }
    var text = ""
    for (index, row) in cells.enumerated() {
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += (column > 0 ? "  " : "") + (isNumber[column] ? padding + cell : cell + padding)
      }
      while line.last == " " { line.removeLast() }
      text += line + "\n"
      if index == 0 {
        text += widths.map { String(repeating: "-", count: $0) }.joined(separator: "  ") + "\n"
      }
    }
    return text
  }

  /// Returns a line in the format of RFC 4180, but with a plain newline at its end.
  private static func line(_ cells: [String]) -> String {
    cells.map { cell in
      cell.contains { $0 == "," || $0 == "\"" } ? "\"\(cell.replacing("\"", with: "\"\""))\"" : cell
    }.joined(separator: ",") + "\n"
  }

  /// Returns the text of a value; empty for NULL. Text is escaped here too, because a query can compose control
  /// characters that were in no trace.
  private static func text(_ value: SQLValue) -> String {
    switch value {
    case .null: ""
    case .integer(let number): String(number)
    case .real(let number): "\(number)"
    case .text(let text): PlainText.escaped(text)
    }
  }

  private static func json(_ value: SQLValue) -> JSONValue {
    switch value {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .decimal(number)
    case .text(let text): .string(text)
    }
  }
}

extension SQLValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .real: true
    case .null, .text: false
    }
  }
}
