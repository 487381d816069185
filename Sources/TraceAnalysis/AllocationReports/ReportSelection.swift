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

  /// The unit of a row in the report.
  package enum Grouping: Hashable, Sendable {
    /// A call stack: an allocation site.
    case stack
    /// All sites of one type and one function of the program, with all callers and recursion depths of the function.
    /// Memory that C libraries keep for themselves comes last.
    case function
  }

  package var order: Order = .live
  package var grouping: Grouping = .stack
  /// Maximum number of sites to show; nil for all.
  package var limit: Int? = 10
  /// Shows a site only if one of these patterns matches the loaded image or Swift module of one of its frames. If
  /// empty, shows all sites.
  package var modules: [NamePattern] = []
  /// Shows a site only if one of these patterns matches the function of one of its frames. If empty, shows all sites.
  package var functions: [NamePattern] = []
  /// Shows a site only if one of these patterns matches the name of its type or, for untyped blocks, of the allocating
  /// function. If empty, shows all sites.
  package var types: [NamePattern] = []

  package init() {}

  package var filters: Bool { !modules.isEmpty || !functions.isEmpty || !types.isEmpty }
}
