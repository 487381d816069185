// The analysis ends for every trace, whatever the trace contains.

import Glibc
import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

@Suite(.serialized) struct WholeAnalysisTests {
  @Test(arguments: TestTier.arguments([0], of: (0..<8).map { UInt64($0) * 16 }))
  func everyCommandTerminatesForAnyTrace(first: UInt64) throws {
    for seed in first..<first + 16 {
      SeedOfTrap.note(seed)
      let process = try RandomProcess.open(seed: seed)
      let written = try EveryCommand.run(naming: RandomProcess.naming, layouts: process.layouts, open: process.reader)
      #expect(written > 1000, "seed \(seed)")
    }
    SeedOfTrap.forget()
  }
}

/// Prints the seed of the trace that makes the process trap.
private enum SeedOfTrap {
  /// Only one test at a time sets this.
  nonisolated(unsafe) private static var seed: UInt64 = 0

  static func note(_ seed: UInt64) {
    self.seed = seed
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS] {
      signal(number) { number in
        // After this handler, the instruction runs again, and the signal's default action ends the process.
        signal(number, SIG_DFL)
        var digits = SeedOfTrap.seed
        var text: [UInt8] = Array("\n".utf8)
        repeat {
          text.append(UInt8(48 + digits % 10))
          digits /= 10
        } while digits > 0
        text += Array("trapped at seed ".utf8).reversed()
        text.reverse()
        _ = text.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
      }
    }
  }

  static func forget() { for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS] { signal(number, SIG_DFL) } }
}
