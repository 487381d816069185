// The directory that the traces of `check` are in, and its removal, whatever happens.

import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// Traces that are removed at the end, or kept where that was asked for.
final class TraceDirectory: Sendable {
  let path: String
  let isKept: Bool

  struct Failure: Error {
    let path: String
    let errno: Int32
  }

  /// - Parameter kept: The directory in which traces are to stay, made if it is not there; nil for a new temporary
  ///   directory, of this user's alone.
  init(kept: String?) throws(Failure) {
    if let kept {
      isKept = true
      let absolute = kept.hasPrefix("/") ? kept : FileManager.default.currentDirectoryPath + "/" + kept
      path = absolute.count > 1 && absolute.hasSuffix("/") ? String(absolute.dropLast()) : absolute
      do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
        throw Failure(path: path, errno: errno)
      }
    } else {
      isKept = false
      guard let made = TemporaryDirectory.make() else { throw Failure(path: "/tmp", errno: errno) }
      path = made
    }
  }

  func remove() {
    if !isKept { try? FileManager.default.removeItem(atPath: path) }
  }

  /// From now on a signal that would end this process removes the traces first. To be called once, from the only
  /// thread: threads that are started later must not take these signals either.
  ///
  /// - Parameter besides: The other signals to be blocked.
  func removeOnSignals(besides mask: sigset_t) {
    var all = mask
    for signal in Self.endings { sigaddset(&all, signal) }
    sigprocmask(SIG_SETMASK, &all, nil)
    DispatchQueue(label: "signals").async { [self] in
      var set = sigset_t()
      sigemptyset(&set)
      for signal in Self.endings { sigaddset(&set, signal) }
      var pause = timespec(tv_sec: 0, tv_nsec: 100_000_000)
      while !isForgetting.load(ordering: .relaxed) {
        let number = sigtimedwait(&set, nil, &pause)
        if number <= 0 { continue }
        remove()
        signal(number, SIG_DFL)
        kill(getpid(), number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
      }
      ended.signal()
    }
  }

  /// Signals are this process's own again; returns when that is so.
  func forgetSignals() {
    isForgetting.store(true, ordering: .relaxed)
    ended.wait()
  }

  private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private let isForgetting = Atomic(false)
  private let ended = DispatchSemaphore(value: 0)
}
