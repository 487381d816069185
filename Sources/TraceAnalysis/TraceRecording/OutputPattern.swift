// The path pattern of traces. The recorder replaces its placeholders for each process.

import Glibc
import TraceReading

/// A path with placeholders: `%p` for the process ID, `%n` for the program's name and `%%` for a percent sign.
package struct OutputPattern: Hashable, Sendable {
  /// The absolute path, with its placeholders.
  package let text: String
  /// The directory of all traces. It has no placeholders.
  package let directory: String
  /// The last component of the path, with its placeholders.
  package let fileName: String

  package static let standard = "leaktrace.%n.%p.trace"

  /// - Parameter pattern: The user's pattern; may be relative to `currentDirectory`.
  /// - Throws: `RecordingError.outputPatternInvalid` for unknown placeholders, or `%p` and `%n` in a directory's name.
  package init(_ pattern: String, currentDirectory: String) throws(RecordingError) {
    guard !pattern.isEmpty, !pattern.hasSuffix("/") else {
      throw .outputPatternInvalid(pattern: pattern, reason: "names no file")
    }
    let slash = pattern.lastIndex(of: "/")
    fileName = slash.map { String(pattern[pattern.index(after: $0)...]) } ?? pattern
    let directoryPattern = slash.map { $0 == pattern.startIndex ? "/" : String(pattern[..<$0]) }
    guard Self.expand(fileName, processID: 0, programName: "n") != nil else {
      throw .outputPatternInvalid(pattern: pattern, reason: "after % must come p (process ID), n (program name) or %")
    }
    guard let literal = Self.literal(directoryPattern ?? "") else {
      throw .outputPatternInvalid(
        pattern: pattern, reason: "%p and %n may only be in the file's name, not in its directory's")
    }
    guard fileName != ".", fileName != ".." else {
      throw .outputPatternInvalid(pattern: pattern, reason: "is a directory")
    }
    switch directoryPattern {
    case nil: directory = currentDirectory
    case .some where literal.hasPrefix("/"): directory = literal
    case .some: directory = currentDirectory == "/" ? "/" + literal : currentDirectory + "/" + literal
    }
    let escaped = directory.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
    text = (escaped == "/" ? "/" : escaped + "/") + fileName
  }

  /// Returns `pattern`, and adds the default file name if `pattern` is a directory: an existing directory, or a path
  /// that ends with a slash.
  package static func inDirectory(_ pattern: String, of currentDirectory: String) -> String {
    var information = stat()
    let path = pattern.hasPrefix("/") ? pattern : currentDirectory + "/" + pattern
    let isDirectory =
      pattern.hasSuffix("/")
      || !pattern.isEmpty && stat(path, &information) == 0
        && information.st_mode & S_IFMT == S_IFDIR
    guard isDirectory else { return pattern }
    return (pattern.hasSuffix("/") ? pattern : pattern + "/") + standard
  }

  /// Returns the path of a process's trace, unless an earlier process already has this path.
  package func path(processID: UInt32, programName: String) -> String {
    (directory == "/" ? "/" : directory + "/")
      + Self.expand(fileName, processID: processID, programName: programName)!
  }

  /// True if all processes with the same program name would write to the same path.
  package var namesOneFileForAProgram: Bool { !Self.placeholders(in: fileName).contains("p") }

  /// The part of the file name before the first placeholder. All traces' names begin with it.
  var fileNamePrefix: String {
    var prefix = ""
    var rest = Substring(fileName)
    while let character = rest.popFirst() {
      if character == "%" {
        guard rest.popFirst() == "%" else { break }
      }
      prefix.append(character)
    }
    return prefix
  }

  /// Checks that files can be created in the directory. If a path is known in advance, removes an old trace at that
  /// path, and throws if another kind of file exists there. If the pattern contains `%p`, no path is known in advance.
  ///
  /// - Returns: The lock that keeps other recordings from these paths. Keep this lock until the recording has ended.
  /// - Throws: `RecordingError.outputDirectoryUnusable`, `.outputIsNotATrace`, `.outputInUse`.
  @discardableResult
  package func prepare(programNames: [String]) throws(RecordingError) -> OutputReservation {
    var information = stat()
    guard stat(directory, &information) == 0 else { throw .outputDirectoryUnusable(path: directory, errno: errno) }
    guard information.st_mode & S_IFMT == S_IFDIR else {
      throw .outputDirectoryUnusable(path: directory, errno: ENOTDIR)
    }
    guard faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 else {
      throw .outputDirectoryUnusable(path: directory, errno: errno)
    }
    guard namesOneFileForAProgram else { return try OutputReservation([]) }
    let candidates = Set(programNames.map { path(processID: 0, programName: $0) }).sorted()
    let reservation = try OutputReservation(candidates)
    for candidate in candidates where lstat(candidate, &information) == 0 {
      // An empty file has no data to lose. It may come from an earlier recording that failed.
      let isEmpty = information.st_size == 0
      guard information.st_mode & S_IFMT == S_IFREG, isEmpty || RecordedTrace(path: candidate) != nil else {
        throw .outputIsNotATrace(path: candidate)
      }
      let live = LiveRecording(tracePath: candidate)
      if let live, !live.recordingProcesses().isEmpty { throw .outputInUse(path: candidate) }
    }
    for candidate in candidates where lstat(candidate, &information) == 0 {
      if let live = LiveRecording(tracePath: candidate) { unlink(live.path) }
      guard unlink(candidate) == 0 else { throw .outputDirectoryUnusable(path: directory, errno: errno) }
    }
    return reservation
  }

  private static func expand(_ pattern: String, processID: UInt32, programName: String) -> String? {
    var result = ""
    var rest = Substring(pattern)
    while let character = rest.popFirst() {
      guard character == "%" else {
        result.append(character)
        continue
      }
      switch rest.popFirst() {
      case "p": result += String(processID)
      case "n": result += programName
      case "%": result.append("%")
      default: return nil
      }
    }
    return result
  }

  private static func placeholders(in pattern: String) -> Set<Character> {
    var found: Set<Character> = []
    var rest = Substring(pattern)
    while let character = rest.popFirst() {
      if character == "%", let placeholder = rest.popFirst() { found.insert(placeholder) }
    }
    return found
  }

  private static func literal(_ pattern: String) -> String? {
    placeholders(in: pattern).isSubset(of: ["%"]) ? expand(pattern, processID: 0, programName: "") : nil
  }
}
