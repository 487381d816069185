// The system's words for an errno value.

import Glibc

/// The message of an errno value. Thread-safe, since glibc keeps one buffer a thread.
package func systemErrorText(_ code: Int32) -> String {
  strerror(code).map { String(cString: $0) } ?? "error \(code)"
}
