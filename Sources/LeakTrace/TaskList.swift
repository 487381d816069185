// The tasks of this process, for instance to serve them over HTTP.

import CLeakTrace

extension LeakTrace {
  /// Lists all tasks of this process: what each waits for, who can resume it, and deadlocks. The bytes are the JSON of
  /// `leaktrace tasks --format json`. A server can answer `/debug/tasks` with it. Needs no recorder.
  ///
  /// The installed command `leaktrace` inspects this process. The command is looked for at the path in
  /// `LEAKTRACE_COMMAND`, beside the recorder's library, and in `PATH`. All threads stop for some milliseconds, while the
  /// kernel copies the process. Then the program goes on.
  ///
  /// Call it on a thread that may block, outside of tasks. It blocks for some tenths of a second, and for at most a minute.
  /// Concurrent callers wait for each other.
  /// - Returns: nil if the command is missing, if it may not inspect this process, or if it cannot. `leaktrace doctor
  ///   PID` says why.
  public static func taskList() -> [UInt8]? { tasks(["--format", "json"]) }

  /// Makes a profile of all tasks by the stacks where they wait. The bytes are a `.pb.gz` file that `go tool pprof`,
  /// Pyroscope and Parca can read. Otherwise like `taskList()`.
  public static func taskProfile() -> [UInt8]? { tasks(["--format", "pprof"]) }

  /// Makes a profile of the tasks that never end: no code can resume them, or they wait for such a task. Otherwise like
  /// `taskProfile()`. A profile without samples means that there are none.
  public static func taskLeakProfile() -> [UInt8]? { tasks(["--format", "pprof", "--leaked"]) }

  private static let timeLimit: Int32 = 60_000  // milliseconds

  private static func tasks(_ options: [String]) -> [UInt8]? {
    let command = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { path in
      cleaktrace_find_installed_command(path.baseAddress!, path.count) ? String(cString: path.baseAddress!) : nil
    }
    guard let command else { return nil }
    var arguments = ([command, "tasks", "\(cleaktrace_process_number())"] + options).map { copy($0) }
    defer { for argument in arguments { argument?.deallocate() } }
    arguments.append(nil)
    var size = 0
    guard let bytes = cleaktrace_run_as_guest(arguments, timeLimit, &size) else { return nil }
    defer { cleaktrace_free(bytes) }
    return Array(UnsafeRawBufferPointer(start: bytes, count: size))
  }

  private static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? {
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { copy[index] = byte }
    return copy
  }
}
