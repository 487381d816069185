// The scripts that try leaktrace on other programs, and test its stability, accept the options that they document.
// scripts/check-python runs their unit tests.

import Foundation
import Testing

struct TrialTests {
  private func python(_ arguments: [String]) throws -> Command.Outcome {
    var command = Command(["python3", "-B", "-m"] + arguments)
    command.environment["PYTHONPATH"] = BuildProducts.packageRoot + "/Tests/Trials"
    return try command.run()
  }

  @Test("scripts/accuracy lists its subjects, with at least ten package suites") func subjects() throws {
    let outcome = try python(["trials.accuracy", "--products", "", "--list", "--kind", "suites"])
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    #expect(outcome.output.split(separator: "\n").count >= 10)
  }

  @Test("scripts/stability refuses a single run") func single() throws {
    let outcome = try python(["trials.stability", "--products", "", "1"])
    #expect(outcome.end == .exit(2))
    #expect(outcome.errorOutput.contains("at least 2"))
  }
}
