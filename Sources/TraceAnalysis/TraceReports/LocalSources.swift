// Source files on this machine.

import Glibc

/// Reads files of this machine, to count their lines and for excerpts.
package struct LocalSources: SourceAccess {
  /// Maximum file size in bytes. Larger files are not read, because no source file is that large.
  private static let largestSize = 64 << 20

  package init() {}

  package func resolvedPath(_ path: String) -> String? {
    guard !path.utf8.contains(0), let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    // Reports are UTF-8, so a path that is not UTF-8 counts as missing.
    return String(validatingCString: resolved)
  }

  package func lineCount(ofFile path: String) -> Int? {
    var (lines, last): (Int, UInt8) = (0, UInt8(ascii: "\n"))
    let isRead = read(path, limit: Self.largestSize) { part in
      lines += part.reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
      if let end = part.last { last = end }
    }
    guard isRead else { return nil }
    return last == UInt8(ascii: "\n") ? lines : lines + 1
  }

  /// Returns the text of a file of at most `limit` bytes; nil if the file is larger or not readable. Replaces bytes
  /// that are not UTF-8.
  package func text(ofFile path: String, limit: Int) -> String? {
    var bytes: [UInt8] = []
    return read(path, limit: limit) { bytes += $0 } ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// Passes a file's bytes to `take` in parts. Returns false if the file is larger than `limit` or cannot be read.
  private func read(_ path: String, limit: Int, _ take: (ArraySlice<UInt8>) -> Void) -> Bool {
    guard !path.utf8.contains(0) else { return false }
    // Paths come from a trace and may lead to a pipe. O_NONBLOCK keeps `open` from waiting for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
      return false
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var total = 0
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { return false }
      if count == 0 { return true }
      total += count
      // The file may grow while it is read.
      guard total <= limit else { return false }
      take(buffer[..<count])
    }
  }
}
