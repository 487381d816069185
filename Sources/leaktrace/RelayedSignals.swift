// Signals that reach `record` while the program runs: which are passed on, and how job control is kept.
//
// None is handled: they are blocked and taken off the queue one by one. So the dispositions that the program inherits
// are those that `record` itself was given.

import Glibc

/// The signal state of this process while a program is recorded. Main thread only.
struct RelayedSignals {
  /// The signal mask this process was started with.
  let maskBefore: sigset_t
  private let waited: sigset_t

  /// A signal that arrived, and the kind of its sender.
  struct Arrival {
    var number: Int32
    /// Sent by a process, as opposed to the terminal driver or the kernel.
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

  /// A parent that ignores SIGCHLD is never told how its children ended. The program keeps the disposition it was
  /// given.
  func reapChildren() { signal(SIGCHLD, SIG_DFL) }

  /// The next signal, or nil when the time is over.
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
      // From the terminal it has reached the program as well; this process stops when that has stopped.
      if signal.isFromProcess { kill(processID, SIGTSTP) }
    default:
      // The terminal and the kernel signal the whole group.
      if signal.isFromProcess { kill(processID, signal.number) }
    }
  }

  /// Stops this process as the program was stopped, so that the shell sees the job as stopped; returns when continued.
  func targetStopped(by signal: Int32) {
    switch signal {
    case SIGTSTP, SIGTTIN, SIGTTOU: raiseDefault(signal)
    // Sent to the program alone it may be lifted for the program alone, and then nothing would continue this process.
    // On a terminal's foreground the shell has to get the terminal back.
    case SIGSTOP where Self.isForeground: raiseDefault(SIGSTOP)
    default: break
    }
  }

  /// Ends this process by a signal, without a core dump of its own.
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
    // Made pending before it is let in, so that it is one with the terminal's, if that is still waiting.
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

  /// Dumps that are piped to a program ignore the limit on core files.
  private static func forbidDumps() {
    typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    guard let symbol = dlsym(nil, "prctl") else { return }
    let setDumpable: Int32 = 4
    _ = unsafeBitCast(symbol, to: ProcessControl.self)(setDumpable, 0, 0, 0, 0)
  }
}
