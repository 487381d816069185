// An SQLite database in memory or in a file.

import CSQLite

/// Why a database refused a statement.
package struct DatabaseError: Error, Hashable, Sendable {
  /// SQLite's primary result code.
  package var code: Int32
  /// SQLite's own message, which may quote the statement.
  package var message: String

  package var isInterrupted: Bool { code == SQLITE_INTERRUPT }
  /// True if the statement needed more memory than was available.
  package var isTooLarge: Bool { code == SQLITE_NOMEM }
  /// True if the statement was denied because it would do more than read.
  package var isDenied: Bool { code == SQLITE_AUTH }
}

/// An SQLite database. Owns its connection. For one thread at a time.
package final class Database {
  let connection: OpaquePointer
  /// Keeps the limit alive: the connection has a pointer to it.
  var keptLimit: QueryLimit?

  /// Opens an empty database in memory. Throws if there is not enough memory.
  package convenience init() throws(DatabaseError) { try self.init(":memory:", SQLITE_OPEN_MEMORY) }

  /// Opens a database in an empty file. Throws if it cannot be opened.
  package convenience init(file: String) throws(DatabaseError) {
    // SQLite treats some names specially: `file:` begins a URI. A name that begins with `/` or `./` is always a path.
    try self.init(file.hasPrefix("/") ? file : "./" + file, 0)
  }

  private init(_ name: String, _ kind: Int32) throws(DatabaseError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | kind
    let code = sqlite3_open_v2(name, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw DatabaseError(code: code, message: String(cString: sqlite3_errstr(code)))
    }
    connection = opened
    // A query that sorts must not write to the disk.
    try execute("PRAGMA temp_store = MEMORY")
  }

  deinit { sqlite3_close_v2(connection) }

  /// Runs statements that return no rows.
  package func execute(_ statements: String) throws(DatabaseError) {
    guard sqlite3_exec(connection, statements, nil, nil, nil) == SQLITE_OK else { throw lastError }
  }

  /// Returns the bytes of a database file that `sqlite3` and other tools can open. Needs additional memory of the
  /// database's size.
  package func file() throws(DatabaseError) -> [UInt8] {
    var size: sqlite3_int64 = 0
    guard let bytes = sqlite3_serialize(connection, "main", &size, 0) else {
      throw DatabaseError(code: SQLITE_NOMEM, message: String(cString: sqlite3_errstr(SQLITE_NOMEM)))
    }
    defer { sqlite3_free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
  }

  /// The failure of the latest SQLite call.
  var lastError: DatabaseError {
    DatabaseError(
      code: sqlite3_errcode(connection) & 0xFF, message: String(cString: sqlite3_errmsg(connection)))
  }
}
