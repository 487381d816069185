// Ctrl-C while a trace is read: the report then covers the part that was read.

import Glibc
import Synchronization

/// Watches for SIGINT. The first one while `watch` runs ends the reading; a second one ends the process, as usual.
enum ReadingInterrupt {
  private static let flag = Atomic<Bool>(false)

  /// True from the first SIGINT on, until `watch` returns. Any thread may ask.
  static var hasHappened: Bool { flag.load(ordering: .relaxed) }

  /// Runs `body`, and catches SIGINT until it returns. Main thread only.
  static func watch<Result>(_ body: () throws -> Result) rethrows -> Result {
    // Initialise the flag before the handler can run.
    flag.store(false, ordering: .relaxed)
    var action = sigaction()
    var before = sigaction()
    action.__sigaction_handler.sa_handler = { _ in ReadingInterrupt.flag.store(true, ordering: .relaxed) }
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_RESTART
    sigaction(SIGINT, &action, &before)
    defer {
      sigaction(SIGINT, &before, nil)
      // The interrupt has had its effect: later passes read as many events as this one.
      flag.store(false, ordering: .relaxed)
    }
    return try body()
  }
}
