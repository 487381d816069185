// The signal state that this process was started with.

import Glibc

/// The signal mask, and the dispositions that a recording changes. A second recording restores them first, so its
/// program inherits the same state as the first one. Main thread only.
struct InheritedSignals {
  private var mask = sigset_t()
  private var dispositions: [(signal: Int32, action: sigaction)] = []

  init() {
    sigprocmask(SIG_SETMASK, nil, &mask)
    for signal in [SIGCHLD, SIGXFSZ] {
      var action = sigaction()
      if sigaction(signal, nil, &action) == 0 { dispositions.append((signal, action)) }
    }
  }

  func restore() {
    for (signal, action) in dispositions {
      var action = action
      sigaction(signal, &action, nil)
    }
    var mask = mask
    sigprocmask(SIG_SETMASK, &mask, nil)
  }
}
