// A command that runs beside a recorded program. When it ends, the program is stopped.

import Glibc
import TraceAnalysis

/// The command of `check --until`, such as a load generator, which ends when a server has done enough work. The command
/// finds the program's process ID in `LEAKTRACE_PID`. Main thread only.
final class EndingCommand {
  private static let processVariable = "LEAKTRACE_PID="

  private let command: String
  private let choice: CheckedProcesses
  private let stopTimeout: Double
  private var processID: Int32 = 0
  /// Stops the program; nil until the command was started.
  private(set) var programStop: ProgramStop?
  /// The command's wait status; nil if the command did not end before the program.
  private(set) var waitStatus: Int32?
  private(set) var startFailure: Int32 = 0

  /// - Parameters:
  ///   - choice: The processes to judge.
  ///   - stopTimeout: Seconds that the program may take to end after SIGTERM.
  init(_ command: String, choice: CheckedProcesses, stopTimeout: Double) {
    (self.command, self.choice, self.stopTimeout) = (command, choice, stopTimeout)
  }

  /// True if the program was sent SIGTERM.
  var hasEndedTarget: Bool { programStop?.hasBegun ?? false }
  /// True if the program did not end in time and was killed.
  var hasKilledTarget: Bool { programStop?.hasKilledTarget ?? false }

  /// Starts the command in a shell. Its output goes to standard error: standard output is the program's alone. If the
  /// command cannot be started, stops the program.
  func start(beside target: TargetProcess, of session: RecordingSession) {
    let programStop = ProgramStop(target, of: session, choice: choice, timeout: stopTimeout)
    self.programStop = programStop
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = target.maskBefore
    posix_spawnattr_setsigmask(&attributes, &mask)
    // Give the command its own process group, so that all of its processes can be ended.
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

  /// Checks whether the command has ended. If so, takes heap images and stops the program. Later calls kill the program
  /// if it does not end in time.
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

  /// Call this when the program has ended. Ends the command if it still runs. If the command ended earlier, ends the
  /// processes that the program left behind.
  func stop() {
    defer { programStop?.finish() }
    guard processID != 0, waitStatus == nil else { return }
    var status: Int32 = 0
    // The command may have ended by itself just now.
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
