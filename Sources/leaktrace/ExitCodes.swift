// The meanings of the command's exit status, and the wording of its failures.

import ArgumentParser
import Glibc
import TraceAnalysis

/// The exit statuses of every subcommand that reads a trace. `record` instead passes on the status of the program that
/// it ran: see `RecordExitCode`.
///
/// | status | meaning |
/// | --- | --- |
/// | 0 | done; nothing was found wrong with the trace |
/// | 1 | done; a gate failed, or there are findings (commands that look for leaks) |
/// | 2 | done; nothing matches the request |
/// | 3 | a trace could not be read at all |
/// | 4 | done, but a trace is damaged or cut short: the result covers its readable part |
/// | 5 | the result could not be written |
/// | 6 | done, but a stranger's trace (`--untrusted`) asked for more work than its size allows |
/// | 7 | done; nothing is wrong, but no run shows that a finding is gone (`verify`, `check --against`) |
/// | 64 | the command line is wrong |
///
/// If several apply, `worst` chooses the gravest. Status 1 means that everything was read and a gate failed, so an
/// unreadable part outweighs it. `check` ends as its program did if the program failed. Otherwise it uses these
/// statuses, and 3 also if nothing was recorded.
///
/// `pause`, `resume` and `snapshot` read no trace: they exit with 0 if the process obeyed, and otherwise with 1. `ps`
/// exits with 0 even if it lists no process. `doctor` also reads no trace: it exits with 1 if a feature does not work,
/// and with 3 if there is no such process.
enum ExitStatus: Int32 {
  case success = 0
  case findings = 1
  case notFound = 2
  case unreadable = 3
  case damaged = 4
  case outputFailed = 5
  case refused = 6
  case unproven = 7
  case usage = 64

  /// The status after a trace with these faults was read.
  init(_ faults: TraceDiagnostics) {
    self = faults.isEmpty ? .success : faults.first.contains(where: \.isRefusal) ? .refused : .damaged
  }

  /// The exit code that a command's `run` throws.
  var code: ExitCode { ExitCode(rawValue) }

  /// Returns the graver of two statuses. An unreadable trace outweighs a damaged one.
  static func worst(_ a: ExitStatus, _ b: ExitStatus) -> ExitStatus {
    let byGravity: [ExitStatus] = [
      .outputFailed, .usage, .unreadable, .refused, .damaged, .notFound, .findings, .unproven, .success,
    ]
    return byGravity.first { $0 == a || $0 == b } ?? a
  }
}

/// Writes one message to standard error, with the command's name.
func complain(_ message: String) { ErrorOutput.print(message) }

/// Describes a failure: the problem, and the next step for the user.
func explanation(of error: any Error, path: String) -> String {
  (error as? TraceFormatError)?.explanation(path: path) ?? "\(path): \(error)"
}

/// The exit statuses of `record` if the program did not run. Otherwise `record` ends as the program ended.
enum RecordExitCode {
  /// `record` itself failed, or refused to run the program. `env` and `timeout` use the same number.
  static let failed: Int32 = 125
  /// The command was found but cannot be executed. Shells use the same number.
  static let notExecutable: Int32 = 126
  /// There is no such command. Shells use the same number.
  static let notFound: Int32 = 127
}
