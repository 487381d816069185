// Allocations as programs of other packages see them.

import AllocationReports
import TraceReading

/// Sums over allocations.
public struct AllocationTotal: Hashable, Sendable {
  public let allocatedBlocks: UInt64
  public let allocatedBytes: UInt64
  /// Live when the recording ended.
  public let liveBlocks: UInt64
  public let liveBytes: UInt64
  /// Live at the moment of most live bytes of the whole process.
  public let peakBytes: UInt64

  init(_ total: SiteTotal) {
    allocatedBlocks = total.allocatedBlocks
    allocatedBytes = total.allocatedBytes
    liveBlocks = total.liveBlocks
    liveBytes = total.liveBytes
    peakBytes = total.peakBytes
  }
}

/// A call stack that allocates, with its allocations.
public struct AllocationSiteSummary: Hashable, Sendable {
  /// The type of the objects, or the function that was called for memory.
  public let type: String
  public let total: AllocationTotal
  /// Functions of the stack, the innermost first.
  public let functions: [String]

  init(_ site: ReportSite) {
    type = site.type
    total = AllocationTotal(site.total)
    functions = site.frames.map(\.source.function)
  }
}
