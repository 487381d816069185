// One call of a tool: a run of this command in a process of its own.

import Glibc
import TraceAnalysis

/// Runs leaktrace with the command line of a call, and collects its output up to a limit. For one thread.
struct AgentCall {
  /// The process could not be started.
  struct StartFailure: Error { var reason: String }

  let call: ToolCall
  private let trace: String
  private let processID: pid_t
  private var output: Pipe
  private var errors: Pipe
  /// Nanoseconds of the monotonic clock when a recorded program has to end; nil for other calls.
  private var end: UInt64?
  private var isTimeUp = false

  /// Nanoseconds from SIGTERM to SIGKILL for a recorded program.
  private static let grace: UInt64 = 20_000_000_000
  /// Maximum bytes of errors and of a recorded program's output to show.
  private static let shownBytes = 1500

  /// The reading end of a pipe.
  private struct Pipe {
    var descriptor: Int32
    /// The last bytes that were read, up to a limit.
    var bytes: [UInt8] = []
    let limit: Int

    /// Reads the available bytes. Keeps only the last bytes.
    mutating func drain() {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while descriptor >= 0 {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN { return }
        guard count > 0 else { return close() }
        bytes += buffer[..<count]
        if bytes.count > 2 * limit { bytes.removeFirst(bytes.count - limit) }
      }
    }

    mutating func close() {
      if descriptor >= 0 { Glibc.close(descriptor) }
      descriptor = -1
    }

    var text: String { String(decoding: bytes.suffix(limit), as: UTF8.self) }
  }

  init(_ call: ToolCall, newTrace: String) throws(StartFailure) {
    (self.call, trace) = (call, newTrace)
    if call.makesTrace, access(newTrace, F_OK) == 0 {
      throw StartFailure(reason: "\(newTrace) exists already. Choose another path for the new trace.")
    }
    guard let (outputEnd, outputSource) = Self.makePipe() else { throw StartFailure(reason: "cannot make a pipe.") }
    guard let (errorEnd, errorSource) = Self.makePipe() else {
      close(outputEnd)
      close(outputSource)
      throw StartFailure(reason: "cannot make a pipe.")
    }
    let result = Self.spawn(call.commandLine(newTrace: newTrace), output: outputSource, errors: errorSource)
    close(outputSource)
    close(errorSource)
    output = Pipe(descriptor: outputEnd, limit: call.tool == .record ? Self.shownBytes : 4 << 20)
    errors = Pipe(descriptor: errorEnd, limit: Self.shownBytes)
    guard case .success(let processID) = result else {
      output.close()
      errors.close()
      throw StartFailure(reason: "leaktrace cannot start itself.")
    }
    self.processID = processID
    end = call.seconds.map { Self.now + UInt64($0) * 1_000_000_000 }
  }

  /// Makes a pipe that no child inherits. Reading from it does not wait. Returns nil if there is no room for one.
  private static func makePipe() -> (reading: Int32, writing: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }

  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Starts this program in a process group of its own, so that all of its processes can be stopped.
  private static func spawn(_ arguments: [String], output: Int32, errors: Int32) -> Result<pid_t, StartFailure> {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setpgroup(&attributes, 0)
    var ignored = sigset_t()
    sigemptyset(&ignored)
    sigaddset(&ignored, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &ignored)
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    let words: [UnsafeMutablePointer<CChar>?] = (["leaktrace"] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var processID: pid_t = 0
    guard posix_spawn(&processID, "/proc/self/exe", &actions, &attributes, words, environ) == 0 else {
      return .failure(StartFailure(reason: ""))
    }
    return .success(processID)
  }

  /// The pipes to wait for.
  var openPipes: [Int32] { [output.descriptor, errors.descriptor].filter { $0 >= 0 } }

  /// Reads new output. Returns the answer if the process has ended; otherwise nil.
  mutating func look() -> ToolAnswer? {
    output.drain()
    errors.drain()
    var status: Int32 = 0
    guard waitpid(processID, &status, WNOHANG) == processID else {
      checkTime()
      return nil
    }
    // A process that a recorded program has left behind may hold the pipes open.
    output.drain()
    errors.drain()
    output.close()
    errors.close()
    if call.tool == .record { kill(-processID, SIGTERM) }
    return answer(ProcessOutcome(waitStatus: status))
  }

  /// Stops a recorded program when its time is over: first by SIGTERM, so that it can end in its own way.
  private mutating func checkTime() {
    guard let end, Self.now >= end else { return }
    // The recorder passes the signal on. A second SIGTERM might end the program without a heap image.
    if isTimeUp { kill(-processID, SIGKILL) } else { kill(processID, SIGTERM) }
    isTimeUp = true
    self.end = Self.now + Self.grace
  }

  /// Kills the processes of the call.
  mutating func stop() {
    kill(-processID, SIGKILL)
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0, errno == EINTR {}
    output.close()
    errors.close()
  }

  private func answer(_ outcome: ProcessOutcome) -> ToolAnswer {
    let size = Int(call.size)
    guard call.tool != .record else { return recording(outcome, size) }
    // The answer is one line of JSON. Failures have none.
    let text = output.text
    if text.hasPrefix("{"), text.hasSuffix("}\n") {
      return ToolAnswer(text: String(text.dropLast()), isError: text.contains("\"kind\":\"failure\""))
    }
    let reason = errors.text.isEmpty ? "leaktrace ended without an answer." : errors.text
    return ToolAnswer(text: BriefReport.failure(reason, size: size).compactText, isError: true)
  }

  private func recording(_ outcome: ProcessOutcome, _ size: Int) -> ToolAnswer {
    let end: String =
      switch outcome {
      case .exited(let status): "exited with status \(status)"
      case .killed(let signal, _): "ended by signal \(signal) (\(String(cString: strsignal(signal))))"
      case .stopped, .continued: "ended"
      }
    let hasTrace = access(trace, F_OK) == 0
    let value = BriefReport.recording(
      trace: hasTrace ? trace : nil, end: isTimeUp ? "stopped when the time was over; \(end)" : end,
      output: output.text,
      errors: errors.text, size: size)
    return ToolAnswer(text: value.compactText, isError: !hasTrace)
  }
}
