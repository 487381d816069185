// Inspects a process or a core file, and keeps the result as a trace for as long as the command needs it.

import Glibc
import TraceAnalysis

/// An inspection in a trace file. Without a path from the user, the file is temporary. For one thread at a time.
final class TemporaryInspection {
  let path: String
  /// The program's files that the inspection found.
  let files: InspectedFiles
  private let directory: String?

  /// Inspects a process, given its number, or a core file. Prints one line about the pause. If the inspection fails,
  /// prints the reason and throws the exit status.
  ///
  /// - Parameters:
  ///   - output: the path of the trace; nil for a temporary file.
  ///   - holds: whether the process is stopped while it is read, instead of copied.
  ///   - search: where the files of a core are searched for.
  ///   - keepsTaskNames: whether a temporary file has the names of tasks. A file that stays has none.
  init(
    _ target: String, output: String?, holds: Bool, search: DebugFileSearch, keepsTaskNames: Bool = false
  ) throws {
    let directory = output == nil ? TemporaryDirectory.make() : nil
    guard let path = output ?? directory.map({ $0 + "/inspection.lktrace" }) else {
      complain(
        "cannot make a temporary file: \(String(cString: strerror(errno))). Say with -o where to put the inspection.")
      throw ExitStatus.outputFailed.code
    }
    (self.path, self.directory) = (path, directory)
    do {
      let summary = try Inspection.inspect(
        target, holds: holds, search: search, keepsTaskNames: keepsTaskNames && output == nil, to: path)
      files = summary.files
      ErrorOutput.print(summary.line(path: output))
    } catch {
      Self.remove(path, directory)
      switch error {
      case let error as TraceFormatError:
        complain(explanation(of: error, path: path))
        throw ExitStatus.outputFailed.code
      case let error as InspectionError where error == .noSwift || error == .noAllocator:
        complain("\(Int32(target).flatMap(TargetView.otherLanguage)?.description ?? error.description)")
      default: complain("\(error)")
      }
      throw ExitStatus.unreadable.code
    }
  }

  /// Removes a temporary file.
  func close() { Self.remove(path, directory) }

  private static func remove(_ path: String, _ directory: String?) {
    guard let directory else { return }
    unlink(path)
    rmdir(directory)
  }
}
