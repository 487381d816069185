// Errors of reading a trace file, in words.

import Glibc
import TextWriting
import TraceReading

extension TraceFormatError {
  /// Returns the problem of the file at `path`, and the next step.
  package func explanation(path: String) -> String {
    switch self {
    case .system("open", let place, EINVAL):
      "\(place) is no regular file: give a trace, or a directory of traces. What a pipe gives, write to a file first."
    case .system(let call, let place, let code):
      "cannot \(call) \(place): \(systemErrorText(code))"
        + (code == ENOENT
          ? ". Record one with 'leaktrace record -- COMMAND', or check the path."
          : code == EACCES ? ". Traces are readable by their owner only; run as the user that recorded it." : "")
    case .notATrace:
      "\(path) is not a trace. Give a file that 'leaktrace record' wrote."
    case .isLiveFile:
      "\(path) is the live file beside a trace. Give the trace itself: the same path without '.live'."
    case .truncatedHeader(let size):
      "\(path) ends after \(size.rawValue) bytes, inside its header: the recording stopped before its first event. Record again."
    case .newerVersion(let found, let known):
      "\(path) has format version \(found), and this leaktrace reads up to \(known). Use the leaktrace that recorded it, or a later one."
    case .olderVersion(let found, let oldest):
      "\(path) has format version \(found), and this leaktrace reads from \(oldest) on. Use the leaktrace that recorded it, or record again."
    case .damagedHeader(let expected, let found):
      "\(path) has a damaged header (checksum \(String(found, radix: 16)), should be \(String(expected, radix: 16)))."
        + " Copy the trace again from where it was recorded."
    case .implausibleHeader(let field, let value, let offset):
      "\(path) has a header with \(field) \(value) at offset \(offset.rawValue), which is impossible. Copy the trace again from where it was recorded."
    case .compressionFailed(let reason): "\(path) could not be compressed: \(reason)"
    case .notClosed(let place):
      "\(place) has no end: its process still runs, or was killed. Record with 'leaktrace record', which completes it."
    case .busy(let place): "\(place) is being completed by another process. Try again when that is done."
    }
  }
}
