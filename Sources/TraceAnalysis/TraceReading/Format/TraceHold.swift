// A reader's hold on a trace that is still being written.

import CTraceFormat
import Glibc

/// A shared lock on the live file. While a reader has such a lock, the recorder deletes no heap image from the trace,
/// but still adds new ones. The lock ends with this object. If the live file cannot be locked, there is no protection.
final class TraceHold {
  private let descriptor: Int32

  /// Nil if the live file cannot be opened. Waits up to half a second while the recorder deletes an image.
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
