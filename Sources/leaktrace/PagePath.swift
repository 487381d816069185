// The file that `report` writes to if the user names none.

import Glibc

enum PagePath {
  /// Returns a path in the current directory that is named after a trace. It is free, or has an earlier page: the user
  /// has named no other file to overwrite. It may be one that cannot be written.
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

  /// Returns the last component of the path, without the ending of a trace's name.
  private static func baseName(ofTrace trace: String) -> String {
    var name = trace.split(separator: "/").last.map(String.init) ?? "."
    // A directory may be named by its place.
    if name == "." || name == ".." {
      name = ReportOutputs.place(trace).split(separator: "/").last.map(String.init) ?? ""
    }
    for ending in [".trace", ".lktrace"] where name.hasSuffix(ending) { name.removeLast(ending.count) }
    // A name with a dash in front would be an option of the command that opens the page.
    while name.hasPrefix("-") { name.removeFirst() }
    return name.isEmpty ? "report" : name
  }

  /// Whether a file begins as the pages do that leaktrace writes.
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

  /// Bytes up to the end of a page's title, which has the path of a program.
  private static let headSize = 1 << 14
}
