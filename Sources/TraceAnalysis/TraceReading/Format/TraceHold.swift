// A reader's hold on a trace that is still being written.

import CTraceFormat
import Glibc

/// A shared lock on the live file. While there is one, the recorder takes no heap image back; it goes on adding new
/// ones. Ends with this object. Nothing happens where there is no live file, or where it cannot be locked.
final class TraceHold {
  private let descriptor: Int32

  /// Waits some tenths of a second for a recorder that is taking an image back.
  init?(tracePath: String) {
    descriptor = open(tracePath + LT_LIVE_SUFFIX, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    for _ in 0..<Self.attempts {
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
      usleep(Self.delay)
    }
  }

  private static let attempts = 50
  private static let delay: useconds_t = 10_000

  deinit { close(descriptor) }
}
