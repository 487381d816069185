// Messages of `record` and its relatives on standard error.

import Glibc
import TraceAnalysis

enum ErrorOutput {
  /// Writes one line with the program's name before it, in a single write so that it stays whole beside others' output.
  /// Paths and names of programs may have control characters in them: no terminal is to obey these.
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
