// Tests with missing requirements are skipped with a message, or fail if all tests must run.

import Foundation
import Testing

@Suite struct RequirementTests {
  /// Runs the tests of this target that match the filter, in another process.
  private func runTests(_ filter: String, _ environment: [String: String]) throws -> Command.Outcome {
    let tests = try #require(CommandLine.arguments.first)
    var command = Command([tests, "--testing-library", "swift-testing", "--filter", filter])
    command.environment.merge(environment) { $1 }
    return try command.run()
  }

  private func lines(_ outcome: Command.Outcome, containing text: String) -> [Substring] {
    (outcome.output + outcome.errorOutput).split(separator: "\n").filter { $0.contains(text) }
  }

  /// Expects that every failed test failed because of a missing requirement.
  private func expectFailures(_ outcome: Command.Outcome, missing text: String) {
    #expect(outcome.end == .exit(1))
    let issues = lines(outcome, containing: "recorded an issue")
    #expect(!issues.isEmpty && issues.allSatisfy { $0.contains(text) }, "\(outcome.output)\(outcome.errorOutput)")
    #expect(lines(outcome, containing: "skipped").isEmpty)
  }

  @Test func testsFailWithoutNamedProducts() throws {
    expectFailures(
      try runTests("ProgramTests.AsyncCallersTests", ["LEAKTRACE_TEST_PRODUCTS": "/no/such/directory"]),
      missing: "libleaktrace.so beside leaktrace in /no/such/directory is missing.")
  }

  @Test func testsFailWithoutARequiredProgramIfProductsAreNamed() throws {
    expectFailures(
      try runTests(
        "ShimTests.UnwindRowTests", ["LEAKTRACE_TEST_PRODUCTS": "/no/such/directory", "PATH": "/no/such/directory"]),
      missing: "readelf is missing. scripts/setup installs it.")
  }

  @Test func otherTestsAreSkippedWithOneMessage() throws {
    let outcome = try runTests("ShimTests.UnwindRowTests", ["PATH": "/no/such/directory"])
    #expect(outcome.end == .exit(0))
    let messages = lines(outcome, containing: "tests are skipped: readelf is missing. scripts/setup installs it.")
    #expect(messages.count == 1, "\(outcome.output)\(outcome.errorOutput)")
  }
}
