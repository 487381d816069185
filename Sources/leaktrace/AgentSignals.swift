// The signals that end `leaktrace mcp`.

import Glibc

/// Makes the signals that would end this process readable, so that a running call is stopped first. Main thread only.
enum AgentSignals {
  /// The end of the pipe that the handler writes to.
  nonisolated(unsafe) private static var source: Int32 = -1

  /// Starts to watch. Returns the descriptor that becomes readable when a signal arrives; -1 if there is none.
  static func watch() -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return -1 }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    source = ends[1]
    var watched = sigset_t()
    sigemptyset(&watched)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      sigaddset(&watched, number)
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        write(AgentSignals.source, &byte, 1)
      }
    }
    // The client may have blocked signals in its own threads. A new process inherits that.
    sigprocmask(SIG_UNBLOCK, &watched, nil)
    return ends[0]
  }

  /// Ends this process by the signal that has arrived.
  static func end(_ descriptor: Int32) {
    var byte: UInt8 = 0
    guard read(descriptor, &byte, 1) == 1 else { return }
    signal(Int32(byte), SIG_DFL)
    raise(Int32(byte))
  }
}
