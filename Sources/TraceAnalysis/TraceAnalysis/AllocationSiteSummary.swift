// Allocations in the public API, for other packages.

import AllocationReports
import TraceReading

/// Sums over allocations.
public struct AllocationTotal: Hashable, Sendable {
  public let allocatedBlocks: UInt64
  public let allocatedBytes: UInt64
  /// Blocks that were live when the recording ended.
  public let liveBlocks: UInt64
  public let liveBytes: UInt64
  /// Bytes that were live when the whole process had its most live bytes.
  public let peakBytes: UInt64

  init(_ total: SiteTotal) {
    allocatedBlocks = total.allocatedBlocks
    allocatedBytes = total.allocatedBytes
    liveBlocks = total.liveBlocks
    liveBytes = total.liveBytes
    peakBytes = total.peakBytes
  }
}

/// A call stack that allocates, with the sums of its allocations.
public struct AllocationSiteSummary: Hashable, Sendable {
  /// The type of the objects or, for untyped memory, the allocating function.
  public let type: String
  public let total: AllocationTotal
  /// The functions on the stack, innermost first.
  public let functions: [String]

  init(_ site: ReportSite) {
    type = site.type
    total = AllocationTotal(site.total)
    functions = site.frames.map(\.source.function)
  }
}
