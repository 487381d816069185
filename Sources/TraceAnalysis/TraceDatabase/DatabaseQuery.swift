// Runs users' queries on a database.

import CSQLite

extension Database {
  /// The answer to a query. The caller reads it row by row.
  package struct Answer {
    package let columns: [String]
    fileprivate let statement: PreparedStatement
    /// Keeps the time limit in memory while the query runs.
    fileprivate let limit: QueryLimit

    /// Returns the next row; nil after the last one.
    package func next() throws(DatabaseError) -> [SQLValue]? { try statement.next() }
  }

  /// Runs a read-only query with at most 1 GiB of memory, and interrupts it after `seconds`. From then on, the database
  /// is read-only. Throws if `text` is not exactly one valid statement, or if the statement does more than read.
  package func answer(_ text: String, seconds: Double) throws(DatabaseError) -> Answer {
    // The text may come from an untrusted script, so it may only read tables, not attach files or load extensions.
    sqlite3_set_authorizer(
      connection,
      { _, action, _, name, _, _ in
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: return SQLITE_OK
        case SQLITE_FUNCTION:
          return name.map { String(cString: $0) == "load_extension" } == true ? SQLITE_DENY : SQLITE_OK
        default: return SQLITE_DENY
        }
      }, nil)
    sqlite3_hard_heap_limit64(sqlite3_memory_used() + Self.memoryOfQueries)
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Self.longestValue)
    let limit = QueryLimit(seconds: seconds)
    sqlite3_progress_handler(
      connection, Self.stepsBetweenLooks,
      { Unmanaged<QueryLimit>.fromOpaque($0!).takeUnretainedValue().isOver ? 1 : 0 },
      Unmanaged.passUnretained(limit).toOpaque())
    keptLimit = limit
    let statement = try PreparedStatement(text, in: self)
    // SQLite does not ask the authorizer about VACUUM INTO before it runs.
    guard statement.isQuestion else {
      throw DatabaseError(code: SQLITE_AUTH, message: "the statement does more than read")
    }
    guard statement.rest.allSatisfy({ $0.isWhitespace || $0 == ";" }) else {
      throw DatabaseError(code: SQLITE_MISUSE, message: "there is more than one statement")
    }
    return Answer(columns: statement.columns, statement: statement, limit: limit)
  }

  /// Number of bytes that SQLite may use for queries in the whole process: enough to sort millions of rows.
  private static let memoryOfQueries: sqlite3_int64 = 1 << 30
  /// Maximum length of a text or a row in bytes: enough for joined names, but too little to exhaust memory.
  private static let longestValue: Int32 = 16 << 20
  /// Number of steps of SQLite's virtual machine between two checks of the clock. They take a few tenths of a
  /// millisecond.
  private static let stepsBetweenLooks: Int32 = 10_000
}

/// The deadline of a query.
final class QueryLimit {
  private let end: ContinuousClock.Instant

  init(seconds: Double) { end = .now + .seconds(seconds) }

  var isOver: Bool { .now >= end }
}
