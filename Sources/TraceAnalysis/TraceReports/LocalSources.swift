// Source files of this machine.

import Glibc

/// The files of this machine, read only to count their lines.
package struct LocalSources: SourceAccess {
  /// In bytes: nobody writes larger source files, and what is larger is not read.
  private static let largestSize = 64 << 20

  package init() {}

  package func resolvedPath(_ path: String) -> String? {
    guard !path.utf8.contains(0), let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    // A name that is not UTF-8 cannot be written into a report.
    return String(validatingCString: resolved)
  }

  package func lineCount(ofFile path: String) -> Int? {
    guard !path.utf8.contains(0) else { return nil }
    // Paths come from a trace, so a pipe may stand there: never wait for one to be opened.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.largestSize else {
      return nil
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var (lines, total, last): (Int, Int, UInt8) = (0, 0, UInt8(ascii: "\n"))
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      total += count
      // It may grow while it is read.
      guard total <= Self.largestSize else { return nil }
      lines += buffer[..<count].reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
      last = buffer[count - 1]
    }
    return last == UInt8(ascii: "\n") ? lines : lines + 1
  }
}
