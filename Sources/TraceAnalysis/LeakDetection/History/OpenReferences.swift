// References of chosen objects that were taken and never released.

import TraceReading

/// References that one place took of one object, and that were never released.
package struct OpenReference: Hashable, Sendable {
  /// A retain, or the allocation: each object begins with one reference.
  package var operation: Operation
  package var count: UInt64
  package var place: HistoryPlace
}

extension HistoryAnalysis {
  /// Returns the references of each block that were not released by `endTime`, in ticks; oldest first. Leaves out
  /// blocks without a history. Takes one pass over the events. Returns an empty result if the events exceed the memory
  /// limit.
  func openReferences(of blocks: [LiveBlock], until endTime: UInt64) -> [BlockIdentity: [OpenReference]] {
    guard !blocks.isEmpty else { return [:] }
    let collected = ChosenHistories.collect(blocks, until: endTime, in: reader)
    guard !collected.isCut else { return [:] }
    var spareComparisons = Self.comparisonLimit
    var result: [BlockIdentity: [OpenReference]] = [:]
    for history in collected.histories.values.sorted(by: {
      ($0.block.birthTime, $0.block.address) < ($1.block.birthTime, $1.block.address)
    }) {
      let paired = pair(history, &spareComparisons)
      result[history.block.identity] = paired.events.indices.compactMap { index in
        guard paired.events[index].change > 0, paired.pairing.left[index] > 0 else { return nil }
        return OpenReference(
          operation: paired.events[index].operation, count: UInt64(paired.pairing.left[index]),
          place: places.named[paired.places[index]])
      }
    }
    return result
  }
}
