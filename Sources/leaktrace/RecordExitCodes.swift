// The exit statuses of `leaktrace record` that are not the recorded program's own.

/// What `record` exits with when the program did not run; otherwise it ends as the program ended.
enum RecordExitCode {
  /// `record` itself failed, or refused the program. As of `env` and `timeout`.
  static let failed: Int32 = 125
  /// The command was found but cannot be executed. As of shells.
  static let notExecutable: Int32 = 126
  /// There is no such command. As of shells.
  static let notFound: Int32 = 127
}
