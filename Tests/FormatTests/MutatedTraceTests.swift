import TestRequirements
import Testing
import TraceTestSupport

@testable import TraceReading

/// Runs all commands on traces whose checksums are correct, but whose records are damaged. `scripts/fuzz mutate` does
/// this ten thousand times.
@Suite(.serialized) struct MutatedTraceTests {
  @Test(arguments: TestTier.arguments(Array(1...10), of: Array(1...40)) as [UInt64])
  func mutatedTracesAreReadToTheEnd(seed: UInt64) throws {
    // Every seed uses another input of the corpus, and changes it in three ways.
    let names = FuzzCorpusTests.names
    let name = names[Int(seed) * 7919 % names.count]
    let input = try #require(FuzzInput(try FuzzCorpusTests.bytes(of: name)))
    for round in 0..<3 as Range<UInt64> {
      var mutation = TraceMutation(seed: seed << 8 | round)
      guard let trace = try? mutation.mutated(input.trace) else { continue }
      let clock = ContinuousClock()
      let start = clock.now
      FuzzInput(trace: trace).readEverything()
      // The limit suits debug builds on a busy machine.
      #expect(clock.now - start < .seconds(60), "\(name), seed \(seed << 8 | round)")
    }
  }

  @Test func seedReproducesTheSameTrace() throws {
    let input = try #require(FuzzInput(try FuzzCorpusTests.bytes(of: FuzzCorpusTests.names[3])))
    func made(_ seed: UInt64) -> [UInt8]? {
      var mutation = TraceMutation(seed: seed)
      return try? mutation.mutated(input.trace)
    }
    for seed in 1...20 as ClosedRange<UInt64> { #expect(made(seed) == made(seed)) }
  }
}
