// Addresses of blocks that seem to have been retained or released after their free.

/// Remembers where blocks were freed. If such an address is retained or released while no live block begins there, it
/// becomes a suspect. A suspect is not yet a finding: it may be inside another block by then, or the free may come
/// first only because clocks disagree. `EndHistory` decides.
///
/// Memory: 1 MiB, for any number of blocks. A free replaces the address of an older free if both addresses have the
/// same slot. Copies share the table, as with a class.
package struct FreedAddresses: ReplayObserver {
  private static let rowBits: UInt64 = 12
  /// The most suspects that are recorded. One suspect is enough to start a search for the cause.
  static let suspectLimit = 1024

  /// For each slot, the address that was freed last; 0 at first.
  private let table: RowTable<UInt64>
  private let memory = TableOwner()
  /// Addresses of blocks, in no particular order.
  private(set) var suspects: Set<UInt64> = []

  package init() { table = RowTable(blank: 0, count: 32 << Int(Self.rowBits), ownedBy: memory) }

  /// Returns the slot of an address. Addresses in half a KiB of heap have neighbouring slots, as in `BlockTable`.
  @inline(__always)
  private func slot(_ address: UInt64) -> UnsafeMutablePointer<UInt64> {
    let row = ((address >> 9) &* 0x9E37_79B9_7F4A_7C15) &>> (64 &- Self.rowBits)
    return table[Int(truncatingIfNeeded: row &<< 5 | address >> 4 & 31)]
  }

  @inline(__always) package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    slot(block.address).pointee = block.address
  }
  @inline(__always)
  package mutating func blockFreed(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    slot(block.pointee.address).pointee = block.pointee.address
  }
  @inline(__always) package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}

  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {
    guard mismatch == .unknownObject, slot(event.address).pointee == event.address, suspects.count < Self.suspectLimit
    else { return }
    suspects.insert(event.address)
  }
}
