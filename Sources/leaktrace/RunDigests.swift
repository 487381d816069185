// Runs that are compared: from traces, directories of traces, or digests.

import Foundation
import TraceAnalysis

/// Reads runs, one after the other, so that no two traces are in memory at once. For one thread at a time.
struct RunDigests {
  private let search: LeakSearch
  /// The gravest of what was met.
  private(set) var status = ExitStatus.success

  init(_ search: LeakSearch) { self.search = search }

  /// The digest of a run. Complains, and throws an exit status, if there is none to be had.
  mutating func digest(ofRun path: String) throws -> RunDigest {
    do {
      if let bytes = digestFile(at: path) {
        var digest = try DigestFile.digest(bytes)
        digest.path = path
        if digest.isDamaged { status = .worst(status, .damaged) }
        return digest
      }
      var digest: RunDigest?
      for trace in try TraceListing.traces(at: path) {
        let next = try self.digest(ofTrace: trace)
        if digest == nil { digest = next } else { digest?.add(next) }
      }
      if var digest {
        digest.path = path
        return digest
      }
      complain("\(path) has no trace")
    } catch let failure as DigestFile.Failure {
      complain(damage(failure, path))
    } catch {
      complain(explanation(of: error, path: path))
    }
    throw ExitStatus.unreadable.code
  }

  /// The whole file if it begins as a digest does. What is no regular file is none, and is not opened: a pipe would block for ever.
  private func digestFile(at path: String) -> [UInt8]? {
    guard TraceListing.isRegularFile(path), let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    guard let start = (try? file.read(upToCount: 64)) ?? nil, DigestFile.isDigest(start) else { return nil }
    return FileManager.default.contents(atPath: path).map(Array.init)
  }

  private mutating func digest(ofTrace path: String) throws -> RunDigest {
    let examined = try search.examine(path)
    status = .worst(status, examined.status)
    return RunDigest(examined.trace, leaks: examined.leaks, naming: search.naming(examined.trace))
  }

  private func damage(_ failure: DigestFile.Failure, _ path: String) -> String {
    switch failure {
    case .newerVersion(let found, let known):
      "\(path) is a digest of version \(found), and this leaktrace reads up to \(known). Use the leaktrace that wrote it, or a later one."
    case .malformed(let reason): "\(path) is a damaged digest: \(reason). Write it again with 'leaktrace digest'."
    }
  }
}
