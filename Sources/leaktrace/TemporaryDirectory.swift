// Creates directories for temporary files.

import Glibc

enum TemporaryDirectory {
  /// Creates a directory that only this user can access: below TMPDIR, in /tmp, or in one of `others`; the first of
  /// these that is writable. Returns nil, with `errno` set, if none is.
  static func make(besides others: [String] = []) -> String? {
    let named = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? [$0] : nil } ?? []
    for base in named + ["/tmp"] + others {
      var template = Array("\(base)/leaktrace.XXXXXX".utf8CString)
      if mkdtemp(&template) != nil { return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } }
    }
    return nil
  }
}
