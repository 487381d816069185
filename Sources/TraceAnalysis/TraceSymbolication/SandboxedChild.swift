// Protects the analysis from crashes of code that does not check its input.

import CSandboxedChild
import Glibc

/// A child process that answers questions. It is started for the first question, and again after a question ended it.
///
/// A question takes some ten microseconds. For one thread at a time.
package final class SandboxedChild {
  package enum Failure: Error {
    /// The question ended the child. The child's state from earlier questions is lost.
    case died
    /// Questions ended too many children, or such questions took too much time. No more questions are asked.
    case exhausted
    /// No process could be made.
    case unstartable(errno: Int32)
  }

  /// The most questions that may end the child. After that, no more questions are asked: such data is not worth the
  /// time.
  private static let deathLimit = 64

  private let begin: (UnsafeMutablePointer<lt_child>) -> Int32
  /// The most time for questions that end the child. After that, no more questions are asked.
  private let lostTimeLimit: Duration
  private var child = lt_child()
  /// The number of questions that ended the child.
  package private(set) var deaths = 0
  private var lostTime = Duration.zero
  /// The number of the current child, to distinguish answers of different children.
  package private(set) var generation = 0

  /// - Parameter lostTimeLimit: the most time for questions that end the child. By default only their number is
  ///   limited.
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

  /// Asks a question. `decode` receives the answer's bytes, or `nil` if the child has no answer. If `decode` returns
  /// `nil`, the answer is invalid, and the child is ended.
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
