// Retain balances of live blocks: the reference counts that they should have by their events.

/// The numbers of references to a block, by its events.
package struct ReferenceBalance: Hashable, Sendable, BitwiseCopyable {
  /// Strong references: one from an object's allocation, plus the references retained since, less the references
  /// released. Negative if more releases than retains were recorded.
  package var strong: Int64
  /// Unowned references. All strong references together count as one of them, as in the runtime.
  package var unowned: Int64

  /// Makes the balance of a new block. A block that is not a Swift object starts without references.
  @inline(__always)
  package init(allocatedBy operation: Operation) {
    strong = operation == .object ? 1 : 0
    unowned = operation == .object ? 1 : 0
  }

  /// Applies a retain or release, strong or unowned.
  @inline(__always)
  package mutating func apply(_ event: TraceEvent) {
    let count = Int64(truncatingIfNeeded: event.referenceCount)
    switch event.operation.effect {
    case .retain:
      strong &+= count
      if event.operation == .unownedRetainStrongAndRelease { unowned &-= 1 }
    case .release: strong &-= count
    case .unownedRetain: unowned &+= count
    case .unownedRelease: unowned &-= count
    default: return
    }
  }
}

/// Keeps the balance of every live block that is a Swift object, or that was retained or released. Memory: about 48
/// bytes for each of the most such blocks that are live at the same time.
package struct RetainBalances: ReplayObserver {
  private var balances: [UInt64: ReferenceBalance] = [:]
  private let endTime: UInt64

  /// `endTime`, in ticks: later events are ignored.
  package init(until endTime: UInt64 = .max) { self.endTime = endTime }

  /// The balance of the block that is live at `address` at `endTime`, or at the end of the replay if that is earlier.
  package subscript(_ address: RuntimeAddress) -> ReferenceBalance? { balances[address.rawValue] }

  /// Returns the balances of the blocks that were live when `snapshot` was taken. Takes one pass over the events.
  package static func at(_ snapshot: TraceSnapshot, in reader: TraceReader) -> RetainBalances {
    var replayer = Replayer(RetainBalances(until: snapshot.time), for: reader)
    reader.replay(into: &replayer, stacks: .none)
    return replayer.observer
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime, event.operation == .object else { return }
    balances[block.address] = ReferenceBalance(allocatedBy: .object)
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    if event.time <= endTime { balances[block.address] = nil }
  }

  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}

  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    guard event.time <= endTime else { return }
    balances[block.address, default: ReferenceBalance(allocatedBy: .malloc)].apply(event)
  }

  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
