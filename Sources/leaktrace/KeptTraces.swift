// The trace files that a watch keeps: a bounded number.

import FoundationEssentials
import Glibc
import TraceAnalysis

/// Traces in one directory, in order of time. The kept traces are spread over the whole time of the watch.
struct KeptTraces {
  let directory: String
  private let limit: Int
  private let isTemporary: Bool
  private var files: [(path: String, time: Double)] = []
  private var made = 0

  /// - Parameters:
  ///   - kept: The directory for the traces; created if it does not exist. Nil for a temporary directory that keeps
  ///     only the newest trace.
  init(kept: String?, limit: Int) throws {
    if let kept {
      do { try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true) } catch {
        complain("cannot make the directory \(kept): \(String(cString: strerror(errno)))")
        throw ExitStatus.outputFailed.code
      }
      (directory, self.limit, isTemporary) = (kept, limit, false)
      return
    }
    guard let made = TemporaryDirectory.make() else {
      complain(
        "cannot make a temporary directory: \(String(cString: strerror(errno))). Say with -o where to put traces.")
      throw ExitStatus.outputFailed.code
    }
    (directory, self.limit, isTemporary) = (made, 1, true)
  }

  /// Returns the path for the next trace. No file has this path, and paths sort in order of time.
  mutating func next() -> String {
    while true {
      made += 1
      let digits = String(made)
      let path = "\(directory)/image-\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits).lktrace"
      if !FileManager.default.fileExists(atPath: path) { return path }
    }
  }

  /// Keeps a trace that was written, and removes other traces if there are now too many.
  mutating func keep(_ path: String, time: Double) {
    files.append((path, time))
    while files.count > limit {
      let victim = limit == 1 ? 0 : Self.indexOfLeastNeeded(files.map(\.time))
      unlink(files.remove(at: victim).path)
    }
  }

  /// Returns the trace to remove: of all except the first and the last, the one with the least time between its two
  /// neighbours. If several have the least, returns the oldest.
  static func indexOfLeastNeeded(_ times: [Double]) -> Int {
    var (found, least) = (0, Double.infinity)
    for index in 1..<times.count - 1 {
      let gap: Double = times[index + 1] - times[index - 1]
      if gap < least { (found, least) = (index, gap) }
    }
    return found
  }

  /// Removes a trace that is not worth keeping.
  func discard(_ path: String) { unlink(path) }

  func end() {
    guard isTemporary else { return }
    for file in files { unlink(file.path) }
    rmdir(directory)
  }
}
