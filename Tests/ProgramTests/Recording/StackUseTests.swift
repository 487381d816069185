// The stack space that a hook uses is at most the figure in Sources/CTraceShim/README.md. This also holds for the first
// hook of a thread, and for hooks with much work.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct StackUseTests {
  /// The value of LT_HOST_STACK_BUDGET.
  static let budget = 1024

  /// Returns the bytes that each call used, as the program prints them.
  private func figures(_ output: String) -> [String: Int] {
    let lines = output.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
    return Dictionary(uniqueKeysWithValues: lines.compactMap { line in Int(line[0]).map { (String(line[1]), $0) } })
  }

  @Test("No hook exceeds its stack budget, whatever work it has") func budget() throws {
    let program = try TestProgram("stack-use.c", flags: ["-Wl,-z,now", "-lpthread", "-ldl"]).path()
    let run = try TracedRun([program])
    #expect(run.traced.end == .exit(0) && run.untraced.end == .exit(0))
    let (untraced, traced) = (figures(run.untraced.output), figures(run.traced.output))
    #expect(traced.count == 15)
    for (call, bytes) in traced {
      let own = bytes - (try #require(untraced[call]))
      #expect(own <= Self.budget, "\(call): \(own) bytes")
    }
  }
}
