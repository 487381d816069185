// The blocks that were live at each of several moments, from one pass over the events.

/// Records the blocks of a replay that are live at given times.
///
/// Memory: 80 bytes for each block that is live at one or more of the times.
package struct RoundBlocks: ReplayObserver {
  /// The given times in ticks, ascending. An event at exactly one of these times counts as having happened by then.
  private let times: [UInt64]
  private var ended: [(block: LiveBlock, end: UInt64)] = []
  private var live: [LiveBlock] = []
  /// By thread: the index in `ended` of the last block that the thread passed to realloc.
  private var reallocated: [UInt32: Int] = [:]

  private init(times: [UInt64]) { self.times = times }

  /// Records the blocks in one pass over the events.
  package static func collect(at times: [UInt64], in reader: TraceReader) -> RoundBlocks {
    let last = times.max() ?? 0
    var replayer = Replayer(RoundBlocks(times: times.sorted()), for: reader)
    // The report's sites were numbered with the same stacks, so the site numbers match.
    reader.replay(into: &replayer, stacks: .allocations)
    var live: [LiveBlock] = []
    replayer.forEachLiveBlock { if $0.birthTime <= last { live.append($0) } }
    var blocks = replayer.observer
    blocks.live = live
    return blocks
  }

  /// The number of blocks that are kept.
  package var count: Int { ended.count + live.count }

  /// Returns the blocks that were live at `time`, which must be one of the given times, in no particular order. Linear
  /// in the kept blocks.
  package func blocks(at time: UInt64) -> [LiveBlock] {
    ended.filter { $0.block.birthTime <= time && time < $0.end }.map(\.block) + live.filter { $0.birthTime <= time }
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    guard let first = times.first(where: { $0 >= block.birthTime }), first < event.time else { return }
    if event.operation == .reallocFree { reallocated[event.thread] = ended.count }
    ended.append((block, event.time))
  }

  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {
    guard let index = reallocated.removeValue(forKey: event.thread), ended[index].block.address == block.address else {
      return
    }
    // The realloc failed, so the block did not end.
    ended[index].end = 0
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
