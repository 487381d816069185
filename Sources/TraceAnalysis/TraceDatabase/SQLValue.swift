// Values in a database.

import TraceReading

/// A value in a column.
package enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)

  /// Numbers that exceed the database's largest number become that number: only forged traces have them.
  static func number(_ value: UInt64) -> SQLValue { .integer(Int64(clamping: value)) }
  static func number(_ value: UInt64?) -> SQLValue { value.map { number($0) } ?? .null }
  static func number(_ value: Int) -> SQLValue { .integer(Int64(value)) }
  static func number(_ value: Int?) -> SQLValue { value.map { number($0) } ?? .null }
  /// NULL for unknown values and values that are not numbers.
  static func finite(_ value: Double?) -> SQLValue {
    guard let value, value.isFinite else { return .null }
    return .real(value)
  }
  static func flag(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
  /// Text without control characters and text-direction marks: a user may show it in a terminal or in a page.
  static func name(_ value: String) -> SQLValue { .text(PlainText.escaped(value)) }
  static func name(_ value: String?) -> SQLValue { value.map { name($0) } ?? .null }
  /// Formatted as in other reports: `0x7f00`.
  static func address(_ value: UInt64) -> SQLValue { .text(Hexadecimal.text(value)) }
}
