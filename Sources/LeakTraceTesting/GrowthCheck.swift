// Runs a test's work several times, and finds the objects that grew in number.

import CLeakTrace
import LeakTrace

/// Repeated work, with a heap image taken after each round.
struct GrowthCheck: Sendable {
  private let check: LeakCheck
  private let repetition: UInt64
  private let name: String
  private let file: String
  private let line: UInt32
  private var lastImage: Int32 = 0
  private var rounds = 0
  /// The smallest number of rounds that the analysis can judge.
  private static let minRounds = 5

  /// Begins the repetition in the calling task, or outside of tasks in the calling thread. Returns nil if nothing is
  /// recorded.
  init?(_ name: String, file: String, line: Int) {
    guard let check = LeakCheck(name, file: file, line: line) else { return nil }
    self.check = check
    repetition = cleaktrace_repetition_begin()
    if repetition == 0 { return nil }
    (self.name, self.file, self.line) = (name, file, UInt32(clamping: line))
  }

  /// Ends a round, and returns when its heap image is written. `round` counts from 1.
  mutating func end(round: Int) {
    rounds += 1
    cleaktrace_clear_stack()
    lastImage = cleaktrace_round_end(repetition, UInt64(round), check.number, name, file, line)
  }

  func end() { check.end() }

  /// Returns a text for each growth that was found. Call it after `end`.
  func failures() -> [String] {
    if rounds < Self.minRounds {
      return ["growth was not judged: \(rounds) rounds are too few. Repeat the work \(Self.minRounds) times or more"]
    }
    return check.growthFailures(repetition: repetition, lastImage: lastImage)
  }
}
