// The signals that end a watch.

import Glibc

/// Takes signals off the queue between two images, so that no signal ends this process during an inspection. Main
/// thread only.
struct WatchSignals {
  private let waited: sigset_t

  /// Blocks the signals that would end this process.
  init() {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, signal) }
    sigprocmask(SIG_BLOCK, &set, nil)
    waited = set
  }

  /// Waits for a signal. Returns true if one arrived.
  func arrives(within seconds: Double) -> Bool {
    var set = waited
    let whole = max(0, seconds.rounded(.down))
    var limit = timespec(tv_sec: Int(whole), tv_nsec: max(0, min(999_999_999, Int((seconds - whole) * 1e9))))
    return sigtimedwait(&set, nil, &limit) > 0
  }

  /// Unblocks the signals: the next one ends this process, so that a long report can be interrupted.
  func letThrough() {
    var set = waited
    sigprocmask(SIG_UNBLOCK, &set, nil)
  }
}
