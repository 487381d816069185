// Making the database of a trace, for `export` and `query`.

import ArgumentParser
import TraceAnalysis

struct TraceDatabaseSource {
  private let search: LeakSearch
  private let heapReferences: Bool

  init(_ search: LeakSearch, heapReferences: Bool) {
    (self.search, self.heapReferences) = (search, heapReferences)
  }

  /// The database of a trace. Throws an exit status after having said why, or the trace's own error.
  func open(_ path: String) throws -> (database: Database, status: ExitStatus) {
    let examined = try search.examine(path, keepsHeap: true)
    if search.snapshot != nil, examined.heap == nil { throw ExitStatus.unreadable.code }
    let profile = StackProfile(
      examined.trace.analysis, path: path, leaked: examined.leaks.leaked,
      frameLimit: examined.reader.limits.namedFrames, naming: search.naming(examined.trace))
    examined.leaks.remarks.forEach(complain)
    let tables = TraceTables(
      path: path, examined.trace.analysis, profile, leaks: examined.leaks, heap: examined.heap,
      heapReferences: heapReferences)
    do throws(DatabaseError) {
      return (try tables.database(), examined.status)
    } catch {
      throw Self.failure(error)
    }
  }

  /// The status for a database that could not be made.
  static func failure(_ error: DatabaseError) -> ExitCode {
    complain("cannot make the database: \(error.message)")
    return ExitStatus.outputFailed.code
  }
}
