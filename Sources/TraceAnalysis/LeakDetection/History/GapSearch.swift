// Finds the reasons why a retain history may be incomplete.

import HeapAnalysis
import TraceReading

/// Finds gaps in the history of some objects, and compares balances with the counts in memory.
struct GapSearch {
  private(set) var gaps: [HistoryGap] = []
  private(set) var counts = CountComparison()
  private let reader: TraceReader

  /// `shapes`: for each shape of history, the number of blocks with this shape, and one of these blocks as an example.
  init(
    _ reader: TraceReader, _ allocations: AllocationAnalysis, shapes counted: [(blocks: UInt64, first: BlockHistory)]
  ) {
    let shapes = counted.map(\.first)
    self.reader = reader
    let process = allocations.definitions.process
    if !process.hasSwiftHooks { gaps.append(.withoutSwiftHooks) }
    switch reader.header.referenceCounting {
    case .off: gaps.append(.withoutSwiftHooks)
    case .countsOnly: gaps.append(.withoutStacks)
    default: break
    }
    let birth = shapes.map(\.block.birthTime).min() ?? 0
    if let last = allocations.definitions.pauses.last, last.time >= birth || last.begins { gaps.append(.paused) }
    let lost = DropCounts.Reason.allCases.filter(\.losesEvents).reduce(UInt64(0)) { $0 &+ reader.drops[$1] }
    if lost > 0 { gaps.append(.dropped(lost)) }
    if !allocations.diagnostics.isEmpty { gaps.append(.damaged) }
    if shapes.contains(where: { $0.events[0].operation != .object }) { gaps.append(.noObject) }
    if shapes.contains(where: { $0.events.contains { $0.operation.isNonatomic } }) { gaps.append(.nonatomic) }
  }

  mutating func add(_ gap: HistoryGap) { gaps.append(gap) }

  /// Makes the checks that need no heap image. The balance of a freed object must be at most 1, and each release must
  /// have a retain.
  mutating func check(_ shapes: [(blocks: UInt64, first: BlockHistory)], unmatchedReleases: UInt64) {
    let unbalanced = shapes.filter {
      $0.first.isFreed && $0.first.events[0].operation == .object && $0.first.balance > 1
    }
    .reduce(UInt64(0)) { $0 + $1.blocks }
    if unbalanced > 0 { gaps.append(.freedUnbalanced(objects: unbalanced)) }
    if unmatchedReleases > 0 { gaps.append(.unmatchedReleases(unmatchedReleases)) }
    if unmatchedReleases > 0, reader.definitions.process.hasStaticRuntime, !gaps.contains(.staticRuntime) {
      gaps.append(.staticRuntime)
    }
  }

  /// Compares the balances of the chosen blocks with the reference counts in the heap image.
  mutating func compare(
    _ choice: RetainHistory.Choice, _ balances: RetainBalances, _ blocks: [LiveBlock], _ image: HeapImage,
    _ snapshot: TraceSnapshot
  ) {
    var mayUpgrade = false
    var isImmortal = false
    var isDeinitialised = false
    for block in blocks {
      switch choice {
      case .blocks(let identities): guard identities.contains(block.identity) else { continue }
      case .sites(let sites): guard sites.contains(block.site) else { continue }
      }
      guard let balance = balances[RuntimeAddress(block.address)],
        let count = ObjectGraph.referenceCount(of: block.address, in: image)
      else {
        counts.unknown += 1
        continue
      }
      switch balance.comparison(with: count) {
      case .equal: counts.equal += 1
      case .different: counts.different += 1
      case .notCounted:
        counts.unknown += 1
        isImmortal = true
      }
      if count.weak > 0 || count.unowned > 1 || count.isDeiniting || balance.strong != Int64(count.strong) {
        mayUpgrade = true
      }
      if count.isDeiniting { isDeinitialised = true }
    }
    if isImmortal { gaps.append(.immortal) }
    if isDeinitialised { gaps.append(.deinitialised) }
    if reader.definitions.process.hasStaticRuntime, mayUpgrade { gaps.append(.staticRuntime) }
    if !snapshot.isFrozen { gaps.append(.notFrozen) }
    if counts.unknown > 0, !isImmortal { gaps.append(.notCaptured(objects: counts.unknown)) }
    if counts.different > 0 { gaps.append(.different(objects: counts.different)) }
  }
}

extension Operation {
  /// Whether the operation changes the count without atomic instructions.
  var isNonatomic: Bool {
    switch self {
    case .nonatomicRetain, .nonatomicRetainN, .nonatomicRelease, .nonatomicReleaseN: true
    default: false
    }
  }
}

extension ReferenceBalance {
  package enum Comparison: Hashable, Sendable { case equal, different, notCounted }

  /// Compares the number of strong references according to the events with the count in memory.
  package func comparison(with count: ReferenceCount) -> Comparison {
    if count.isImmortal { return .notCounted }
    return strong == Int64(count.strong) ? .equal : .different
  }
}
