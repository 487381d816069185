// The system's message for an errno value.

import Glibc

/// Returns the message of an errno value. Thread-safe, because glibc has a buffer for each thread.
package func systemErrorText(_ code: Int32) -> String {
  strerror(code).map { String(cString: $0) } ?? "error \(code)"
}
