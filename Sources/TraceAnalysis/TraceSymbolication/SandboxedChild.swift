// Protects the analysis from crashes of code that trusts its data, if the data is damaged.

import CSandboxedChild
import Glibc

/// A child process that answers questions; started for the first question, and again after a question ended it.
///
/// A question costs some ten microseconds. Not to be shared between threads.
package final class SandboxedChild {
  package enum Failure: Error {
    /// The question ended the child: its state from earlier questions is lost.
    case died
    /// Questions ended too many children, or took too long doing so. No more are asked.
    case exhausted
    /// No process could be made.
    case unstartable(errno: Int32)
  }

  /// The most questions that may end the child. After these, no more are asked: such data is not worth the time.
  private static let deathLimit = 64

  private let begin: (UnsafeMutablePointer<lt_child>) -> Int32
  /// The most time for questions that ended the child. After this, no more are asked.
  private let lostTimeLimit: Duration
  private var child = lt_child()
  /// Questions that ended the child.
  package private(set) var deaths = 0
  private var lostTime = Duration.zero
  /// Counts children, so that answers of different children are not mixed.
  package private(set) var generation = 0

  /// - Parameter lostTimeLimit: time for questions that end the child; without it, only their number is limited.
  /// - Parameter begin: starts a child of the service, and returns 0 or an errno.
  package init(
    lostTimeLimit: Duration = .seconds(Int64.max), begin: @escaping (UnsafeMutablePointer<lt_child>) -> Int32
  ) {
    self.lostTimeLimit = lostTimeLimit
    self.begin = begin
  }

  deinit { lt_child_stop(&child) }

  /// Starts the child before the first question, if there is none.
  package func start() throws(Failure) {
    guard child.process == 0 else { return }
    generation += 1
    let status = begin(&child)
    guard status == 0 else { throw .unstartable(errno: status) }
  }

  /// Asks a question. `decode` receives the answer's bytes; `nil` if the service has no answer. If it returns `nil`,
  /// the answer is invalid, which counts as the end of the child.
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
