// Reads the runs to compare from traces, directories of traces, or digests.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

/// Reads runs one after another, so that only one trace is in memory at a time. For one thread at a time.
struct RunDigests {
  private let search: LeakSearch
  /// The gravest status so far.
  private(set) var status = ExitStatus.success

  init(_ search: LeakSearch) { self.search = search }

  /// Checks that a comparison can read all events of these runs' traces. If it cannot, prints a message and throws an
  /// exit status. Ignores digests.
  func check(runs: [String]) throws {
    var limit = ComparisonLimit()
    for run in runs where !isDigest(run) {
      // Ignore an unreadable trace here: the error is reported when the trace is read.
      for trace in (try? TraceListing.traces(at: run)) ?? [] where TraceListing.isRegularFile(trace) {
        if let reader = try? TraceReader(path: trace, part: .withImage(nil), policy: search.policy) {
          limit.add(reader)
        }
      }
    }
    guard limit.isExceeded else { return }
    complain(
      "the traces have more events than a comparison reads from files of their size. Write a digest of each with 'leaktrace digest', and compare those."
    )
    throw ExitStatus.unreadable.code
  }

  /// Returns the digest of a run. If the run has none, prints the reason and throws an exit status.
  mutating func digest(ofRun path: String) throws -> RunDigest {
    do {
      if let bytes = digestFile(at: path) {
        var digest = try DigestFile.digest(bytes)
        digest.path = path
        if digest.isDamaged { status = .worst(status, .damaged) }
        return digest
      }
      return try digest(ofTraces: try TraceListing.traces(at: path), of: path)
    } catch let failure as DigestFile.Failure {
      complain(damage(failure, path))
    } catch let code as ExitCode {
      throw code
    } catch {
      complain(explanation(of: error, path: path))
    }
    throw ExitStatus.unreadable.code
  }

  /// Returns the sum of the digests of a run's traces. `path`: the name of the run. If there is no digest, prints the
  /// reason and throws an exit status.
  mutating func digest(ofTraces traces: [String], of path: String) throws -> RunDigest {
    do {
      var digest: RunDigest?
      for trace in traces {
        let next = try self.digest(ofTrace: trace)
        if digest == nil { digest = next } else { digest?.add(next) }
      }
      if var digest {
        digest.path = path
        return digest
      }
      complain("\(path) has no trace")
    } catch let replaced as ReplacedProgram {
      complain(
        "\(path) has no names, and \(PlainText.escaped(replaced.file)) is another build than the one that was recorded. "
          + "Give the old build with --debug-path, or record again: 'leaktrace record' stores names unless --no-names is given."
      )
    } catch {
      complain(explanation(of: error, path: path))
    }
    throw ExitStatus.unreadable.code
  }

  /// True if the file begins like a digest.
  private func isDigest(_ path: String) -> Bool {
    TraceListing.firstBytes(ofFile: path, 64).map { DigestFile.isDigest($0) } ?? false
  }

  /// Returns the whole file if it is a digest; else nil.
  private func digestFile(at path: String) -> [UInt8]? {
    isDigest(path) ? FileManager.default.contents(atPath: path).map(Array.init) : nil
  }

  private mutating func digest(ofTrace path: String) throws -> RunDigest {
    let examined = try search.examine(path, keepsHeap: .always)
    status = .worst(status, examined.status)
    // A full recording needs no census: its allocation sites say more.
    let census = examined.reader.header.lacksHistory ? examined.heap?.census().census : nil
    let naming = search.naming(examined.trace)
    let digest = RunDigest(examined.trace, leaks: examined.leaks, census: census, naming: naming)
    if let file = naming.replacedProgramFile { throw ReplacedProgram(file: file) }
    return digest
  }

  /// The program's file is of another build. Without the right names, each finding of the run would look new or gone.
  private struct ReplacedProgram: Error { var file: String }

  private func damage(_ failure: DigestFile.Failure, _ path: String) -> String {
    switch failure {
    case .newerVersion(let found, let known):
      "\(path) is a digest of version \(found), and this leaktrace reads up to \(known). Use the leaktrace that wrote it, or a later one."
    case .malformed(let reason): "\(path) is a damaged digest: \(reason). Write it again with 'leaktrace digest'."
    }
  }
}
