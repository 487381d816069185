// Runs that are compared: from traces, directories of traces, or digests.

import Foundation
import TraceAnalysis

/// Reads runs, one after the other, so that no two traces are in memory at once. For one thread at a time.
struct RunDigests {
  var search = DebugFileSearch()
  var suppressions = Suppressions()
  /// The gravest of what was met.
  private(set) var status = ExitStatus.success

  init(search: DebugFileSearch, suppressions: Suppressions) { (self.search, self.suppressions) = (search, suppressions) }

  /// The digest of a run. Complains, and throws an exit status, if there is none to be had.
  mutating func digest(ofRun path: String) throws -> RunDigest {
    do {
      if let bytes = digestFile(at: path) {
        var digest = try DigestFile.digest(bytes)
        digest.path = path
        return digest
      }
      var digest: RunDigest?
      for trace in try TraceListing.traces(at: path) {
        let next = try self.digest(ofTrace: trace)
        if digest == nil { digest = next } else { digest!.add(next) }
      }
      digest!.path = path
      return digest!
    } catch let failure as DigestFile.Failure {
      complain(damage(failure, path))
    } catch {
      complain(explanation(of: error, path: path))
    }
    throw ExitStatus.unreadable.code
  }

  /// The whole file if it begins as a digest does.
  private func digestFile(at path: String) -> [UInt8]? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    guard let start = (try? file.read(upToCount: 64)) ?? nil, DigestFile.isDigest(start) else { return nil }
    return FileManager.default.contents(atPath: path).map(Array.init)
  }

  private mutating func digest(ofTrace path: String) throws -> RunDigest {
    let reader = try TraceReader(path: path)
    let snapshot = SnapshotChoice.choose(reader, number: nil)
    let trace = ReportTrace(path: path, analysis: AllocationAnalysis(reader, snapshot: snapshot))
    let symbolicator = Symbolicator(images: trace.analysis.definitions.images.map(\.image), search: search)
    var leaks: LeakReport
    if let snapshot {
      let analysis = LeakAnalysis(
        reader, trace.analysis, snapshot: snapshot, search: search, toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", naming: symbolicator)
      leaks = LeakReport(analysis, suppressions: suppressions)
    } else {
      leaks = LeakReport(unavailable: SnapshotChoice.explanation(reader, number: nil, path: path))
    }
    if !trace.analysis.diagnostics.isEmpty { status = .worst(status, .damaged) }
    return RunDigest(trace, leaks: leaks, naming: symbolicator)
  }

  private func damage(_ failure: DigestFile.Failure, _ path: String) -> String {
    switch failure {
    case .newerVersion(let found, let known):
      "\(path) is a digest of version \(found), and this leaktrace reads up to \(known). Use the leaktrace that wrote it, or a later one."
    case .malformed(let reason): "\(path) is a damaged digest: \(reason). Write it again with 'leaktrace digest'."
    }
  }
}
