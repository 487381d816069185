// Loading the replay's data of coming events into the cache.

import CPrefetch

/// Prefetches the blocks and the sites of events. Single look-ups wait for memory one after the other; in a batch, their
/// waits overlap. Valid as long as the tables.
struct TablePrefetch {
  let blocks: BlockTable
  let sites: SiteTable

  /// Begins to load the data of some events, and of an observer for them. Small tables are in the cache anyway.
  @inline(__always)
  func begin(_ events: UnsafeBufferPointer<TraceEvent>, _ observer: some ReplayObserver) {
    if sites.count > 1 << 12 || (blocks.count > 1 << 16 && sites.count > 0) { beginRows(events, observer) }
  }

  /// Does each step for all events, without branches that depend on loaded data. So the processor can start later reads
  /// while it waits for earlier ones.
  @inline(never)
  private func beginRows(_ events: UnsafeBufferPointer<TraceEvent>, _ observer: some ReplayObserver) {
    guard let start = events.baseAddress else { return }
    let (blockSlots, siteSlots) = (blocks.likelySlots, sites.likelySlots)
    for index in 0..<events.count {
      lt_prefetch(blockSlots.place(of: start[index].address))
      lt_prefetch(siteSlots.place(of: start[index].stack))
    }
    withUnsafeTemporaryAllocation(of: UnsafePointer<LiveBlock>.self, capacity: events.count) { found in
      guard let found = found.baseAddress else { return }
      for index in 0..<events.count {
        found[index] = blockSlots.block(at: start[index].address)
        lt_prefetch(found[index])
      }
      let last = UInt32(truncatingIfNeeded: sites.count &- 1)
      for index in 0..<events.count {
        let operation = start[index].operation
        if operation.countsReferences {
          observer.prefetchReference(to: SiteID(min(found[index].pointee.site.rawValue, last)))
        } else {
          let isAllocation = operation.isAllocation
          let site =
            isAllocation ? siteSlots.place(of: start[index].stack).pointee : found[index].pointee.site.rawValue
          observer.prefetchBlock(of: SiteID(min(site, last)))
        }
      }
    }
  }
}
