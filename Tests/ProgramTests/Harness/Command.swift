// Runs a program as a child process, and collects everything that can be observed from outside.

import Dispatch
import Foundation

struct CommandFailure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// A program to run. It inherits only the three standard descriptors, and no ignored or blocked signals. It gets its
/// own process group, which is killed after the time limit.
struct Command: Sendable {
  var arguments: [String]
  var environment: [String: String] = Command.cleanEnvironment
  var directory: String = "/"
  var input: [UInt8] = []
  /// Seconds until the program counts as hung. On a busy machine a program may take a hundred times as long as on an
  /// idle one.
  var timeLimit: Double = 600

  init(_ arguments: [String]) { self.arguments = arguments }

  /// The environment of the tests, without the variables of a recording that the tests run under.
  static let cleanEnvironment = ProcessInfo.processInfo.environment.filter { name, _ in
    name != "LD_PRELOAD" && !name.hasPrefix("LEAKTRACE_")
  }

  struct Outcome: Equatable, Sendable {
    enum End: Equatable, Sendable { case exit(Int32), signal(Int32) }
    var end: End
    var output: String
    var errorOutput: String
    var timedOut: Bool
  }

  /// Starts the program, waits for it and returns its output. The first argument is looked up in PATH.
  func run() throws -> Outcome { try start().wait() }

  func start() throws -> RunningCommand {
    try (StackVerification.isOn ? StackVerification.adjusted(self) : self).launch()
  }

  private func launch() throws -> RunningCommand {
    let scratch = try TemporaryDirectory()
    let inputPath = scratch.path + "/in", outputPath = scratch.path + "/out", errorPath = scratch.path + "/err"
    try Data(input).write(to: URL(fileURLWithPath: inputPath))

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errorPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    _ = SpawnExtensions.addChangeDirectory(&actions, directory)
    _ = SpawnExtensions.addCloseFrom(&actions, 3)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t(), all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

    let argv = arguments.map { strdup($0) } + [nil]
    let envp = environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var processID: pid_t = 0
    let code = posix_spawnp(&processID, arguments[0], &actions, &attributes, argv, envp)
    guard code == 0 else { throw CommandFailure("\(arguments[0]): \(String(cString: strerror(code)))") }
    return RunningCommand(self, processID: processID, scratch: scratch)
  }
}

/// Functions of the C library that are missing from Swift's Glibc module.
private enum SpawnExtensions {
  typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>
  static let addChangeDirectory = unsafeBitCast(
    dlsym(nil, "posix_spawn_file_actions_addchdir_np"),
    to: (@convention(c) (Actions, UnsafePointer<CChar>) -> Int32).self)
  static let addCloseFrom = unsafeBitCast(
    dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"), to: (@convention(c) (Actions, Int32) -> Int32).self)
}

/// A started program. `wait` must be called once.
final class RunningCommand: Sendable {
  let processID: pid_t
  private let command: Command
  private let scratch: TemporaryDirectory
  nonisolated(unsafe) private let deadline: DispatchWorkItem
  private let expired: Expiry

  private final class Expiry: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false
    var isSet: Bool {
      get { lock.withLock { value } }
      set { lock.withLock { value = newValue } }
    }
  }

  fileprivate init(_ command: Command, processID: pid_t, scratch: TemporaryDirectory) {
    self.command = command
    self.processID = processID
    self.scratch = scratch
    let expiry = Expiry()
    expired = expiry
    deadline = DispatchWorkItem {
      expiry.isSet = true
      kill(-processID, SIGKILL)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + command.timeLimit, execute: deadline)
  }

  /// Returns once the program has written `text` to standard error.
  func waitForErrorOutput(containing text: String) throws {
    try AwaitedState.wait(until: "\(command.arguments.joined(separator: " ")) says '\(text)'") {
      try String(contentsOfFile: "\(scratch.path)/err", encoding: .utf8).contains(text)
    }
  }

  func send(_ signal: Int32) { kill(processID, signal) }
  func sendToGroup(_ signal: Int32) { kill(-processID, signal) }

  func wait() throws -> Command.Outcome {
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0 {
      guard errno == EINTR else { throw CommandFailure("waitpid: \(String(cString: strerror(errno)))") }
    }
    deadline.cancel()
    let end: Command.Outcome.End = status & 0x7F == 0 ? .exit((status >> 8) & 0xFF) : .signal(status & 0x7F)
    func text(_ name: String) throws -> String {
      String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(scratch.path)/\(name)")), as: UTF8.self)
    }
    let outcome = Command.Outcome(
      end: end, output: try text("out"), errorOutput: try text("err"), timedOut: expired.isSet)
    if StackVerification.isOn, let failure = StackVerification.failure(of: command, outcome) {
      throw CommandFailure(failure)
    }
    return outcome
  }
}
