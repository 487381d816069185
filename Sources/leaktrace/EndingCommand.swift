// A command that runs beside a recorded program. When it ends, the program is stopped.

import Glibc
import TraceAnalysis

/// The command of `check --until`: a load generator, which knows when a server has done enough. It finds the program's
/// process ID in `LEAKTRACE_PID`. Main thread only.
final class EndingCommand {
  private static let processVariable = "LEAKTRACE_PID="

  private let command: String
  private let choice: CheckedProcesses
  private let stopTimeout: Double
  private var processID: Int32 = 0
  /// Nil until the command has started.
  private(set) var programStop: ProgramStop?
  /// The command's wait status; nil if it did not end before the program.
  private(set) var waitStatus: Int32?
  private(set) var startFailure: Int32 = 0

  /// - Parameters:
  ///   - choice: The processes that are judged.
  ///   - stopTimeout: Seconds for the program to end after SIGTERM.
  init(_ command: String, choice: CheckedProcesses, stopTimeout: Double) {
    (self.command, self.choice, self.stopTimeout) = (command, choice, stopTimeout)
  }

  /// The program was sent SIGTERM.
  var hasEndedTarget: Bool { programStop?.hasBegun ?? false }
  /// The program did not end in time and was killed.
  var hasKilledTarget: Bool { programStop?.hasKilledTarget ?? false }

  /// Starts the command with the shell, its output on standard error, so that the program's standard output stays the
  /// program's. If the command cannot be started, the program is stopped.
  func start(beside target: TargetProcess, of session: RecordingSession) {
    let programStop = ProgramStop(target, of: session, choice: choice, timeout: stopTimeout)
    self.programStop = programStop
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
    variables += [strdup("\(Self.processVariable)\(target.processID)"), nil]
    defer { for variable in variables { free(variable) } }
    startFailure = posix_spawn(&processID, "/bin/sh", &actions, &attributes, arguments, variables)
    if startFailure != 0 {
      processID = 0
      programStop.begin(takesImages: false)
    }
  }

  /// Checks whether the command has ended. If so, takes heap images and stops the program.
  func look() {
    if waitStatus == nil, processID != 0 {
      var status: Int32 = 0
      if waitpid(processID, &status, WNOHANG) == processID {
        waitStatus = status
        programStop?.begin(takesImages: true)
      }
    } else {
      programStop?.look()
    }
  }

  /// Call when the program has ended. Ends the command if it still runs, and else the processes that the program left
  /// behind.
  func stop() {
    defer { programStop?.finish() }
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
}
