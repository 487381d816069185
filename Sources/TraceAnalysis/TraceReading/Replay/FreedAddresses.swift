// Addresses at which references were counted after their block had been freed: suspects, found in passing.

/// Remembers where blocks were freed, and notes the retains and releases at such a place while nothing is live there. A
/// suspect is not yet a finding: it may lie inside another block by then, or the free may stand before it only because
/// clocks disagree. `EndHistory` tells.
///
/// Memory: 1 MiB, however many blocks there are. So it forgets: a free takes the place of an older one at another
/// address when both fall on the same slot. A reference in all but name: copies share the table.
package struct FreedAddresses: ReplayObserver {
  private static let rowBits: UInt64 = 12
  /// Suspects beyond this number are not noted: one is enough to look for the cause.
  static let suspectLimit = 1024

  /// The address freed last of those that fall on a slot; 0 at first.
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
