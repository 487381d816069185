// The protocol of those who watch a replay.

/// An event that does not fit the heap as the trace has shown it so far.
package enum Mismatch: Int, CaseIterable, Hashable, Sendable {
  /// A free of something that was never seen allocated: an orphan.
  case orphanFree = 0
  /// A realloc said to have failed, of a block that was not seen given to it.
  case orphanReallocFailure
  /// A free of a block from before the recording, or what may be one: a forked process inherited it, or a process had
  /// it that was running already.
  case inheritedFree
  /// A retain or release of something that no allocation was seen for: objects on the stack, static ones, or those
  /// older than the trace.
  case unknownObject
  /// An allocation at an address that is still live: the free was not seen. The old block is taken as freed then.
  case allocationOverLive
  /// An event at address 0.
  case nullAddress
  /// An operation of a later version of the format.
  case unknownOperation

  /// The name in JSON.
  package var key: String {
    switch self {
    case .orphanFree: "orphanFrees"
    case .orphanReallocFailure: "orphanReallocFailures"
    case .inheritedFree: "inheritedFrees"
    case .unknownObject: "unknownObjects"
    case .allocationOverLive: "allocationsOverLive"
    case .nullAddress: "nullAddresses"
    case .unknownOperation: "unknownOperations"
    }
  }
}

/// Watches a replay. Conform concrete types, and join several by `ObserverPair`: the loop is specialised for them. All
/// calls come from the thread that runs the replay, in merged order.
package protocol ReplayObserver {
  mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent)
  /// The block dies. `event` is the free, or the allocation in its place if the free was not seen.
  mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent)
  /// A block that was given to realloc is still live, since that failed.
  mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent)
  /// A retain or release, strong or unowned, of a live block.
  mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent)
  mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent)
  /// The program said something: `event.size` is the index of a mark. `strand`: the strand that said it; `block`: the
  /// block live at the mark's address.
  mutating func marked(_ event: TraceEvent, strand: StrandID, block: LiveBlock?)
  /// A block of this site may come or go soon. Reads the observer's data of the site, if there are any, and returns
  /// some of them, so that they are in the cache.
  func foreseeBlock(of site: SiteID) -> UInt64
  /// Prefetches the observer's data of a site for a retain or release of a block, like `foreseeBlock(of:)`.
  func foreseeReference(to site: SiteID) -> UInt64
}

extension ReplayObserver {
  @inline(__always) package mutating func marked(_ event: TraceEvent, strand: StrandID, block: LiveBlock?) {}
  @inline(__always) package func foreseeBlock(of site: SiteID) -> UInt64 { 0 }
  @inline(__always) package func foreseeReference(to site: SiteID) -> UInt64 { 0 }
}

/// Two observers as one.
package struct ObserverPair<First: ReplayObserver, Second: ReplayObserver>: ReplayObserver {
  package var first: First
  package var second: Second

  package init(_ first: First, _ second: Second) {
    self.first = first
    self.second = second
  }

  @inline(__always) package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    first.blockAllocated(block, by: event)
    second.blockAllocated(block, by: event)
  }
  @inline(__always) package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    first.blockFreed(block, by: event)
    second.blockFreed(block, by: event)
  }
  @inline(__always) package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {
    first.blockRestored(block, by: event)
    second.blockRestored(block, by: event)
  }
  @inline(__always) package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {
    first.referencesChanged(block, by: event)
    second.referencesChanged(block, by: event)
  }
  @inline(__always) package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {
    first.mismatched(mismatch, event)
    second.mismatched(mismatch, event)
  }
  @inline(__always) package mutating func marked(_ event: TraceEvent, strand: StrandID, block: LiveBlock?) {
    first.marked(event, strand: strand, block: block)
    second.marked(event, strand: strand, block: block)
  }
  @inline(__always) package func foreseeBlock(of site: SiteID) -> UInt64 {
    first.foreseeBlock(of: site) &+ second.foreseeBlock(of: site)
  }
  @inline(__always) package func foreseeReference(to site: SiteID) -> UInt64 {
    first.foreseeReference(to: site) &+ second.foreseeReference(to: site)
  }
}
