// Random programs use no object later that a report has proven to leak.

import Dispatch
import Synchronization
import TestRequirements
import Testing

/// Random programs make objects, tasks, weak references, numbers that are addresses, queues and timers. A heap image is
/// taken while they stand. Then each goes on to its end by its own means: see Tests/Programs/random-programs.
@Suite(.requires(.recorder)) struct RandomProgramTests {
  /// Programs in one process.
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

  @Test("What is proven to leak is neither used nor resumed nor freed later, and most of what leaks is found")
  func proofs() throws {
    let batches = TestTier.arguments(Self.first, of: Self.second)
    // Before the processes that run side by side ask for them.
    for optimisation in Set(batches.map { $0.optimisation }) { _ = try RandomProgramRun.program(optimisation).path() }
    let outcomes = Mutex<[(RandomProgramBatch, Result<RandomProgramRun, any Error>)]>([])
    DispatchQueue.concurrentPerform(iterations: batches.count) { index in
      let outcome = Result { try RandomProgramRun(batches[index]) }
      outcomes.withLock { $0.append((batches[index], outcome)) }
    }
    var shares: [String: RandomProgramRun.Share] = [:]
    var explained: Set<String> = []
    for (batch, outcome) in outcomes.withLock({ $0 }).sorted(by: { $0.0.seed < $1.0.seed }) {
      guard case .success(let run) = outcome else {
        Issue.record("\(batch): \(outcome)")
        continue
      }
      shares.merge(run.shares) { $0 + $1 }
      // Half of the objects are in use, so that the test can fail.
      #expect(run.used > run.objects / 4 && run.objects > 10 * batch.count, "\(batch)")
      for proof in run.falseProofs
      where explained.count < 5 && explained.insert("\(batch.seed) \(proof.program)").inserted {
        let program = try batch.only(proof.program).reduced() ?? "not if the program is alone: \(batch.arguments)"
        Issue.record("\(batch): \(proof)\n\(program)")
      }
      #expect(run.falseProofs.isEmpty, "\(batch): \(run.falseProofs.count)")
    }
    let share = shares.values.reduce(RandomProgramRun.Share(), +)
    #expect(100 * (share.proven + share.likely) >= 95 * share.leaked, "\(RandomProgramRun.text(shares))")
    print("random programs: \(RandomProgramRun.text(shares))")
  }
}
