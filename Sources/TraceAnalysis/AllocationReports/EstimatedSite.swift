// The places that allocate, as the samples of a light recording tell.

import TraceReading
import TraceSymbolication

/// An amount of bytes that was estimated.
package struct ByteEstimate: Codable, Hashable, Sendable {
  package var bytes: UInt64
  /// The standard error: two of three estimates are that near to the truth, 19 of 20 within twice as much.
  package var error: Double

  /// No process has more memory; sums of such are numbers all the same.
  package static let errorLimit = 1e18

  package init(bytes: UInt64, error: Double) { (self.bytes, self.error) = (bytes, min(error, Self.errorLimit)) }

  package init(_ sums: SampledSite.Sums, period: UInt64) {
    self.init(bytes: sums.bytes, error: sums.byteError(period: period))
  }

  /// Of two amounts whose samples are independent: errors add up in quadrature.
  package static func + (a: Self, b: Self) -> Self {
    let (bytes, overflow) = a.bytes.addingReportingOverflow(b.bytes)
    return Self(bytes: overflow ? .max : bytes, error: (a.error * a.error + b.error * b.error).squareRoot())
  }
}

/// A call stack with estimates of what it allocated, and of what of that is live.
package struct EstimatedSite: Hashable, Sendable {
  package var allocated: ByteEstimate
  package var allocatedObjects: UInt64
  package var allocatedSamples: UInt64
  package var live: ByteEstimate
  package var liveObjects: UInt64
  package var liveSamples: UInt64
  /// Innermost first, inlined ones apart; empty if the stack is not known.
  package var frames: [ReportFrame]

  /// Index of the innermost frame that is the program's own; nil if there is none.
  package var userFrame: Int? { frames.firstIndex { $0.source.kind == .user } }

  private init(_ site: SampledSite, _ analysis: AllocationAnalysis, _ naming: any FrameNaming) {
    let period = analysis.header.samplePeriod
    let live = site.live
    allocated = ByteEstimate(site.allocated, period: period)
    (allocatedObjects, allocatedSamples) = (site.allocated.objects, site.allocated.samples)
    self.live = ByteEstimate(live, period: period)
    (liveObjects, liveSamples) = (live.objects, live.samples)
    frames = site.frames.reversed().flatMap { key in
      naming.frames(for: key, in: analysis.definitions.onlyImage(at: key.lookupAddress)).map {
        ReportFrame(address: key.address, source: $0)
      }
    }
  }

  /// The sites of one trace at its last image, most first, and how many there are; none unless it is a light recording.
  /// By live bytes, or by those allocated where the order is not one of what lives. Only what is returned is named.
  static func sites(_ trace: ReportTrace, selection: ReportSelection, naming: any FrameNaming) -> (
    shown: [EstimatedSite], count: Int
  ) {
    let isByLive = selection.order == .live
    let sites = ranked(trace) { isByLive ? $0.live.bytes : $0.allocated.bytes }
    return (
      sites.prefix(selection.limit ?? sites.count).map { EstimatedSite($0, trace.analysis, naming) }, sites.count
    )
  }

  /// The sites of one trace at its last image that have most live bytes, and those that have most of all allocated, up
  /// to `limit` of each; and how many there are in all. By live bytes, then by those allocated.
  package static func largest(_ trace: ReportTrace, limit: Int, naming: any FrameNaming) -> (
    shown: [EstimatedSite], count: Int
  ) {
    let byAllocated = ranked(trace) { $0.allocated.bytes }
    let byLive = ranked(trace) { $0.live.bytes }.prefix(limit)
    let known = Set(byLive.lazy.map(\.number))
    let sites = byLive + byAllocated.prefix(limit).filter { !known.contains($0.number) }
    return (sites.map { EstimatedSite($0, trace.analysis, naming) }, byAllocated.count)
  }

  /// Those at the last image that have anything of a value, most first.
  private static func ranked(_ trace: ReportTrace, by value: (SampledSite) -> UInt64) -> [SampledSite] {
    let sites = trace.analysis.definitions.sampledSites
    guard let last = sites.lazy.map(\.time).max() else { return [] }
    return sites.filter { $0.time == last && value($0) > 0 }.sorted {
      value($0) != value($1) ? value($0) > value($1) : $0.number < $1.number
    }
  }
}
