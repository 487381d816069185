// A command that runs beside a recorded program, and at whose end the program is told to end.

import Glibc

/// The command of `check --until`: a load generator, which knows when a server has done enough. It finds the program's
/// process ID in `LEAKTRACE_PID`. Main thread only.
final class EndingCommand {
  /// The time that a program may take to end after SIGTERM, in seconds.
  static let patience = 60

  private static let processVariable = "LEAKTRACE_PID="

  private let command: String
  private var processID: Int32 = 0
  private var targetID: Int32 = 0
  private var endedAt: Int?
  /// The command's wait status; nil if it did not end before the program.
  private(set) var waitStatus: Int32?
  /// The program was told to end.
  private(set) var hasEndedTarget = false
  /// The program did not end in time and was killed.
  private(set) var hasKilledTarget = false
  private(set) var startFailure: Int32 = 0

  init(_ command: String) { self.command = command }

  /// Starts the command with the shell, its output on standard error, so that the program's standard output stays the
  /// program's. If it cannot be started, the program is told to end.
  func start(beside target: TargetProcess) {
    targetID = target.processID
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = target.maskBefore
    posix_spawnattr_setsigmask(&attributes, &mask)
    // A group of its own, so that all of it can be ended.
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, 2, 1)
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(command), nil]
    defer { for argument in arguments { free(argument) } }
    var variables: [UnsafeMutablePointer<CChar>?] = []
    var next = environ
    while let entry = next.pointee {
      if strncmp(entry, Self.processVariable, Self.processVariable.utf8.count) != 0 { variables.append(strdup(entry)) }
      next += 1
    }
    variables += [strdup("\(Self.processVariable)\(targetID)"), nil]
    defer { for variable in variables { free(variable) } }
    startFailure = posix_spawn(&processID, "/bin/sh", &actions, &attributes, arguments, variables)
    if startFailure != 0 {
      processID = 0
      endTarget()
    }
  }

  /// Sees whether the command has ended; then tells the program to end, and kills it if it does not.
  func look() {
    if waitStatus == nil, processID != 0 {
      var status: Int32 = 0
      if waitpid(processID, &status, WNOHANG) == processID {
        waitStatus = status
        endTarget()
      }
    } else if let endedAt, time(nil) - endedAt > Self.patience, !hasKilledTarget {
      hasKilledTarget = true
      kill(targetID, SIGKILL)
    }
  }

  /// Ends the command, if it still runs.
  func stop() {
    guard processID != 0, waitStatus == nil else { return }
    var status: Int32 = 0
    // It may have ended by itself, in the same moment.
    if waitpid(processID, &status, WNOHANG) == processID {
      waitStatus = status
      return
    }
    kill(-processID, SIGTERM)
    for _ in 0..<50 {
      if waitpid(processID, &status, WNOHANG) == processID { return }
      usleep(100_000)
    }
    kill(-processID, SIGKILL)
    waitpid(processID, &status, 0)
  }

  private func endTarget() {
    hasEndedTarget = true
    endedAt = time(nil)
    kill(targetID, SIGTERM)
  }
}
