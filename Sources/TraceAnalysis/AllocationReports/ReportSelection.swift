// The choice of a report's contents.

import TraceReading
import TraceSymbolication

/// The sites that a report shows, and their order.
package struct ReportSelection: Hashable, Sendable {
  package enum Order: String, CaseIterable, Hashable, Sendable {
    case live, peak, total, temporary, objects, retains

    package func value(of total: SiteTotal) -> UInt64 {
      switch self {
      case .live: total.liveBytes
      case .peak: total.peakBytes
      case .total: total.allocatedBytes
      case .temporary: total.temporaryBlocks
      case .objects: total.allocatedBlocks
      case .retains: total.retains
      }
    }
  }

  /// The unit of a row of the report.
  package enum Grouping: Hashable, Sendable {
    /// A call stack: an allocation site.
    case stack
    /// All sites of one type and one function of the program, for all its callers and recursion depths. Memory that C
    /// libraries keep for themselves comes last.
    case function
  }

  package var order: Order = .live
  package var grouping: Grouping = .stack
  /// Limit of sites to show; nil for all.
  package var limit: Int? = 10
  /// Shows a site if any of its frames is in an image or Swift module that one of these patterns matches. If empty, all
  /// sites are shown.
  package var modules: [NamePattern] = []
  /// Shows a site if the function of any of its frames matches one of these patterns. If empty, all sites are shown.
  package var functions: [NamePattern] = []
  /// Shows a site if the name of its type, or of the allocating function for other blocks, matches one of these
  /// patterns.
  package var types: [NamePattern] = []

  package init() {}

  package var filters: Bool { !modules.isEmpty || !functions.isEmpty || !types.isEmpty }
}
