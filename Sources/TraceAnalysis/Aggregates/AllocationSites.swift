// The allocation sites of a replayed trace, as its tables have them.

/// The sites of a replay, in order of first sight; index: `SiteID`. A site is put together when it is asked for: a program may have a million of them, and
/// what is known of one takes hundreds of bytes. Any thread; copies share the tables.
public struct AllocationSites: RandomAccessCollection, Sendable {
  /// What is known of each site. Nobody writes to the tables once the replay is over.
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
  public let endIndex: Int

  /// Of a replay that is over.
  init(keys: SiteKeys, totals: SiteTotals, lifetimes: SiteLifetimes, repeatedTypes: [UInt32: UInt32]) {
    tables = Tables(keys: keys, totals: totals, lifetimes: lifetimes, repeatedTypes: repeatedTypes)
    endIndex = totals.siteCount
  }

  public var startIndex: Int { 0 }

  public subscript(index: Int) -> AllocationSite {
    precondition(indices.contains(index))
    return AllocationSite(tables: tables, number: SiteID(UInt32(index)))
  }
}

/// An allocation site: where, by what, and of which type blocks were allocated, and what became of them. A look into the tables of the replay, which it keeps.
public struct AllocationSite: Sendable {
  private let tables: AllocationSites.Tables
  public let number: SiteID
  public let operation: Operation
  public let stack: StackID
  /// Type ID; 0 but for Swift objects. Of several that mean the same type it is the lowest.
  public let type: UInt32

  fileprivate init(tables: AllocationSites.Tables, number: SiteID) {
    let key = tables.keys[number]
    (self.tables, self.number) = (tables, number)
    (operation, stack) = (key.operation, key.stack)
    type = tables.repeatedTypes.isEmpty ? key.type : tables.repeatedTypes[key.type] ?? key.type
  }

  public var total: SiteTotal { tables.totals.total(of: number) }
  /// Up to the snapshot, if there is one.
  public var lifetime: SiteLifetime { tables.lifetimes.lifetime(of: number) }
  /// Live blocks over the work, up to the snapshot if there is one.
  public var liveCurve: LiveCurve { tables.lifetimes.curve(of: number) }
  /// Frames of the stack.
  public var depth: UInt32 { tables.lifetimes.depth(of: number) }
}
