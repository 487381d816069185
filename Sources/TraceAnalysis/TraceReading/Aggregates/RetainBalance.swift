// Running retain balances of live blocks: what their reference counts should be.

/// The references to a block, as far as its events show.
package struct ReferenceBalance: Hashable, Sendable, BitwiseCopyable {
  /// Strong references: one from an object's allocation, plus those taken since, less those given up. Negative if more
  /// were given up than were recorded as taken.
  package var strong: Int64
  /// Unowned references. The runtime counts one for all strong ones together.
  package var unowned: Int64

  /// The balance of a block whose allocation was just recorded. A block that is no Swift object has no references of
  /// its own.
  @inline(__always)
  package init(allocatedBy operation: Operation) {
    strong = operation == .object ? 1 : 0
    unowned = operation == .object ? 1 : 0
  }

  /// Takes in a retain or release, strong or unowned.
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

/// Keeps the balance of every live block that is an object or had a reference counted. Memory: some 48 bytes for each
/// of the largest number live at once.
package struct RetainBalances: ReplayObserver {
  private var balances: [UInt64: ReferenceBalance] = [:]
  private let endTime: UInt64

  /// `endTime`, in ticks: events after it change nothing.
  package init(until endTime: UInt64 = .max) { self.endTime = endTime }

  /// The balance of the block live at `address` at the end of the replay, or at `endTime`.
  package subscript(_ address: RuntimeAddress) -> ReferenceBalance? { balances[address.rawValue] }

  /// Returns the balances of the blocks live when `snapshot` was taken: one pass over the events.
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
