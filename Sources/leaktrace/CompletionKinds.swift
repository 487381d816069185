// The kinds of option values that a shell can complete. `CompletionScript` has the shell functions.

import ArgumentParser
import LeakGates

/// Kinds other than files, directories and fixed words call a shell function. `CompletionScript` defines the function
/// for each shell.
extension CompletionKind {
  /// A program in `PATH` or a file; the words after the program complete as the program's own arguments.
  static let program = CompletionKind.shellCommand("__leaktrace_program")
  /// The process ID of a running recording.
  static let recording = CompletionKind.shellCommand("__leaktrace_recording")
  static let recordingOrTrace = CompletionKind.shellCommand("__leaktrace_recording_or_trace")
  /// The process ID of a process of the current user.
  static let process = CompletionKind.shellCommand("__leaktrace_process")
  static let processOrFile = CompletionKind.shellCommand("__leaktrace_process_or_file")
  /// A format and a file, as in `html=report.html`.
  static let reportFile = CompletionKind.shellCommand(
    "__leaktrace_report_file " + ReportFormat.allCases.map(\.rawValue).joined(separator: " "))
  /// Conditions of `--fail-on`, separated by commas. The function gets the conditions for one build, then those for a
  /// comparison of two.
  static let conditions = CompletionKind.shellCommand(
    "__leaktrace_conditions \(words(for: .analysis)) -- \(words(for: .comparison))")

  private static func words(for subject: GateList.Subject) -> String {
    GateCondition.names(for: subject).joined(separator: " ")
  }
}
