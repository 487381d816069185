// The events of a few chosen blocks.

/// Collects the events of a few chosen blocks in a separate history for each block.
package struct ChosenHistories: ReplayObserver {
  private let blocks: Set<BlockIdentity>
  private let endTime: UInt64
  private var spareEvents: Int
  private var live: [UInt64: BlockIdentity] = [:]
  package private(set) var histories: [BlockIdentity: BlockHistory] = [:]
  /// True if events were left out because there were too many.
  package private(set) var isCut = false

  private init(_ blocks: Set<BlockIdentity>, until endTime: UInt64, limit: Int) {
    (self.blocks, self.endTime, spareEvents) = (blocks, endTime, limit)
  }

  /// Collects the histories of `blocks` in one pass over the events. Events after `endTime`, in ticks, are ignored.
  package static func collect(_ blocks: [LiveBlock], until endTime: UInt64, in reader: TraceReader)
    -> ChosenHistories
  {
    let identities = Set(blocks.map(\.identity))
    var replayer = Replayer(
      ChosenHistories(identities, until: endTime, limit: reader.limits.historyEvents), for: reader)
    reader.replay(into: &replayer, stacks: .chosen(AddressFilter(blocks.map(\.address))))
    return replayer.observer
  }

  private mutating func mayKeep() -> Bool {
    spareEvents -= 1
    if spareEvents < 0 { isCut = true }
    return !isCut
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, blocks.contains(block.identity), mayKeep() else { return }
    live[block.address] = block.identity
    histories[block.identity] = BlockHistory(block: block, events: [HistoryEvent(event)])
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, let identity = live.removeValue(forKey: block.address), mayKeep() else { return }
    histories[identity]?.events.append(HistoryEvent(event))
  }

  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}

  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, let identity = live[block.address], mayKeep() else { return }
    histories[identity]?.events.append(HistoryEvent(event))
  }

  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
