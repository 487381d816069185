// Reads names at the end of a recording, in a separate process.

import Glibc
import TraceAnalysis

/// Runs `leaktrace names` for finished traces. A program with very many names delays the end of the recording at most
/// until the time limit. If a file crashes the reading process, only names are lost.
struct NamesRun {
  /// Seconds for the names of all traces of one recording.
  private static let timeLimit = 20.0

  private let deadline: ContinuousClock.Instant
  /// A message for `RecordingSummary`: names are missing, and why. Nil if all names were stored.
  private(set) var remark: String?

  init() { deadline = ContinuousClock.now + .seconds(Self.timeLimit) }

  /// Stores the names of a trace. Returns when they are stored, or at the deadline; the trace is whole in both cases.
  mutating func store(inTraceAt path: String) {
    let left = deadline - ContinuousClock.now
    // Do not start a process for so short a time.
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
    // While a program is recorded, this process blocks signals. Unblock them in the reading process, so that Ctrl-C
    // ends it.
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

  /// Returns the wait status of a process. Kills the process at the deadline, and then returns nil.
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
      // This is a note, which --quiet suppresses, because the trace itself is sound.
      remark = "note: some names are not in the trace: \(reason). 'leaktrace names TRACE' stores them"
    }
  }
}
