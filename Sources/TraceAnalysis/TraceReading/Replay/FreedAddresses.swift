// Addresses whose references were counted after their block had been freed: suspects, found in passing.

/// Remembers where blocks were freed, and records the retains and releases at such a place while nothing is live there.
/// A suspect is not yet a finding. It may lie inside another block by then, or the free may come first only because
/// clocks disagree. `EndHistory` decides.
///
/// Memory: 1 MiB, for any number of blocks. So it forgets: a free replaces an older one at another address if both have
/// the same slot. A reference in all but name: copies share the table.
package struct FreedAddresses: ReplayObserver {
  private static let rowBits: UInt64 = 12
  /// The most suspects that are recorded: one is enough to search for the cause.
  static let suspectLimit = 1024

  /// For each slot the address freed last; 0 at first.
  private let table: RowTable<UInt64>
  private let memory = TableOwner()
  /// Addresses of blocks, in no particular order.
  private(set) var suspects: Set<UInt64> = []

  package init() { table = RowTable(blank: 0, count: 32 << Int(Self.rowBits), ownedBy: memory) }

  /// Half a KiB of heap stays together, as in `BlockTable`.
  @inline(__always)
  private func slot(_ address: UInt64) -> UnsafeMutablePointer<UInt64> {
    let row = ((address >> 9) &* 0x9E37_79B9_7F4A_7C15) &>> (64 &- Self.rowBits)
    return table[Int(truncatingIfNeeded: row &<< 5 | address >> 4 & 31)]
  }

  @inline(__always) package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    slot(block.address).pointee = block.address
  }
  @inline(__always) package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}

  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {
    guard mismatch == .unknownObject, slot(event.address).pointee == event.address, suspects.count < Self.suspectLimit
    else { return }
    suspects.insert(event.address)
  }
}
