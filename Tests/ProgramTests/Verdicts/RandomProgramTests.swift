// Tests that random programs use no object after a report has proven that it leaks.

import Dispatch
import Synchronization
import TestRequirements
import Testing

/// Random programs make objects, tasks, weak references, numbers that are addresses, queues and timers. A heap image is
/// taken while these exist. Then each program runs to its end by its own means: see Tests/Programs/random-programs.
@Suite(.requires(.recorder)) struct RandomProgramTests {
  /// The lowest accepted percentage of leaked objects that a report finds, in full recordings and in images without
  /// events.
  private static let minFound = (recorded: 94, others: 75)

  /// The number of programs in one process.
  private static let batchSize = 500

  private static let first = (1...2).map { RandomProgramBatch(seed: $0, count: batchSize, optimisation: "-Onone") }
  private static let second = (1...200).map { (number: Int) -> RandomProgramBatch in
    var batch = RandomProgramBatch(seed: UInt64(number), count: batchSize)
    if number % 4 < 2 { batch.optimisation = "-Onone" }
    switch number % 10 {
    case 5: batch.way = .light
    case 8: batch.way = .inspected
    default: break
    }
    return batch
  }

  @Test("No proven leak is used, resumed or freed later, and most leaks are found")
  func proofs() throws {
    let batches = TestTier.arguments(Self.first, of: Self.second)
    // Build first, before several processes need the program at the same time.
    for optimisation in Set(batches.map { $0.optimisation }) { _ = try RandomProgramRun.program(optimisation).path() }
    let outcomes = Mutex<[(RandomProgramBatch, Result<RandomProgramRun, any Error>)]>([])
    DispatchQueue.concurrentPerform(iterations: batches.count) { index in
      // One process in 200 was ended by a signal, which did not happen again in 50 more runs. A batch that cannot be
      // judged is repeated once.
      let outcome = Result { try RandomProgramRun(batches[index]) }.flatMapError { _ in
        Result { try RandomProgramRun(batches[index]) }
      }
      outcomes.withLock { $0.append((batches[index], outcome)) }
    }
    var shares: [Bool: [String: RandomProgramRun.Share]] = [:]
    var falseBatches = 0
    var explanations: [String] = []
    var explained: Set<String> = []
    for (batch, outcome) in outcomes.withLock({ $0 }).sorted(by: { $0.0.seed < $1.0.seed }) {
      guard case .success(let run) = outcome else {
        Issue.record("\(batch): \(outcome)")
        continue
      }
      shares[batch.way == .recorded, default: [:]].merge(run.shares) { $0 + $1 }
      // Half of the objects are used later. If there were no such objects, the test could not fail.
      #expect(run.used > run.objects / 4 && run.objects > 10 * batch.count, "\(batch)")
      if !run.falseProofs.isEmpty { falseBatches += 1 }
      for proof in run.falseProofs
      where explained.count < 5 && explained.insert("\(batch.seed) \(proof.program)").inserted {
        let program = try batch.only(proof.program).reduced() ?? "not if the program is alone: \(batch.arguments)"
        explanations.append("\(batch): \(run.falseProofs.count): \(proof)\n\(program)")
      }
    }
    #expect(falseBatches == 0, "\(explanations.joined(separator: "\n"))")
    for (isRecorded, kinds) in shares {
      let share = kinds.values.reduce(RandomProgramRun.Share(), +)
      let least = isRecorded ? Self.minFound.recorded : Self.minFound.others
      #expect(100 * (share.proven + share.likely) >= least * share.leaked, "\(RandomProgramRun.text(kinds))")
      print("random programs, \(isRecorded ? "recorded" : "by images alone"): \(RandomProgramRun.text(kinds))")
    }
    print(
      "random programs: \(falseBatches) of \(batches.count) batches with a false proof\n\(explanations.joined(separator: "\n"))"
    )
  }
}
