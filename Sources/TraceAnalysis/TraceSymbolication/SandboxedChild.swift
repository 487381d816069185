// Keeps the damage that damaged data does to code which trusts it away from the analysis.

import CSandboxedChild
import Glibc

/// A child process that answers questions; started when something is asked, and again when a question ended it.
///
/// A question costs some ten microseconds. Not to be shared between threads.
package final class SandboxedChild {
  package enum Failure: Error {
    /// The question ended the child: everything that the child kept of earlier ones is gone.
    case died
    /// Questions ended too many children, or took too long doing so. No more are asked.
    case exhausted
    /// No process could be made.
    case unstartable(errno: Int32)
  }

  /// After as many questions that ended the child, no more are asked: such data is not worth the time.
  private static let deathLimit = 64

  private let begin: (UnsafeMutablePointer<lt_child>) -> Int32
  /// No more questions are asked after as much time went into those that ended the child.
  private let lostTimeLimit: Duration
  private var child = lt_child()
  /// Questions that ended the child.
  package private(set) var deaths = 0
  private var lostTime = Duration.zero
  /// Counts children, so that what one said is told from what the one before said.
  package private(set) var generation = 0

  /// - Parameter lostTimeLimit: time for questions that end the child; without it, their number alone is limited.
  /// - Parameter begin: starts a child of the service, and returns 0 or an errno.
  package init(
    lostTimeLimit: Duration = .seconds(Int64.max), begin: @escaping (UnsafeMutablePointer<lt_child>) -> Int32
  ) {
    self.lostTimeLimit = lostTimeLimit
    self.begin = begin
  }

  deinit { lt_child_stop(&child) }

  /// Starts the child, if there is none, before anything is asked.
  package func start() throws(Failure) {
    guard child.process == 0 else { return }
    generation += 1
    let status = begin(&child)
    guard status == 0 else { throw .unstartable(errno: status) }
  }

  /// Asks a question. `decode` gets the answer's bytes, `nil` if the service has none to give; when it returns `nil`,
  /// the answer makes no sense, which counts as the end of the child.
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
