// The allocation sites of a replayed trace, as its tables have them.

/// The sites of a replay, in order of first sight; index: `SiteID`. A site is assembled on each access: a program may
/// have a million of them, of hundreds of bytes each. Any thread; copies share the tables.
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
  }

  private let tables: Tables
  package let endIndex: Int

  /// The tables of a replay that is over.
  init(keys: SiteKeys, totals: SiteTotals, lifetimes: SiteLifetimes, repeatedTypes: [UInt32: UInt32]) {
    tables = Tables(keys: keys, totals: totals, lifetimes: lifetimes, repeatedTypes: repeatedTypes)
    endIndex = totals.siteCount
  }

  package var startIndex: Int { 0 }

  package subscript(index: Int) -> AllocationSite {
    precondition(indices.contains(index))
    return AllocationSite(tables: tables, number: SiteID(UInt32(index)))
  }
}

/// An allocation site: the place, function and type of allocations, and the fate of their blocks. A look into the
/// tables of the replay, which it keeps.
package struct AllocationSite: Sendable {
  private let tables: AllocationSites.Tables
  package let number: SiteID
  package let operation: Operation
  package let stack: StackID
  /// Type ID; 0 for all but Swift objects. The lowest ID if several mean the same type.
  package let type: UInt32

  fileprivate init(tables: AllocationSites.Tables, number: SiteID) {
    let key = tables.keys[number]
    (self.tables, self.number) = (tables, number)
    (operation, stack) = (key.operation, key.stack)
    type = tables.repeatedTypes.isEmpty ? key.type : tables.repeatedTypes[key.type] ?? key.type
  }

  package var total: SiteTotal { tables.totals.total(of: number) }
  /// Up to the snapshot, if there is one.
  package var lifetime: SiteLifetime { tables.lifetimes.lifetime(of: number) }
  /// Live blocks over the work, up to the snapshot if there is one.
  package var liveCurve: LiveCurve { tables.lifetimes.curve(of: number) }
  /// Frames of the stack.
  package var depth: UInt32 { tables.lifetimes.depth(of: number) }
}
