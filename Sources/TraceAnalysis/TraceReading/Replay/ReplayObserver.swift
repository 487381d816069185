// The protocol of a replay's observers.

/// The way that an event contradicts the heap that the trace has shown so far.
package enum Mismatch: Int, CaseIterable, Hashable, Sendable {
  /// A free of a block that was never seen allocated: an orphan.
  case orphanFree = 0
  /// A failed realloc of a block that was not seen passed to realloc.
  case orphanReallocFailure
  /// A free of a block that may be older than the recording: the process began as a fork, or was running already.
  case inheritedFree
  /// A retain or release of an object without a recorded allocation: on the stack, static, or older than the trace.
  case unknownObject
  /// An allocation at the address of a live block, whose free was not recorded. The old block counts as freed from then
  /// on.
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

/// Watches a replay. Make concrete types conform, and combine several with `ObserverPair`: the replay's loop is then
/// specialised for them. All calls come from the thread that runs the replay, in merged order of the events.
package protocol ReplayObserver {
  mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent)
  /// The block was freed. `event` is the free, or the next allocation at the block's address if the free was not
  /// recorded.
  mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent)
  /// A block that was passed to realloc is still live, because the realloc failed.
  mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent)
  /// A live block was retained or released, strongly or unowned.
  mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent)
  /// The three calls of nearly all events, without a copy of the block and the event. The replay calls only these. By
  /// default, they call the functions above. The pointers are valid during the call.
  mutating func blockAllocated(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>)
  mutating func blockFreed(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>)
  mutating func referencesChanged(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>)
  mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent)
  /// The program made a mark; `event.size` is the mark's index. `execution`: the execution that made the mark. `block`: the
  /// live block at the mark's address.
  mutating func marked(_ event: TraceEvent, execution: ExecutionID, block: LiveBlock?)
  /// The process has made `count` events, the last one at `time`. Called at the points of `CurveSchedule`.
  mutating func passed(events count: UInt64, time: UInt64)
  /// Prefetches the observer's data of a site, because a block of the site may be allocated or freed soon.
  func prefetchBlock(of site: SiteID)
  /// Prefetches the observer's data of a site for a retain or release of a block, like `prefetchBlock(of:)`.
  func prefetchReference(to site: SiteID)
}

extension ReplayObserver {
  @inline(__always)
  package mutating func blockAllocated(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    blockAllocated(block.pointee, by: event.pointee)
  }
  @inline(__always)
  package mutating func blockFreed(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    blockFreed(block.pointee, by: event.pointee)
  }
  @inline(__always)
  package mutating func referencesChanged(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    referencesChanged(block.pointee, by: event.pointee)
  }
  @inline(__always) package mutating func marked(_ event: TraceEvent, execution: ExecutionID, block: LiveBlock?) {}
  @inline(__always) package mutating func passed(events count: UInt64, time: UInt64) {}
  @inline(__always) package func prefetchBlock(of site: SiteID) {}
  @inline(__always) package func prefetchReference(to site: SiteID) {}
}

/// Combines two observers into one.
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
  @inline(__always)
  package mutating func blockAllocated(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    first.blockAllocated(at: block, by: event)
    second.blockAllocated(at: block, by: event)
  }
  @inline(__always)
  package mutating func blockFreed(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    first.blockFreed(at: block, by: event)
    second.blockFreed(at: block, by: event)
  }
  @inline(__always)
  package mutating func referencesChanged(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    first.referencesChanged(at: block, by: event)
    second.referencesChanged(at: block, by: event)
  }
  @inline(__always) package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {
    first.mismatched(mismatch, event)
    second.mismatched(mismatch, event)
  }
  @inline(__always) package mutating func marked(_ event: TraceEvent, execution: ExecutionID, block: LiveBlock?) {
    first.marked(event, execution: execution, block: block)
    second.marked(event, execution: execution, block: block)
  }
  @inline(__always) package mutating func passed(events count: UInt64, time: UInt64) {
    first.passed(events: count, time: time)
    second.passed(events: count, time: time)
  }
  @inline(__always) package func prefetchBlock(of site: SiteID) {
    first.prefetchBlock(of: site)
    second.prefetchBlock(of: site)
  }
  @inline(__always) package func prefetchReference(to site: SiteID) {
    first.prefetchReference(to: site)
    second.prefetchReference(to: site)
  }
}
