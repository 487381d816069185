// The decision whether a reading may go on.

/// The reason why a reading stopped, and how far it came.
package struct ReadingStop: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The memory limit was reached.
    case memory(ByteCount)
    /// The user interrupted the reading.
    case interrupt
  }
  package enum Place: Hashable, Sendable {
    case events(read: UInt64, of: UInt64)
    /// Some of the definitions and heap images are missing.
    case definitions
  }

  package var reason: Reason
  package var place: Place
}

/// The trust in a trace, and the limits that the machine and its user set.
package struct ReadingPolicy: Sendable {
  /// True if a stranger may have written the trace. Then the size of the file limits each kind of work
  /// (`ReadingLimits`), and a file of 1 MB takes seconds.
  package var isUntrusted: Bool
  package var memoryLimit: MemoryLimit
  /// Returns true once the user has interrupted the reading. Called by any thread, often.
  package var isInterrupted: @Sendable () -> Bool

  package init(
    isUntrusted: Bool = false, memoryLimit: MemoryLimit = .standard,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.isUntrusted, self.memoryLimit, self.isInterrupted) = (isUntrusted, memoryLimit, isInterrupted)
  }
}

/// Stops a reading at the memory limit, and when the user interrupts it. Once stopped, it stays stopped until
/// `resume`. For one thread at a time: the thread that decodes while there is one.
final class ReadingBudget {
  let policy: ReadingPolicy
  private(set) var stop: ReadingStop.Reason?
  private var calls = 0

  init(_ policy: ReadingPolicy) { self.policy = policy }

  /// Returns whether there is memory for `bytes` more bytes, and no interrupt. Takes a microsecond.
  func mayGoOn(adding bytes: UInt64 = 0) -> Bool {
    if stop != nil { return false }
    if policy.isInterrupted() {
      stop = .interrupt
    } else if policy.memoryLimit.isExceeded(adding: bytes) {
      stop = .memory(policy.memoryLimit.bytes)
    }
    return stop == nil
  }

  /// Like `mayGoOn`, but looks only once in `interval` calls. For small amounts of memory.
  @inline(__always)
  func mayGoOn(every interval: Int) -> Bool {
    calls &+= 1
    return calls % interval == 0 ? mayGoOn() : stop == nil
  }

  /// Forgets the last stop, for a further pass.
  func resume() { stop = nil }
}
