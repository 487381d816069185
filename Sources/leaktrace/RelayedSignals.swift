// The signals that reach `record` while the program runs: which of them are passed on, and how job control is kept.
//
// `record` installs no handlers. It blocks the signals and takes them off the queue one by one, so the program inherits
// the dispositions that `record` itself was given.

import Glibc

/// The signal state of this process while a program is recorded. Main thread only.
struct RelayedSignals {
  /// The signal mask that this process was started with.
  let maskBefore: sigset_t
  private let waited: sigset_t

  /// A signal that arrived, and the kind of its sender.
  struct Arrival {
    var number: Int32
    /// True if a process sent the signal; false if the terminal driver or the kernel did.
    var isFromProcess: Bool
  }

  private static let relayed = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2]

  /// Blocks the signals.
  init() {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in Self.relayed + [SIGCHLD, SIGCONT, SIGTSTP] { sigaddset(&set, signal) }
    var before = sigset_t()
    sigprocmask(SIG_BLOCK, &set, &before)
    maskBefore = before
    waited = set
  }

  func restore() {
    var mask = maskBefore
    sigprocmask(SIG_SETMASK, &mask, nil)
  }

  /// Sets SIGCHLD to its default. A parent that ignores SIGCHLD cannot learn how its children ended. The program, which
  /// has started, keeps the disposition that it was given.
  func reapChildren() { signal(SIGCHLD, SIG_DFL) }

  /// Waits for the next signal. Returns nil when the time is over.
  func next(timeout seconds: Int?) -> Arrival? {
    var set = waited
    var information = siginfo_t()
    while true {
      let number: Int32
      if let seconds {
        var limit = timespec(tv_sec: seconds, tv_nsec: 0)
        number = sigtimedwait(&set, &information, &limit)
      } else {
        number = sigwaitinfo(&set, &information)
      }
      if number > 0 { return Arrival(number: number, isFromProcess: information.si_code <= 0) }
      if errno == EAGAIN { return nil }
    }
  }

  func relay(_ signal: Arrival, to processID: Int32) {
    switch signal.number {
    case SIGCHLD, SIGCONT:
      break
    case SIGTSTP:
      // From the terminal, the signal has reached the program as well. This process stops when the program has stopped.
      if signal.isFromProcess { kill(processID, SIGTSTP) }
    default:
      // Signals from the terminal and the kernel reach the whole group, and so the program.
      if signal.isFromProcess { kill(processID, signal.number) }
    }
  }

  /// Stops this process as the program was stopped, so that the shell sees the job as stopped. Returns when this
  /// process is continued.
  func targetStopped(by signal: Int32) {
    switch signal {
    case SIGTSTP, SIGTTIN, SIGTTOU: raiseDefault(signal)
    // SIGSTOP may have been sent to the program alone. Then SIGCONT may also go to the program alone, and nothing would
    // continue this process. So this process stops only in the foreground, where the shell must get the terminal back.
    case SIGSTOP where Self.isForeground: raiseDefault(SIGSTOP)
    default: break
    }
  }

  /// Ends this process by a signal, without a core dump of this process.
  func die(by signal: Int32) -> Never {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    Self.forbidDumps()
    raiseDefault(signal)
    exit(128 + signal)
  }

  private func raiseDefault(_ number: Int32) {
    let before = signal(number, SIG_DFL)
    var set = sigset_t(), previous = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    sigprocmask(SIG_BLOCK, &set, &previous)
    // Make the signal pending before unblocking it: if the terminal's signal is still pending, the two become one.
    kill(getpid(), number)
    sigprocmask(SIG_UNBLOCK, &set, nil)
    sigprocmask(SIG_SETMASK, &previous, nil)
    signal(number, before)
  }

  private static var isForeground: Bool {
    let terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }

  /// Prevents core dumps: the limit on core files does not apply to dumps that are piped to a program.
  private static func forbidDumps() {
    typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    guard let symbol = dlsym(nil, "prctl") else { return }
    let setDumpable: Int32 = 4
    _ = unsafeBitCast(symbol, to: ProcessControl.self)(setDumpable, 0, 0, 0, 0)
  }
}
