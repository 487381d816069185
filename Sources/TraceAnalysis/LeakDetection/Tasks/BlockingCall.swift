// The calls that threads are blocked in.

import PlatformRules
import TraceSymbolication

/// A kind of call that blocks its thread.
package enum BlockingCall: String, CaseIterable, Codable, Sendable {
  /// A lock that another thread holds.
  case lock
  /// A semaphore, a condition or a dispatch group.
  case semaphore
  /// Work on a dispatch queue that the thread waits for.
  case dispatchSync
  /// The end of another thread.
  case join
  /// A period of time.
  case sleep
  /// A lock, a semaphore or a condition, but at most for a period of time.
  case timedWait
  /// Input or output.
  case input

  /// The maximum number of innermost frames that are searched. Between a blocking function and its system call there are
  /// a few functions of the same library.
  private static let depth = 8
  private static let functions = RuleBook.shipped.table(.blocks, by: .symbol)

  /// Returns the call that a thread is blocked in; nil if its innermost functions are none. The outermost function that
  /// blocks decides, since a lock may use a semaphore.
  ///
  /// - Parameter frames: the thread's functions, innermost first.
  init?(frames: some Sequence<SourceFrame>) {
    var found: Self?
    for frame in frames.prefix(Self.depth) where frame.kind != .user {
      let name = frame.mangledName ?? frame.function
      if let call = Self.functions.statement(for: name).flatMap(Self.init(rawValue:)) { found = call }
    }
    guard let found else { return nil }
    self = found
  }
}
