// Finding the traces that one run of `record` produced.

import CTraceFormat
import Glibc
import TraceReading

/// One run of `record`. All traces of the run contain the same session ID.
package struct RecordingSession: Hashable, Sendable {
  package var sessionID: UInt64
  package var output: OutputPattern
  /// The start of the run, in seconds since 1970. Older files are not opened.
  package var startTime: Int
  /// The identity of the output directory at the start of the run; nil if it did not exist.
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

  /// The path of the output directory if the directory was removed or replaced since the start of the run; otherwise
  /// nil.
  package var lostDirectory: String? { Self.identity(output.directory) == directory ? nil : output.directory }

  /// Returns the traces of the run, in the order of their starts.
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
      // Allow a minute, because the clock of a network file system may differ.
      guard lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
        information.st_mtim.tv_sec >= startTime - 60
      else { continue }
      if let trace = RecordedTrace(path: path), trace.sessionID == sessionID { result.append(trace) }
    }
    return result.sorted { ($0.startRealtime, $0.path) < ($1.startRealtime, $1.path) }
  }
}
