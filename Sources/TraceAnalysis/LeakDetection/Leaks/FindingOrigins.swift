// The stacks and tests that a finding's instances come from.

import HeapAnalysis
import TraceReading
import TraceSymbolication

extension Finding {
  /// The instances that were made with one stack.
  package struct StackShare: Codable, Hashable, Sendable {
    package var stack: StackID
    package var instances: Int
  }

  /// Instances that were made while a test ran.
  package struct TestShare: Codable, Hashable, Sendable {
    /// The name of the test: `TillTests.opens`.
    package var name: String
    package var instances: Int
  }

  /// In a light trace: sampled instances that were made at one place.
  package struct SampledPlace: Codable, Hashable, Sendable {
    /// Nil if no function of the program is on the stack.
    package var place: SourceFrame?
    package var instances: Int
  }

  /// The number of instances that were sampled.
  package var sampledInstances: Int { origins.samples.reduce(0) { Self.sum($0, max(0, $1.instances)) } }

  /// True if the finding is untyped lost memory and only some of its blocks were sampled. Without the samples, it would
  /// have no owner.
  package var isReportedBySamples: Bool {
    verdict == .lost && path.first?.kind == .malloc && !origins.samples.isEmpty && sampledInstances < instances
  }

  /// Maximum number of stacks that are kept for a finding. More stacks add nothing about its cause.
  static let stackLimit = 32
  /// Maximum number of tests kept for one finding.
  static let testLimit = 1000

  /// Adds up the shares of equal stacks. Returns them in descending order of instances.
  static func joined(_ stacks: [StackShare]) -> [StackShare] {
    var sums: [StackID: Int] = [:]
    for share in stacks { sums[share.stack] = sum(sums[share.stack] ?? 0, share.instances) }
    let sorted = sums.map { StackShare(stack: $0.key, instances: $0.value) }.sorted {
      ($1.instances, $0.stack) < ($0.instances, $1.stack)
    }
    return Array(sorted.prefix(stackLimit))
  }

  /// Adds up the shares of equal tests. Returns them in descending order of instances.
  static func joined(_ tests: [TestShare]) -> [TestShare] {
    var sums: [String: Int] = [:]
    for share in tests { sums[share.name] = sum(sums[share.name] ?? 0, share.instances) }
    let sorted = sums.map { TestShare(name: $0.key, instances: $0.value) }.sorted {
      ($1.instances, $0.name) < ($0.instances, $1.name)
    }
    return Array(sorted.prefix(testLimit))
  }

  /// Adds up the samples of equal places. Returns them in descending order of instances.
  static func joined(_ samples: [SampledPlace]) -> [SampledPlace] {
    var sums: [PlaceKey: SampledPlace] = [:]
    for sample in samples {
      sums[PlaceKey(sample.place), default: SampledPlace(place: sample.place, instances: 0)].instances =
        sum(sums[PlaceKey(sample.place)]?.instances ?? 0, sample.instances)
    }
    let sorted = sums.sorted { ($1.value.instances, $0.key) < ($0.value.instances, $1.key) }.map(\.value)
    return Array(sorted.prefix(stackLimit))
  }

  /// Adds without overflow: figures in a digest may be anything.
  private static func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }
}

extension FindingNaming {
  /// In a light trace, returns the places that made the sampled blocks. Linear in the blocks, and in the depth of the
  /// stacks.
  func samples(of blocks: some Sequence<NodeID>) -> [Finding.SampledPlace] {
    var counts: [StackID: (node: NodeID, instances: Int)] = [:]
    for block in blocks where !graph.isRoot(block) {
      if let stack = sampledStack(of: block) { counts[stack, default: (block, 0)].instances += 1 }
    }
    // In order of stacks: of two calls in one line, the earlier one gives the column.
    return Finding.joined(
      counts.sorted { $0.key < $1.key }.map { stack, share in
        Finding.SampledPlace(place: allocation(stack, of: graph.type(of: share.node)), instances: share.instances)
      })
  }

  /// Returns the stacks that allocated blocks, and the tests that were running at the time. Linear in the blocks. In a
  /// test run, also linear in the depth of the stacks.
  func origins(of blocks: some Sequence<NodeID>) -> Finding.Origins {
    var counts: [StackID: Int] = [:]
    for block in blocks where !graph.isRoot(block) {
      counts[sampledStack(of: block) ?? stack(of: block), default: 0] += 1
    }
    let stacks = counts.map { Finding.StackShare(stack: $0.key, instances: $0.value) }
    guard tests.isTestRun else { return Finding.Origins(stacks: Finding.joined(stacks)) }
    return Finding.Origins(
      stacks: Finding.joined(stacks),
      tests: Finding.joined(
        stacks.compactMap { share in
          test(onStack: share.stack).map { Finding.TestShare(name: $0, instances: share.instances) }
        }))
  }
}
