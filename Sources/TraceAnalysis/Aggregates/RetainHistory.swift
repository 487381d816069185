// The retains and releases of chosen blocks, as they happened.

/// Which allocation of a trace a block is: the same in every replay.
public struct BlockIdentity: Hashable, Sendable, BitwiseCopyable {
  public var threadIndex: UInt32
  public var ordinal: UInt64
}

extension LiveBlock {
  public var identity: BlockIdentity { BlockIdentity(threadIndex: threadIndex, ordinal: ordinal) }
}

/// One thing that happened to a block: its allocation, a retain or release, its free.
public struct HistoryEvent: Hashable, Sendable, BitwiseCopyable {
  /// Ticks.
  public var time: UInt64
  public var stack: StackID
  /// The trace's number for it.
  public var thread: UInt32
  /// How many references it adds or takes.
  public var count: UInt32
  public var operation: Operation

  public init(_ event: TraceEvent) {
    time = event.time
    stack = event.stack
    thread = event.thread
    count = UInt32(clamping: event.referenceCount)
    operation = event.operation
  }

  /// What it adds to the strong references. An object is born with one.
  public var change: Int64 {
    switch operation.effect {
    case .allocation: operation == .object ? 1 : 0
    case .retain: Int64(count)
    case .release: -Int64(count)
    default: 0
    }
  }
}

/// A block with all that happened to it.
public struct BlockHistory: Sendable {
  public var block: LiveBlock
  /// In order; the allocation is the first, and the free, if it was freed, the last.
  public var events: [HistoryEvent]

  public var isFreed: Bool { events.last?.operation.effect == .free }
  /// The strong references after all events.
  public var balance: Int64 { events.reduce(0) { $0 &+ $1.change } }
}

/// Collects the events of chosen blocks up to a moment. The replay has to look up all stacks.
///
/// Memory: 24 bytes an event of the blocks that are kept; where blocks are only counted, of those live at once, and of one of each shape.
public struct RetainHistory: ReplayObserver {
  /// Blocks that are meant.
  public enum Choice: Sendable {
    case blocks(Set<BlockIdentity>)
    /// All that were ever allocated at these.
    case sites(Set<SiteID>)
  }

  /// A row of operations at certain stacks. Blocks of one shape differ in times and threads.
  struct Shape: Hashable {
    struct Step: Hashable, BitwiseCopyable {
      var stack: StackID
      var count: UInt32
      var operation: Operation
    }
    var steps: [Step]
  }

  private let choice: Choice
  private let endTime: UInt64
  /// Events that may still be kept.
  private var spareEvents: Int
  /// Events that were left out because there were too many.
  private(set) var refusedEvents: UInt64 = 0
  private var live: [UInt64: BlockHistory] = [:]
  /// By shape: how many blocks, and the first of them.
  private(set) var shapes: [Shape: (blocks: UInt64, first: BlockHistory)] = [:]

  /// `endTime`, in ticks: what came after it is left out. `limit`: events that are kept at once.
  public init(_ choice: Choice, until endTime: UInt64 = .max, limit: Int = .max) {
    self.choice = choice
    self.endTime = endTime
    spareEvents = limit
  }

  /// One pass over the events.
  static func collect(_ choice: Choice, until endTime: UInt64, in reader: TraceReader) -> RetainHistory {
    var replayer = Replayer(RetainHistory(choice, until: endTime, limit: reader.limits.historyEvents), for: reader)
    reader.replay(into: &replayer, stacks: .all)
    var history = replayer.observer
    for entry in history.live.values.sorted(by: { $0.block.address < $1.block.address }) { history.close(entry) }
    history.live = [:]
    return history
  }

  private mutating func close(_ history: BlockHistory) {
    let shape = Shape(steps: history.events.map { Shape.Step(stack: $0.stack, count: $0.count, operation: $0.operation) })
    if let known = shapes[shape] {
      shapes[shape] = (known.blocks + 1, known.first)
      spareEvents += history.events.count
    } else {
      shapes[shape] = (1, history)
    }
  }

  private mutating func mayKeep() -> Bool {
    if spareEvents > 0 {
      spareEvents -= 1
      return true
    }
    refusedEvents &+= 1
    return false
  }

  private func isMeant(_ block: LiveBlock) -> Bool {
    switch choice {
    case .blocks(let blocks): blocks.contains(block.identity)
    case .sites(let sites): sites.contains(block.site)
    }
  }

  public mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, isMeant(block), mayKeep() else { return }
    live[block.address] = BlockHistory(block: block, events: [HistoryEvent(event)])
  }

  public mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, var history = live.removeValue(forKey: block.address) else { return }
    // There is room for one more of each block that is kept.
    history.events.append(HistoryEvent(event))
    spareEvents -= 1
    close(history)
  }

  public mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}

  public mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, live[block.address] != nil, mayKeep() else { return }
    live[block.address]?.events.append(HistoryEvent(event))
  }

  public mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}

/// Finds the last block that held an address, in one pass.
struct LastBlock: ReplayObserver {
  let address: UInt64
  private(set) var block: LiveBlock?

  init(_ address: RuntimeAddress) { self.address = address.rawValue }

  mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    if address >= block.address, address - block.address < max(block.size, 1) { self.block = block }
  }
  mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {}
  mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
