// Finds the traces that an argument refers to, and describes each in a line.

import FoundationEssentials
import Glibc
import TraceAnalysis

enum TraceListing {
  /// Returns the path itself or, for a directory, the files in it that begin as traces do, in order of name.
  static func traces(at path: String) throws -> [String] {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory else {
      return [path]
    }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    } catch {
      throw TraceFormatError.system(call: "open", path: path, errno: EACCES)
    }
    let found = names.map { path + (path.hasSuffix("/") ? "" : "/") + $0 }.filter(isTrace)
    if found.isEmpty { throw EmptyDirectory(path: path) }
    return found
  }

  /// Returns the traces that the arguments refer to. If an argument refers to none, prints the reason; then the status
  /// is `unreadable`.
  static func all(_ arguments: [String]) -> (paths: [String], status: ExitStatus) {
    var paths: [String] = []
    var status = ExitStatus.success
    for path in arguments {
      do {
        paths += try traces(at: path)
      } catch {
        complain(explanation(of: error, path: path))
        status = .worst(status, .unreadable)
      }
    }
    return (paths, status)
  }

  /// Returns the only trace that an argument refers to. If there is none, or more than one, prints the reason and
  /// throws an exit status.
  static func onlyTrace(at path: String) throws -> String {
    let paths: [String]
    do {
      paths = try traces(at: path)
    } catch {
      complain(explanation(of: error, path: path))
      throw ExitStatus.unreadable.code
    }
    guard paths.count == 1 else {
      complain("\(path) has \(paths.count) traces; name one of them, such as \(likeliest(of: paths)).")
      throw ExitStatus.usage.code
    }
    return paths[0]
  }

  /// Returns the trace of the user's program if all traces are of one recording; otherwise the first trace.
  private static func likeliest(of paths: [String]) -> String {
    let traces = paths.compactMap { RecordedTrace(path: $0) }
    guard Set(traces.map(\.sessionID)).count == 1 else { return paths[0] }
    return ProgramTraces.choose(among: traces).first?.path ?? paths[0]
  }

  struct EmptyDirectory: Error, CustomStringConvertible {
    var path: String
    var description: String { "no traces in this directory. Record some with 'leaktrace record -- COMMAND'." }
  }

  static func isRegularFile(_ path: String) -> Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
  }

  /// Returns up to `count` bytes from the beginning of a file; nil if the path is no regular file, or the file cannot
  /// be read. Opens only regular files, because a pipe could block for ever.
  static func firstBytes(ofFile path: String, _ count: Int) -> [UInt8]? {
    guard isRegularFile(path) else { return nil }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    let length = read(descriptor, &bytes, count)
    return length >= 0 ? Array(bytes.prefix(length)) : nil
  }

  /// True if the file begins as traces do.
  static func isTrace(_ path: String) -> Bool {
    firstBytes(ofFile: path, 8) == [0x89, 0x4C, 0x4B, 0x54, 0x52, 0x43, 0x0D, 0x0A]
  }

  /// Describes a trace in a line: path, program, process and number of events.
  static func line(_ trace: ReportTrace) -> String {
    "== \(trace.path): \(trace.program), pid \(trace.analysis.header.processID), \(trace.analysis.eventCount) events"
  }
}
