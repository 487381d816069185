// The directory for the traces of `check`. Unless traces are kept, it is removed however `check` ends.

import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// A directory of traces that is removed at the end, or kept on request.
final class TraceDirectory: Sendable {
  let path: String
  let isKept: Bool

  struct Failure: Error {
    let path: String
    let errno: Int32
  }

  /// - Parameter kept: The directory where traces stay; created if it does not exist. Nil for a new temporary directory
  ///   that only this user can access.
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

  /// From now on, a signal that would end this process removes the traces first. Call this once, while there is no
  /// other thread: threads that start later inherit the blocked signals.
  ///
  /// - Parameter besides: Further signals to block.
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

  /// Stops handling signals. Returns when no more signals will be handled.
  func forgetSignals() {
    isForgetting.store(true, ordering: .relaxed)
    ended.wait()
  }

  private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private let isForgetting = Atomic(false)
  private let ended = DispatchSemaphore(value: 0)
}
