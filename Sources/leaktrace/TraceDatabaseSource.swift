// Makes the database of a trace, for `export` and `query`.

import ArgumentParser
import Glibc
import TraceAnalysis

struct TraceDatabaseSource {
  private let search: LeakSearch
  private let heapReferences: Bool

  init(_ search: LeakSearch, heapReferences: Bool) {
    (self.search, self.heapReferences) = (search, heapReferences)
  }

  /// Returns the database of a trace, in memory. Throws the trace's own error, or prints the reason and throws an exit
  /// status.
  func open(_ path: String) throws -> (database: Database, status: ExitStatus) {
    let (tables, status) = try tables(of: path)
    do throws(DatabaseError) {
      return (try tables.database(), status)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Writes the database of a trace to a regular file. Throws as `open` does.
  func write(_ path: String, to output: String) throws -> ExitStatus {
    let (tables, status) = try tables(of: path)
    var failure: DatabaseError?
    do throws(OutputFile.Failure) {
      try OutputFile.replace(output) { temporary, _ in
        do throws(DatabaseError) {
          try tables.write(to: temporary)
          return 0
        } catch {
          failure = error
          return EIO
        }
      }
    } catch {
      if let failure { throw Self.failure(failure) }
      complain("cannot write \(output): \(systemErrorText(error.errno))")
      throw ExitStatus.outputFailed.code
    }
    return status
  }

  private func tables(of path: String) throws -> (tables: TraceTables, status: ExitStatus) {
    let examined = try search.examine(path, keepsHeap: .always)
    if search.snapshot != nil, examined.heap == nil { throw ExitStatus.unreadable.code }
    let profile = StackProfile(
      examined.trace.analysis, path: path, leaked: examined.leaks.leaked,
      frameLimit: examined.reader.limits.namedFrames, naming: search.naming(examined.trace))
    examined.leaks.remarks.forEach(complain)
    let tables = TraceTables(
      path: path, examined.trace.analysis, profile, leaks: examined.leaks, heap: examined.heap,
      heapReferences: heapReferences)
    return (tables, examined.status)
  }

  /// Prints why the database could not be made, and returns the exit status.
  static func failure(_ error: DatabaseError) -> ExitCode {
    complain("cannot make the database: \(error.message)")
    return ExitStatus.outputFailed.code
  }
}
