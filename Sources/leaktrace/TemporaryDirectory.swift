// New directories for files that are not to stay.

import Glibc

enum TemporaryDirectory {
  /// Makes a directory of this user's alone: below TMPDIR, in /tmp, or in one of the others, whichever is the first
  /// that can be written to. Nil, with `errno` set, if none can.
  static func make(besides others: [String] = []) -> String? {
    let named = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? [$0] : nil } ?? []
    for base in named + ["/tmp"] + others {
      var template = Array("\(base)/leaktrace.XXXXXX".utf8CString)
      if mkdtemp(&template) != nil { return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } }
    }
    return nil
  }
}
