// A small program that an attempt starts.

import Glibc

/// A child process. `end` kills it and waits for it; the deinitializer calls `end`. For one thread.
final class ChildProgram {
  let processID: Int32
  /// The child's standard output, which this process reads.
  private let output: Int32
  /// The child's standard input. A waiting child ends when this is closed.
  private var input: Int32
  private var status: Int32?

  private static let stepMicroseconds: UInt32 = 2_000

  /// - Parameter entries: The environment.
  /// - Throws: `TrialFailure.system`.
  init(path: String, arguments: [String], entries: [[UInt8]]) throws(TrialFailure) {
    var (from, to): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    guard Self.makePipe(&from) == 0 else { throw .system(errno: errno) }
    guard Self.makePipe(&to) == 0 else {
      let code = errno
      for descriptor in from { close(descriptor) }
      throw .system(errno: code)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, to[0], 0)
    posix_spawn_file_actions_adddup2(&actions, from[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var argv: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    var envp: [UnsafeMutablePointer<CChar>?] = entries.map { strdup(String(decoding: $0, as: UTF8.self)) }
    defer { for pointer in argv + envp { free(pointer) } }
    argv.append(nil)
    envp.append(nil)
    var child: Int32 = 0
    let code = posix_spawn(&child, path, &actions, nil, argv, envp)
    close(from[1])
    close(to[0])
    (processID, output, input) = (child, from[0], to[1])
    guard code == 0 else {
      status = 0
      throw .system(errno: code)
    }
  }

  deinit {
    end()
    close(output)
  }

  /// Makes a pipe that other programs do not inherit. Returns 0, or −1 with `errno` set.
  private static func makePipe(_ ends: inout [Int32]) -> Int32 {
    guard pipe(&ends) == 0 else { return -1 }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return 0
  }

  /// Waits until the child writes a byte. Throws `late` when the time is over, or `message` if the child ends first.
  func awaitLine(seconds: Int) throws(TrialFailure) {
    var poller = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, Int32(seconds) * 1000) > 0 else { throw .late(seconds: seconds) }
    var byte: UInt8 = 0
    guard read(output, &byte, 1) == 1 else { throw .message("a small program ended before it was ready") }
  }

  /// Closes the child's input, and waits until the child ends by itself. Throws `late` when the time is over.
  func awaitEnd(seconds: Int) throws(TrialFailure) {
    closeInput()
    for _ in 0..<(seconds * 1_000_000 / Int(Self.stepMicroseconds)) {
      if hasEnded { return }
      usleep(Self.stepMicroseconds)
    }
    throw .late(seconds: seconds)
  }

  /// Kills the child if it still runs, and waits for it.
  func end() {
    closeInput()
    guard !hasEnded else { return }
    kill(processID, SIGKILL)
    var code: Int32 = 0
    while waitpid(processID, &code, 0) < 0 && errno == EINTR {}
    status = code
  }

  private var hasEnded: Bool {
    if status != nil { return true }
    var code: Int32 = 0
    guard waitpid(processID, &code, WNOHANG) == processID else { return false }
    status = code
    return true
  }

  private func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }
}
