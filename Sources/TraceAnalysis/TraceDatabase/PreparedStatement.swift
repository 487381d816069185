// Prepared statements.

import CSQLite

/// A prepared statement. It keeps its database open. For one thread at a time.
final class PreparedStatement {
  private let database: Database
  private let statement: OpaquePointer
  /// The text after the statement.
  let rest: String

  /// Prepares the first statement of `text`. Throws if the statement is invalid, or if there is none.
  init(_ text: String, in database: Database) throws(DatabaseError) {
    self.database = database
    var prepared: OpaquePointer?
    var parsed = 0
    let bytes = Array(text.utf8) + [0]
    let code = bytes.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v2(
          database.connection, characters.baseAddress, Int32(clamping: characters.count), &prepared, &tail)
        parsed = tail.map { $0 - characters.baseAddress! } ?? 0
        return code
      }
    }
    guard code == SQLITE_OK else { throw database.lastError }
    guard let prepared else { throw DatabaseError(code: SQLITE_MISUSE, message: "there is no statement") }
    statement = prepared
    rest = String(decoding: bytes.dropLast().dropFirst(parsed), as: UTF8.self)
  }

  deinit { sqlite3_finalize(statement) }

  /// True if the statement returns rows and does not change the database.
  var isQuestion: Bool { sqlite3_column_count(statement) > 0 && sqlite3_stmt_readonly(statement) != 0 }

  var columns: [String] {
    (0..<sqlite3_column_count(statement)).map { sqlite3_column_name(statement, $0).map { String(cString: $0) } ?? "" }
  }

  /// Runs the statement once with the given parameters.
  func run(_ values: [SQLValue]) throws(DatabaseError) {
    for (index, value) in values.enumerated() { try bind(value, Int32(index + 1)) }
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw database.lastError }
  }

  /// Returns the next row; nil after the last one.
  func next() throws(DatabaseError) -> [SQLValue]? {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return (0..<sqlite3_column_count(statement)).map(column)
    case SQLITE_DONE: return nil
    default: throw database.lastError
    }
  }

  private func bind(_ value: SQLValue, _ index: Int32) throws(DatabaseError) {
    let code: Int32
    switch value {
    case .null: code = sqlite3_bind_null(statement, index)
    case .integer(let number): code = sqlite3_bind_int64(statement, index, number)
    case .real(let number): code = sqlite3_bind_double(statement, index, number)
    case .text(let text):
      code = sqlite3_bind_text(statement, index, text, Int32(clamping: text.utf8.count), Self.copied)
    }
    guard code == SQLITE_OK else { throw database.lastError }
  }

  /// `SQLITE_TRANSIENT`: makes SQLite copy the text.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  private func column(_ index: Int32) -> SQLValue {
    switch sqlite3_column_type(statement, index) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, index))
    case SQLITE_NULL: return .null
    default:
      guard let bytes = sqlite3_column_blob(statement, index) else { return .text("") }
      let count = Int(sqlite3_column_bytes(statement, index))
      return .text(String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self))
    }
  }
}
