// The retains and releases of chosen blocks, in order.

/// Identifies an allocation of a trace by values that do not depend on the replay.
package struct BlockIdentity: Hashable, Sendable, BitwiseCopyable {
  var threadIndex: UInt32
  package var ordinal: UInt64
}

extension LiveBlock {
  package var identity: BlockIdentity { BlockIdentity(threadIndex: threadIndex, ordinal: ordinal) }
}

/// An event of a block: its allocation, a retain or release, or its free.
package struct HistoryEvent: Hashable, Sendable, BitwiseCopyable {
  /// Ticks.
  package var time: UInt64
  package var stack: StackID
  /// The thread's number in the trace.
  package var thread: UInt32
  /// The number of references that the event adds or removes.
  package var count: UInt32
  package var operation: Operation

  package init(_ event: TraceEvent) {
    time = event.time
    stack = event.stack
    thread = event.thread
    count = UInt32(clamping: event.referenceCount)
    operation = event.operation
  }

  /// The change in the number of strong references. An object is born with one.
  package var change: Int64 {
    switch operation.effect {
    case .allocation: operation == .object ? 1 : 0
    case .retain: Int64(count)
    case .release: -Int64(count)
    default: 0
    }
  }
}

/// A block with all its events.
package struct BlockHistory: Sendable {
  package var block: LiveBlock
  /// In order. The first event is the allocation; the last is the free, if the block was freed.
  package var events: [HistoryEvent]

  package var isFreed: Bool { events.last?.operation.effect == .free }
  /// The number of strong references after all events.
  package var balance: Int64 { events.reduce(0) { $0 &+ $1.change } }
}

/// Collects the events of chosen blocks up to a moment. The replay must look up the stacks of all these events.
///
/// Memory: 24 bytes for each event of a chosen live block, and for each event of the first freed block of each shape.
package struct RetainHistory: ReplayObserver {
  /// Selects blocks.
  package enum Choice: Sendable {
    case blocks(Set<BlockIdentity>)
    /// All blocks that were ever allocated at these sites.
    case sites(Set<SiteID>)
  }

  /// The operations on a block, in order, with their stacks. Blocks of one shape may still differ in times and threads.
  package struct Shape: Hashable {
    package struct Step: Hashable, BitwiseCopyable {
      package var stack: StackID
      var count: UInt32
      var operation: Operation
    }
    package var steps: [Step]
  }

  private let choice: Choice
  /// The sites that `choice` selects, for a fast lookup.
  private let sites: MeantSites
  private let endTime: UInt64
  /// The number of further events that may be kept.
  private var spareEvents: Int
  /// The number of further events that may be collected, even if they are dropped again later.
  private var spareCollected: Int
  /// The number of events that were left out because there were too many.
  package private(set) var refusedEvents: UInt64 = 0
  private var live: [UInt64: BlockHistory] = [:]
  /// By address of a live block: the value of `changes` at its last release.
  private var lastReleases: [UInt64: UInt64] = [:]
  private var changes: UInt64 = 0
  /// By shape: the number of blocks that have it, and the first of these blocks.
  package private(set) var shapes: [Shape: (blocks: UInt64, first: BlockHistory)] = [:]

  /// `endTime`, in ticks: later events are ignored. `limit`: the most events that are kept at the same time.
  package init(_ choice: Choice, until endTime: UInt64 = .max, limit: Int = .max) {
    self.init(choice, until: endTime, kept: limit, collected: .max)
  }

  private init(_ choice: Choice, until endTime: UInt64, kept: Int, collected: Int) {
    self.choice = choice
    if case .sites(let sites) = choice { self.sites = MeantSites(sites) } else { sites = MeantSites([]) }
    self.endTime = endTime
    (spareEvents, spareCollected) = (kept, collected)
  }

  /// Takes the limits from `reader`.
  private init(_ choice: Choice, until endTime: UInt64, in reader: TraceReader) {
    self.init(choice, until: endTime, kept: reader.limits.historyEvents, collected: reader.limits.collectedEvents)
  }

  /// Collects the events of the chosen blocks in one pass over the events of `reader`.
  package static func collect(_ choice: Choice, until endTime: UInt64, in reader: TraceReader) -> RetainHistory {
    var replayer = Replayer(RetainHistory(choice, until: endTime, in: reader), for: reader)
    reader.replay(into: &replayer, stacks: .all)
    var history = replayer.observer
    history.closeAll()
    return history
  }

  /// Returns the histories of blocks that are live at `endTime`, in the order of their last releases. Returns none if
  /// there are too many events to keep. Takes one pass over the events.
  package static func histories(of blocks: [LiveBlock], until endTime: UInt64, in reader: TraceReader)
    -> [BlockHistory]
  {
    let identities = Set(blocks.map(\.identity))
    var replayer = Replayer(RetainHistory(.blocks(identities), until: endTime, in: reader), for: reader)
    reader.replay(into: &replayer, stacks: .chosen(AddressFilter(blocks.map(\.address))))
    return replayer.observer.chosen
  }

  /// Returns the histories of blocks as `histories(of:until:in:)` does, and the shapes of all blocks of some sites.
  /// Histories or shapes are empty if they have too many events to keep. Takes one pass over the events. If there are
  /// sites, an earlier pass finds the addresses whose stacks are needed.
  package static func collect(
    blocks: [LiveBlock], sites: Set<SiteID>, until endTime: UInt64, in reader: TraceReader
  ) -> (histories: [BlockHistory], shapes: [Shape: (blocks: UInt64, first: BlockHistory)]) {
    if sites.isEmpty { return (histories(of: blocks, until: endTime, in: reader), [:]) }
    var search = Replayer(SiteAddresses(sites, blocks.map(\.address)), for: reader)
    reader.replay(into: &search, stacks: .allocations)
    let pair = ObserverPair(
      RetainHistory(.blocks(Set(blocks.map(\.identity))), until: endTime, in: reader),
      RetainHistory(.sites(sites), until: endTime, in: reader))
    var replayer = Replayer(pair, for: reader)
    reader.replay(into: &replayer, stacks: .chosen(AddressFilter(search.observer.addresses)))
    var siblings = replayer.observer.second
    siblings.closeAll()
    return (replayer.observer.first.chosen, siblings.refusedEvents == 0 ? siblings.shapes : [:])
  }

  /// The histories of live blocks in the order of their last releases; none if some events were left out.
  private var chosen: [BlockHistory] {
    guard refusedEvents == 0 else { return [] }
    // Event times are too coarse for this order.
    func order(_ entry: BlockHistory) -> (UInt64, UInt64) {
      (lastReleases[entry.block.address] ?? 0, entry.block.address)
    }
    return live.values.sorted { order($0) < order($1) }
  }

  /// Moves the live blocks to the shapes.
  private mutating func closeAll() {
    for entry in live.values.sorted(by: { $0.block.address < $1.block.address }) { close(entry) }
    live = [:]
  }

  private mutating func close(_ history: BlockHistory) {
    let shape = Shape(
      steps: history.events.map { Shape.Step(stack: $0.stack, count: $0.count, operation: $0.operation) })
    if let known = shapes[shape] {
      shapes[shape] = (known.blocks + 1, known.first)
      spareEvents += history.events.count
    } else {
      shapes[shape] = (1, history)
    }
  }

  private mutating func mayKeep() -> Bool {
    if spareEvents > 0, spareCollected > 0 {
      spareEvents -= 1
      spareCollected -= 1
      return true
    }
    refusedEvents &+= 1
    return false
  }

  private func isMeant(_ block: LiveBlock) -> Bool {
    switch choice {
    case .blocks(let blocks): blocks.contains(block.identity)
    case .sites: sites.contains(block.site)
    }
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, isMeant(block), mayKeep() else { return }
    live[block.address] = BlockHistory(block: block, events: [HistoryEvent(event)])
    lastReleases[block.address] = nil
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    guard !live.isEmpty, event.time <= endTime, var history = live.removeValue(forKey: block.address) else { return }
    // The free of a collected block is kept even beyond the limit.
    history.events.append(HistoryEvent(event))
    spareEvents -= 1
    close(history)
  }

  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}

  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    guard !live.isEmpty, event.time <= endTime, live[block.address] != nil, mayKeep() else { return }
    changes &+= 1
    if event.operation.effect == .release { lastReleases[block.address] = changes }
    live[block.address]?.events.append(HistoryEvent(event))
  }

  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}

/// A set of sites, as an array of flags by site number. Each allocation of the trace is looked up here, and an array is
/// faster than a hash table.
private struct MeantSites {
  private var isMeant: [Bool]

  init(_ sites: Set<SiteID>) {
    isMeant = Array(repeating: false, count: sites.map { Int($0.rawValue) + 1 }.max() ?? 0)
    for site in sites { isMeant[Int(site.rawValue)] = true }
  }

  func contains(_ site: SiteID) -> Bool { Int(site.rawValue) < isMeant.count && isMeant[Int(site.rawValue)] }
}

/// Collects the addresses of all blocks of some sites, besides given addresses.
private struct SiteAddresses: ReplayObserver {
  private let sites: MeantSites
  private(set) var addresses: Set<UInt64>

  init(_ sites: Set<SiteID>, _ others: [UInt64]) { (self.sites, addresses) = (MeantSites(sites), Set(others)) }

  mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    if sites.contains(block.site) { addresses.insert(block.address) }
  }

  mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {}
  mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
