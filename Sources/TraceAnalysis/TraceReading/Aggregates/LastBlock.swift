// The last block at an address.

/// Finds the last block that held an address, in one pass.
package struct LastBlock: ReplayObserver {
  private let address: UInt64
  private var block: LiveBlock?

  private init(_ address: RuntimeAddress) { self.address = address.rawValue }

  /// Returns the last block that contained `address`; nil if there was none. Takes one pass over the events.
  package static func find(_ address: RuntimeAddress, in reader: TraceReader) -> LiveBlock? {
    var replayer = Replayer(LastBlock(address), for: reader)
    reader.replay(into: &replayer, stacks: .none)
    return replayer.observer.block
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    if address >= block.address, address - block.address < max(block.size, 1) { self.block = block }
  }
  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
}
