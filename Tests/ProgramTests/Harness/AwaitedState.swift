// Waits for a state of another process, not for the time that the process usually takes.

import Foundation
import TraceAnalysis

/// How tests wait for other processes.
enum AwaitedState {
  /// The number of seconds after which a state counts as not reached: somewhat less than a command may take
  /// (`Command.timeLimit`).
  private static let patience = StackVerification.isOn ? 500 * StackVerification.patience : 500

  /// Returns once `isReached` is true.
  /// - Parameter state: The awaited state, for the message of the failure.
  static func wait(until state: String, _ isReached: () throws -> Bool) throws {
    try value(state) { try isReached() ? () : nil }
  }

  /// Calls `look` until it returns a value, and returns that value.
  /// - Parameter state: The awaited state, for the message of the failure.
  static func value<Value>(_ state: String, _ look: () throws -> Value?) throws -> Value {
    let end = DispatchTime.now().uptimeNanoseconds + UInt64(patience * 1e9)
    while true {
      if let value = try look() { return value }
      guard DispatchTime.now().uptimeNanoseconds < end else { throw CommandFailure("not reached: \(state)") }
      usleep(1_000)
    }
  }

  /// Returns once the traces at `paths`, which are still being written, have exactly `count` whole images of
  /// expectations.
  static func wait(forExpectationImages count: Int, in paths: () throws -> [String]) throws {
    try wait(until: "\(count) images of expectations are whole") {
      let snapshots = try paths().compactMap { try? TraceReader(path: $0) }.flatMap(\.snapshots)
      return snapshots.count { $0.reason == .expectation && $0.isWhole } == count
    }
  }

  /// Returns the file's text once its last line is whole.
  static func lines(of path: String) throws -> String {
    try value("\(path) ends with a whole line") {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8), text.hasSuffix("\n") else { return nil }
      return text
    }
  }
}
