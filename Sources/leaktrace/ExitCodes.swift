// The meanings of the command's exit status, and the wording of its failures.

import ArgumentParser
import Glibc
import TraceAnalysis

/// The exit statuses of every subcommand that reads a trace. `record` passes on the status of the program it ran: see
/// `RecordExitCode`.
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
/// Of several the gravest is taken (`worst`): 1 says that everything was read and a gate failed, so what could not be
/// read outweighs it.
/// `check` ends as its program does if that fails; otherwise with these, and with 3 also if nothing was recorded.
///
/// `pause`, `resume` and `snapshot` read none: they exit with 0 if the process did what it was told, and with 1 if not.
/// `ps` exits with 0, also if it lists no process. `doctor` reads none either: it exits with 1 if a feature does not
/// work, and with 3 if there is no such process.
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
  (error as? TraceFormatError)?.explanation(path: path) ?? "\(path): \(error)"
}

/// The exit statuses of `record` if the program did not run; otherwise it ends as the program ended.
enum RecordExitCode {
  /// `record` itself failed, or refused the program. As of `env` and `timeout`.
  static let failed: Int32 = 125
  /// The command was found but cannot be executed. As of shells.
  static let notExecutable: Int32 = 126
  /// There is no such command. As of shells.
  static let notFound: Int32 = 127
}
