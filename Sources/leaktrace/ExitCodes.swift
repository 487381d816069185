// What the command's exit status means, and how its failures are put into words.

import ArgumentParser
import TraceAnalysis

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The exit statuses of every subcommand that reads a trace. `record` passes on the status of the program it ran: see `RecordExitCode`.
///
/// | status | meaning |
/// | --- | --- |
/// | 0 | done; nothing was found wrong with the trace |
/// | 1 | done; a gate failed, or there are findings (commands that look for leaks) |
/// | 2 | done; nothing matches what was asked for |
/// | 3 | a trace could not be read at all |
/// | 4 | done, but a trace is damaged or cut short: the result covers what is readable |
/// | 5 | the result could not be written |
/// | 64 | the command line is wrong |
///
/// Of several the gravest is taken (`worst`): 1 says that everything was read and a gate failed, so what could not be read outweighs it.
/// `check` ends as its program does if that fails; otherwise with these, and with 3 also if nothing was recorded.
///
/// `pause`, `resume` and `snapshot` read none: they exit with 0 if the process did what it was told, and with 1 if not.
enum ExitStatus: Int32 {
  case success = 0
  case findings = 1
  case notFound = 2
  case unreadable = 3
  case damaged = 4
  case outputFailed = 5
  case usage = 64

  /// To be thrown from a command's `run`.
  var code: ExitCode { ExitCode(rawValue) }

  /// The status for several traces: the gravest. A trace that cannot be read outweighs one that is damaged.
  static func worst(_ a: ExitStatus, _ b: ExitStatus) -> ExitStatus {
    let byGravity: [ExitStatus] = [.outputFailed, .usage, .unreadable, .damaged, .notFound, .findings, .success]
    return byGravity.first { $0 == a || $0 == b } ?? a
  }
}

/// Writes one message to standard error, with the command's name.
func complain(_ message: String) { ErrorOutput.print(message) }

/// A failure in words: what is wrong, and what to do next.
func explanation(of error: any Error, path: String) -> String {
  guard let error = error as? TraceFormatError else { return "\(path): \(error)" }
  return switch error {
  case .system("open", let place, EINVAL): "\(place) is no regular file: give a trace, or a directory of traces. What a pipe gives, write to a file first."
  case .system(let call, let place, let code):
    "cannot \(call) \(place): \(String(cString: strerror(code)))"
      + (code == ENOENT
        ? ". Record one with 'leaktrace record -- COMMAND', or check the path."
        : code == EACCES ? ". Traces are readable by their owner only; run as the user that recorded it." : "")
  case .notATrace:
    "\(path) is not a trace: it does not begin as one. Give a file that 'leaktrace record' wrote."
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
    "\(path) has a header with \(field) \(value) at offset \(offset.rawValue), which cannot be. Copy the trace again from where it was recorded."
  case .compressionFailed(let reason): "\(path) could not be compressed: \(reason)"
  case .busy(let place): "\(place) is being finished by another process. Try again when that is done."
  }
}

/// What `record` exits with when the program did not run; otherwise it ends as the program ended.
enum RecordExitCode {
  /// `record` itself failed, or refused the program. As of `env` and `timeout`.
  static let failed: Int32 = 125
  /// The command was found but cannot be executed. As of shells.
  static let notExecutable: Int32 = 126
  /// There is no such command. As of shells.
  static let notFound: Int32 = 127
}
