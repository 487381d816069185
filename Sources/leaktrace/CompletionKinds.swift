// The kinds of values that a shell completes. `CompletionScript` has the shells' functions.

import ArgumentParser
import LeakGates

/// A kind that is no file, directory or fixed word is the call of a function, which `CompletionScript` defines for each
/// shell.
extension CompletionKind {
  /// A program in `PATH` or a file, and then the program's own arguments.
  static let program = CompletionKind.shellCommand("__leaktrace_program")
  /// The process ID of a recording that runs.
  static let recording = CompletionKind.shellCommand("__leaktrace_recording")
  static let recordingOrTrace = CompletionKind.shellCommand("__leaktrace_recording_or_trace")
  /// The process ID of a process of this user.
  static let process = CompletionKind.shellCommand("__leaktrace_process")
  static let processOrFile = CompletionKind.shellCommand("__leaktrace_process_or_file")
  /// `html=report.html`.
  static let reportFile = CompletionKind.shellCommand(
    "__leaktrace_report_file " + ReportFormat.allCases.map(\.rawValue).joined(separator: " "))
  /// Conditions that fail a command, with commas between: first those for one build, then those for two.
  static let conditions = CompletionKind.shellCommand(
    "__leaktrace_conditions \(words(for: .analysis)) -- \(words(for: .comparison))")

  private static func words(for subject: GateList.Subject) -> String {
    GateCondition.names(for: subject).joined(separator: " ")
  }
}
