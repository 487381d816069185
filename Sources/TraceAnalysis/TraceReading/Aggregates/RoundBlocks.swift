// The blocks that were live at each of several moments, from one pass over the events.

/// Records the blocks of a replay that are live at given times.
///
/// Memory: 80 bytes for each block that is live at one of the times or more.
package struct RoundBlocks: ReplayObserver {
  /// Ascending, in ticks. Events up to and including a time come before it.
  private let times: [UInt64]
  private var ended: [(block: LiveBlock, end: UInt64)] = []
  private var live: [LiveBlock] = []
  /// By thread: the entry of the last block that it passed to realloc.
  private var reallocated: [UInt32: Int] = [:]

  private init(times: [UInt64]) { self.times = times }

  /// One pass over the events.
  package static func collect(at times: [UInt64], in reader: TraceReader) -> RoundBlocks {
    let last = times.max() ?? 0
    var replayer = Replayer(RoundBlocks(times: times.sorted()), for: reader)
    // The stacks of the pass that numbered the report's sites, so that the numbers match.
    reader.replay(into: &replayer, stacks: .allocations)
    var live: [LiveBlock] = []
    replayer.forEachLiveBlock { if $0.birthTime <= last { live.append($0) } }
    var blocks = replayer.observer
    blocks.live = live
    return blocks
  }

  /// Blocks that are kept.
  package var count: Int { ended.count + live.count }

  /// Returns the blocks that were live at one of the given times, in no particular order. Linear in the kept blocks.
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
    // It never ended.
    ended[index].end = 0
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
