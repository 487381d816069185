// Values in a database.

import TextWriting
import TraceReading

/// A value in a column.
package enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)

  /// Clamps numbers to the largest number that the database can hold. Only forged traces exceed it.
  static func number(_ value: UInt64) -> SQLValue { .integer(Int64(clamping: value)) }
  static func number(_ value: UInt64?) -> SQLValue { value.map { number($0) } ?? .null }
  static func number(_ value: Int) -> SQLValue { .integer(Int64(value)) }
  static func number(_ value: Int?) -> SQLValue { value.map { number($0) } ?? .null }
  /// Returns NULL for unknown and non-finite values.
  static func finite(_ value: Double?) -> SQLValue {
    guard let value, value.isFinite else { return .null }
    return .real(value)
  }
  static func flag(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
  /// Returns text without control characters and text-direction marks, because a user may show it in a terminal or on a
  /// page.
  static func name(_ value: String) -> SQLValue { .text(PlainText.escaped(value)) }
  static func name(_ value: String?) -> SQLValue { value.map { name($0) } ?? .null }
  /// Returns an address as text, formatted as in other reports: `0x7f00`.
  static func address(_ value: UInt64) -> SQLValue { .text(Hexadecimal.text(value)) }
}
