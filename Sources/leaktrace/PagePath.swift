// Chooses the file that `report` writes if the user names none.

import Glibc

enum PagePath {
  /// Returns a path in the current directory, named after the trace. The path is free or has a page that leaktrace
  /// wrote before: no other file is overwritten, since the user did not name one. The path need not be writable.
  static func free(forTrace trace: String) -> String {
    let name = baseName(ofTrace: trace)
    var number = 1
    while true {
      let path = number == 1 ? "\(name).html" : "\(name)-\(number).html"
      var information = stat()
      if lstat(path, &information) != 0 { return path }
      if information.st_mode & S_IFMT == S_IFREG, isPage(path) { return path }
      number += 1
    }
  }

  /// Returns the last component of the trace's path, without the extension of traces.
  private static func baseName(ofTrace trace: String) -> String {
    var name = trace.split(separator: "/").last.map(String.init) ?? "."
    // For `.` and `..`, use the directory's real name.
    if name == "." || name == ".." {
      name = ReportOutputs.place(trace).split(separator: "/").last.map(String.init) ?? ""
    }
    for ending in [".trace", ".lktrace"] where name.hasSuffix(ending) { name.removeLast(ending.count) }
    // Remove leading dashes: the command that opens the page would take the name for an option.
    while name.hasPrefix("-") { name.removeFirst() }
    return name.isEmpty ? "report" : name
  }

  /// True if a file begins as pages from leaktrace do.
  private static func isPage(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: headSize)
    let count = max(0, read(descriptor, &bytes, bytes.count))
    let head = String(decoding: bytes[..<count], as: UTF8.self)
    return head.hasPrefix("<!DOCTYPE html>\n") && head.contains("; script-src 'nonce-")
      && head.contains(": leaktrace</title>\n")
  }

  /// Enough bytes to include a page's title, which contains the path of a program.
  private static let headSize = 1 << 14
}
