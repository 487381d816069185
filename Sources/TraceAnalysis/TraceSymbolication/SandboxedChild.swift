// Protects the analysis from crashes of code that does not check its input.

import CSandboxedChild
import Glibc

/// A child process that answers questions. It starts for the first question. If a question crashes or blocks the child,
/// another child starts for the next question.
///
/// A question takes a few tens of microseconds. For one thread at a time.
package final class SandboxedChild {
  package enum Failure: Error {
    /// The question ended the child. The child's state from earlier questions is lost.
    case died
    /// Questions ended too many children, or these questions took too much time. No more questions are sent.
    case exhausted
    /// No process could be made.
    case unstartable(errno: Int32)
  }

  /// Maximum number of questions that may end the child. After that, no more questions are sent: such data is not worth
  /// the time.
  private static let deathLimit = 64

  private let begin: (UnsafeMutablePointer<lt_child>) -> Int32
  /// Maximum total time of questions that end the child. After that, no more questions are sent.
  private let lostTimeLimit: Duration
  private var child = lt_child()
  /// The number of questions that ended the child.
  package private(set) var deaths = 0
  private var lostTime = Duration.zero
  /// The number of the current child, to distinguish answers of different children.
  package private(set) var generation = 0

  /// - Parameter lostTimeLimit: the maximum total time of questions that end the child. By default, only the number of
  ///   such questions is limited.
  /// - Parameter begin: starts the child process, and returns 0 or an errno.
  package init(
    lostTimeLimit: Duration = .seconds(Int64.max), begin: @escaping (UnsafeMutablePointer<lt_child>) -> Int32
  ) {
    self.lostTimeLimit = lostTimeLimit
    self.begin = begin
  }

  deinit { lt_child_stop(&child) }

  /// Starts the child if it is not running. Call this to start it before the first question.
  package func start() throws(Failure) {
    guard child.process == 0 else { return }
    generation += 1
    let status = begin(&child)
    guard status == 0 else { throw .unstartable(errno: status) }
  }

  /// Sends a question and waits for the answer. `decode` receives the answer's bytes, or `nil` if the child has no
  /// answer. If `decode` returns `nil`, the answer is invalid, and this function ends the child.
  package func ask<Answer>(
    _ question: UnsafeRawBufferPointer, _ decode: (UnsafeRawBufferPointer?) -> Answer?
  ) throws(Failure) -> Answer {
    guard deaths < Self.deathLimit, lostTime < lostTimeLimit else { throw .exhausted }
    try start()
    var bytes: UnsafeMutableRawPointer?
    var size = 0
    let asked = ContinuousClock.now
    let status = lt_child_ask(&child, question.baseAddress, question.count, &bytes, &size)
    defer { free(bytes) }
    guard status == 0, let answer = decode(bytes.map { UnsafeRawBufferPointer(start: $0, count: size) }) else {
      lt_child_stop(&child)
      deaths += 1
      lostTime += ContinuousClock.now - asked
      throw .died
    }
    return answer
  }
}
