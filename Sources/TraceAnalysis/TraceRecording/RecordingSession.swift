// Finds the traces that one run of `record` produced.

import CTraceFormat
import Glibc
import TraceReading

/// One run of `record`: every process it traced stores the same session ID in its trace.
package struct RecordingSession: Hashable, Sendable {
  package var sessionID: UInt64
  package var output: OutputPattern
  /// Seconds since 1970; older files are not opened.
  package var startTime: Int
  /// The identity of the output directory at the start; nil if it did not exist.
  private let directory: FileIdentity?

  package init(sessionID: UInt64, output: OutputPattern, startTime: Int) {
    self.sessionID = sessionID
    self.output = output
    self.startTime = startTime
    directory = Self.identity(output.directory)
  }

  private static func identity(_ path: String) -> FileIdentity? {
    var information = stat()
    return stat(path, &information) == 0 ? FileIdentity(information) : nil
  }

  /// The output directory's path, if another directory or none is there now.
  package var lostDirectory: String? { Self.identity(output.directory) == directory ? nil : output.directory }

  /// The session's traces, in the order of their processes' starts.
  ///
  /// - Complexity: Linear in the number of files in the output directory. Only files with a matching name and age are
  ///   opened.
  package func traces() -> [RecordedTrace] {
    guard let directory = opendir(output.directory) else { return [] }
    defer { closedir(directory) }
    let prefix = output.fileNamePrefix
    var result: [RecordedTrace] = []
    while let entry = readdir(directory) {
      let name = directoryEntryName(entry)
      guard name.hasPrefix(prefix), name != ".", name != "..", !name.hasSuffix(String(LT_LIVE_SUFFIX)) else { continue }
      let path = output.directory == "/" ? "/" + name : "\(output.directory)/\(name)"
      var information = stat()
      // The clock of a network file system may differ a little.
      guard lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
        information.st_mtim.tv_sec >= startTime - 60
      else { continue }
      if let trace = RecordedTrace(path: path), trace.sessionID == sessionID { result.append(trace) }
    }
    return result.sorted { ($0.startRealtime, $0.path) < ($1.startRealtime, $1.path) }
  }
}
