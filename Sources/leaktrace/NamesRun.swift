// The reading of names at the end of a recording, in a process of its own.

import Glibc
import TraceAnalysis

/// Runs `leaktrace names` for traces that are finished. A program with very many names costs the recording some seconds at
/// most, and a file that ends the reading process costs only names.
struct NamesRun {
  /// Seconds for the names of all traces of a recording.
  private static let timeLimit = 20.0

  private let deadline: ContinuousClock.Instant
  /// A message for `RecordingSummary` that names were left out, and the reason.
  private(set) var remark: String?

  init() { deadline = ContinuousClock.now + .seconds(Self.timeLimit) }

  /// Stores the names of a trace. Returns when it is done, or at the deadline, with the trace whole in either case.
  mutating func store(inTraceAt path: String) {
    let left = deadline - ContinuousClock.now
    // A short time is not worth a process.
    guard left > .milliseconds(200) else { return note("reading all names would take too long") }
    let seconds = Double(left.components.seconds) + Double(left.components.attoseconds) / 1e18
    var process: pid_t = 0
    let words = [
      RecordingRun.ownPath(), "names", "--quiet", "--time-limit", "\(max(0.1, seconds / 2))s", "--", path,
    ]
    let arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Signals are blocked here while a program is recorded. Ctrl-C ends the reading.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for file: Int32 in 0...2 { posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_RDWR, 0) }
    guard posix_spawn(&process, words[0], &actions, &attributes, arguments, environ) == 0 else {
      return note("they could not be read")
    }
    switch end(of: process) {
    case nil: note("reading all names would take too long")
    case 0: break
    case ExitStatus.damaged.rawValue << 8: note("reading all names would take too long")
    case ExitStatus.outputFailed.rawValue << 8: note("there is no room for them")
    default: note("they could not be read")
    }
  }

  /// The wait status of a process, which is killed at the deadline; then nil.
  private func end(of process: pid_t) -> Int32? {
    var status: Int32 = 0
    var pause: UInt32 = 1_000
    while true {
      let ended = waitpid(process, &status, WNOHANG)
      if ended == process { return status }
      if ended < 0, errno != EINTR { return 0 }
      if ContinuousClock.now > deadline {
        kill(process, SIGKILL)
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return nil
      }
      usleep(pause)
      pause = min(pause * 2, 50_000)
    }
  }

  private mutating func note(_ reason: String) {
    if remark == nil {
      // The trace is sound. So this is a note, which --quiet leaves out.
      remark = "note: some names are not in the trace: \(reason). 'leaktrace names TRACE' stores them"
    }
  }
}
