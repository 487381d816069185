// The scripts that try leaktrace on other programs, and its steadiness, judge as they say.

import Foundation
import Testing

struct TrialTests {
  private func python(_ arguments: [String]) throws -> Command.Outcome {
    var command = Command(["python3", "-B", "-m"] + arguments)
    command.environment["PYTHONPATH"] = BuildProducts.packageRoot + "/Tests/Trials"
    return try command.run()
  }

  @Test("Flips are told, findings go to the judgements that are about them, and what is false or unjudged is complained of") func judging() throws {
    let directory = BuildProducts.packageRoot + "/Tests/Trials"
    let outcome = try python(["unittest", "discover", "--start-directory", directory, "--top-level-directory", directory])
    #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
  }

  @Test("scripts/accuracy names its subjects, ten suites of packages at least") func subjects() throws {
    let outcome = try python(["trials.accuracy", "--products", "", "--list", "--kind", "suites"])
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    #expect(outcome.output.split(separator: "\n").count >= 10)
  }

  @Test("scripts/stability refuses a single run, which differs from nothing") func single() throws {
    let outcome = try python(["trials.stability", "--products", "", "1"])
    #expect(outcome.end == .exit(2))
    #expect(outcome.errorOutput.contains("at least 2"))
  }
}
