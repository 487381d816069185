// The choice of what a report shows.

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
    /// All sites of one type and one function of the program's, whoever called it and however deep it recursed. Memory
    /// that C libraries keep for themselves comes last.
    case function
  }

  package var order: Order = .live
  package var grouping: Grouping = .stack
  /// Sites to show; nil for all.
  package var limit: Int? = 10
  /// A site is shown if any of its frames is of an image or Swift module that one of these matches. None: all are
  /// shown.
  package var modules: [NamePattern] = []
  /// The same for functions.
  package var functions: [NamePattern] = []
  /// A site is shown if its type's name, or the allocating function's for other blocks, matches one of these.
  package var types: [NamePattern] = []

  package init() {}

  package var filters: Bool { !modules.isEmpty || !functions.isEmpty || !types.isEmpty }
}
