// The recorder's code paths take at most as many instructions as Benchmarks/budget.json allows.

import Foundation
import TestRequirements
import Testing

@Suite(.serialized, .requires(.recorder)) struct InstructionBudgetTests {
  private static let budget = BuildProducts.packageRoot + "/Benchmarks/budget.json"

  private func check(_ budget: String) throws -> Command.Outcome {
    var command = Command([
      "python3", "-B", "-m", "measuring.budget", "--products", BuildProducts.directory, "--program",
      try TestProgram("hook-paths.swift").path(),
      "--budget", budget,
    ])
    command.environment["PYTHONPATH"] = BuildProducts.packageRoot + "/Benchmarks"
    return try command.run()
  }

  @Test("No path exceeds its instruction budget. If it has to: scripts/budget --update") func paths() throws {
    let outcome = try check(Self.budget)
    #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
    #expect(outcome.output.contains("malloc, --arc stacks: "))
  }

  @Test(
    "A path fails if it exceeds its budget by a tenth or has none, and gets a hint if it is below",
    .secondTier
  ) func changed() throws {
    var file = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: Self.budget))) as? [String: Any])
    var paths = try #require(file["paths"] as? [String: Double])
    let (grown, smaller, new, gone) = (
      "deep stack, --arc stacks", "retain, --arc counts", "task, --arc stacks", "nothing, --arc stacks"
    )
    paths[grown] = try #require(paths[grown]) * 0.8
    paths[smaller] = try #require(paths[smaller]) * 1.3
    paths[new] = nil
    paths[gone] = 1
    file["paths"] = paths
    let directory = try TemporaryDirectory()
    let changed = directory.path + "/budget.json"
    try JSONSerialization.data(withJSONObject: file).write(to: URL(fileURLWithPath: changed))

    let outcome = try check(changed)
    #expect(outcome.end == .exit(1), "\(outcome.errorOutput)")
    let lines = outcome.output.split(separator: "\n")
    let complaints = lines.filter { $0.hasPrefix("over budget: ") || $0.hasPrefix("hint: ") }
    #expect(
      complaints.map { String($0.prefix { $0 != "," }) } == [
        "hint: retain", "over budget: deep stack", "over budget: nothing", "over budget: task",
      ])
    #expect(lines.contains { $0.contains("scripts/budget --update") })
  }
}
