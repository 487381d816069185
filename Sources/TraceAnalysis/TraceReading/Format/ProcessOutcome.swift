// A process's end or change of state, decoded from waitpid's status.

/// The end or change of state of a child process that `waitpid` reports.
package enum ProcessOutcome: Hashable, Sendable {
  case exited(UInt8)
  case killed(signal: Int32, coreDumped: Bool)
  case stopped(signal: Int32)
  case continued

  /// - Parameter waitStatus: the status that `waitpid` stores on Linux.
  package init(waitStatus: Int32) {
    let low = waitStatus & 0x7F
    if waitStatus == 0xFFFF {
      self = .continued
    } else if low == 0 {
      self = .exited(UInt8(truncatingIfNeeded: waitStatus >> 8))
    } else if waitStatus & 0xFF == 0x7F {
      self = .stopped(signal: (waitStatus >> 8) & 0xFF)
    } else {
      self = .killed(signal: low, coreDumped: waitStatus & 0x80 != 0)
    }
  }
}
