// Doing a test's work several times over, and asking what grew.

import CLeakTrace
import LeakTrace

/// Work of which heap images are taken round by round.
struct GrowthCheck: Sendable {
  private let check: LeakCheck
  private let repetition: UInt64
  private let name: String
  private let file: String
  private let line: UInt32
  private var lastImage: Int32 = 0
  private var rounds = 0
  /// Fewer rounds say nothing, as the analysis sees it.
  private static let leastRounds = 5

  /// Begins in the calling task, or outside of tasks in the calling thread. Nil when nothing is recorded.
  init?(_ name: String, file: String, line: Int) {
    guard let check = LeakCheck(name, file: file, line: line) else { return nil }
    self.check = check
    repetition = cleaktrace_repetition_begin()
    if repetition == 0 { return nil }
    (self.name, self.file, self.line) = (name, file, UInt32(clamping: line))
  }

  /// A round is over, from 1. Returns when its heap image is written.
  mutating func end(round: Int) {
    rounds += 1
    cleaktrace_clear_stack()
    lastImage = cleaktrace_round_end(repetition, UInt64(round), check.number, name, file, line)
  }

  func end() { check.end() }

  /// Returns the growth that was found, as texts for people. Call it after `end`.
  func failures() -> [String] {
    if rounds < Self.leastRounds {
      return ["growth was not judged: \(rounds) rounds are too few, \(Self.leastRounds) the least"]
    }
    return check.growthFailures(repetition: repetition, lastImage: lastImage)
  }
}
