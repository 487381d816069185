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
/// | 2 | done; nothing matches the request |
/// | 3 | a trace could not be read at all |
/// | 4 | done, but a trace is damaged or cut short: the result covers its readable part |
/// | 5 | the result could not be written |
/// | 64 | the command line is wrong |
///
/// If several apply, the gravest one is used (`worst`). Status 1 says that everything was read and a gate failed, so an
/// unreadable part outweighs it. `check` ends as its program does if that fails. Otherwise it uses these statuses, and
/// 3 also if nothing was recorded.
///
/// `pause`, `resume` and `snapshot` read no trace: they exit with 0 if the process obeyed, and with 1 if not. `ps`
/// exits with 0, even if it lists no process. `doctor` reads no trace either: it exits with 1 if a feature does not
/// work, and with 3 if there is no such process.
enum ExitStatus: Int32 {
  case success = 0
  case findings = 1
  case notFound = 2
  case unreadable = 3
  case damaged = 4
  case outputFailed = 5
  case usage = 64

  /// For a command's `run` to throw.
  var code: ExitCode { ExitCode(rawValue) }

  /// The status for several traces: the gravest one. An unreadable trace outweighs a damaged one.
  static func worst(_ a: ExitStatus, _ b: ExitStatus) -> ExitStatus {
    let byGravity: [ExitStatus] = [.outputFailed, .usage, .unreadable, .damaged, .notFound, .findings, .success]
    return byGravity.first { $0 == a || $0 == b } ?? a
  }
}

/// Writes one message to standard error, with the command's name.
func complain(_ message: String) { ErrorOutput.print(message) }

/// Describes a failure: the problem, and the next step for the user.
func explanation(of error: any Error, path: String) -> String {
  (error as? TraceFormatError)?.explanation(path: path) ?? "\(path): \(error)"
}

/// The exit statuses of `record` if the program did not run; otherwise it ends as the program ended.
enum RecordExitCode {
  /// `record` itself failed, or refused the program. The same number as in `env` and `timeout`.
  static let failed: Int32 = 125
  /// The command was found but cannot be executed. The same number as in shells.
  static let notExecutable: Int32 = 126
  /// There is no such command. The same number as in shells.
  static let notFound: Int32 = 127
}
