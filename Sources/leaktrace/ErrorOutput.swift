// Messages on standard error.

import Glibc
import TraceAnalysis

enum ErrorOutput {
  /// Writes one line that begins with the program's name. A single write keeps the line whole if other processes write
  /// too. Escapes control characters in paths and program names, so that they cannot control the terminal.
  static func print(_ line: String) {
    write(
      "leaktrace: \(line.split(separator: "\n", omittingEmptySubsequences: false).map { PlainText.escaped(String($0)) }.joined(separator: "\n"))\n"
    )
  }

  static func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }
}
