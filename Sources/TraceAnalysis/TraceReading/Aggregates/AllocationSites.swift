// The allocation sites of a replayed trace, read from the tables of the replay.

/// The sites of a replay, in the order of their first allocations; index: `SiteID`. Each access assembles the site from
/// the tables, because a program may have a million sites of hundreds of bytes each. May be used on any thread. Copies
/// share the tables.
package struct AllocationSites: RandomAccessCollection, Sendable {
  /// The tables of the sites. They do not change after the replay.
  fileprivate final class Tables: @unchecked Sendable {
    let keys: SiteKeys
    let totals: SiteTotals
    let lifetimes: SiteLifetimes
    /// See `TraceDefinitions.repeatedTypes`.
    let repeatedTypes: [UInt32: UInt32]

    init(keys: SiteKeys, totals: SiteTotals, lifetimes: SiteLifetimes, repeatedTypes: [UInt32: UInt32]) {
      (self.keys, self.totals, self.lifetimes, self.repeatedTypes) = (keys, totals, lifetimes, repeatedTypes)
    }

    func key(of site: SiteID) -> SiteKey {
      var key = keys[site]
      if !repeatedTypes.isEmpty { key.type = repeatedTypes[key.type] ?? key.type }
      return key
    }
  }

  private let tables: Tables
  package let endIndex: Int

  /// Takes the tables of a finished replay.
  init(keys: SiteKeys, totals: SiteTotals, lifetimes: SiteLifetimes, repeatedTypes: [UInt32: UInt32]) {
    tables = Tables(keys: keys, totals: totals, lifetimes: lifetimes, repeatedTypes: repeatedTypes)
    endIndex = totals.siteCount
  }

  package var startIndex: Int { 0 }

  /// Returns the key of a site. As for `AllocationSite`, several IDs of one type are the lowest of them. A loop over
  /// many sites should use this: an `AllocationSite` counts a reference to the tables.
  package func key(at index: Int) -> SiteKey {
    precondition(indices.contains(index))
    return tables.key(of: SiteID(UInt32(index)))
  }

  /// Returns the sums of a site.
  package func total(at index: Int) -> SiteTotal {
    precondition(indices.contains(index))
    return tables.totals.total(of: SiteID(UInt32(index)))
  }

  /// Returns the numbers of a site's blocks that were allocated and freed, as `AllocationSite` does.
  package func counts(at index: Int) -> (births: UInt64, deaths: UInt64) {
    precondition(indices.contains(index))
    let site = SiteID(UInt32(index))
    return (tables.lifetimes.births(of: site), tables.lifetimes.deaths(of: site))
  }

  /// Adds a site's live blocks to `sums`. The sum at index n counts the blocks after the first n × `step` events of the
  /// process, up to the snapshot if there is one. Accurate to an interval of `AllocationSite.liveCurve`.
  package func addLive(at index: Int, every step: UInt64, to sums: inout [UInt64]) {
    precondition(indices.contains(index))
    tables.lifetimes.addLive(of: SiteID(UInt32(index)), every: step, to: &sums)
  }

  /// True if two sites may have the same operation, stack and type. Several IDs then mean the same type.
  package var mayRepeat: Bool { !tables.repeatedTypes.isEmpty }

  package subscript(index: Int) -> AllocationSite {
    precondition(indices.contains(index))
    return AllocationSite(tables: tables, number: SiteID(UInt32(index)))
  }
}

/// An allocation site: the place, function and type of allocations, and the fate of their blocks. It reads the replay's
/// tables, and keeps them alive.
package struct AllocationSite: Sendable {
  private let tables: AllocationSites.Tables
  package let number: SiteID
  package let operation: Operation
  package let stack: StackID
  /// The type ID of the Swift objects that are allocated; 0 for other allocations. If several IDs mean the same type,
  /// this is the lowest.
  package let type: UInt32

  fileprivate init(tables: AllocationSites.Tables, number: SiteID) {
    let key = tables.key(of: number)
    (self.tables, self.number) = (tables, number)
    (operation, stack, type) = (key.operation, key.stack, key.type)
  }

  package var total: SiteTotal { tables.totals.total(of: number) }
  /// The fates of the site's blocks, up to the snapshot if there is one.
  package var lifetime: SiteLifetime { tables.lifetimes.lifetime(of: number) }
  /// Three figures of `lifetime`. They take less time than all of it.
  package var births: UInt64 { tables.lifetimes.births(of: number) }
  package var deaths: UInt64 { tables.lifetimes.deaths(of: number) }
  package var longestWork: UInt64 { tables.lifetimes.longestWork(of: number) }
  /// The site's live blocks over the events of the process, up to the snapshot if there is one.
  package var liveCurve: LiveCurve { tables.lifetimes.curve(of: number) }
  /// The number of frames of the site's stack.
  package var depth: UInt32 { tables.lifetimes.depth(of: number) }
}
