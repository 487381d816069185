// The signals that end a watch.

import Glibc

/// Signals are taken off the queue between images, so that none ends an inspection in the middle. Main thread only.
struct WatchSignals {
  private let waited: sigset_t

  /// Blocks those that would end this process.
  init() {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, signal) }
    sigprocmask(SIG_BLOCK, &set, nil)
    waited = set
  }

  /// Waits. True if one of them came.
  func arrives(within seconds: Double) -> Bool {
    var set = waited
    let whole = max(0, seconds.rounded(.down))
    var limit = timespec(tv_sec: Int(whole), tv_nsec: max(0, min(999_999_999, Int((seconds - whole) * 1e9))))
    return sigtimedwait(&set, nil, &limit) > 0
  }

  /// Lets the next one end this process: a report that takes long can be interrupted.
  func letThrough() {
    var set = waited
    sigprocmask(SIG_UNBLOCK, &set, nil)
  }
}
