// The call stacks that allocate, estimated from the samples of a light recording.

import TraceReading
import TraceSymbolication

/// A number of bytes, estimated from samples.
package struct ByteEstimate: Codable, Hashable, Sendable {
  package var bytes: UInt64
  /// The standard error. Two of three estimates differ from the true value by at most this error. 19 of 20 differ by at
  /// most twice this error.
  package var error: Double

  /// A limit for errors, above the number of bytes of any process. It keeps sums of errors finite.
  package static let errorLimit = 1e18

  package init(bytes: UInt64, error: Double) { (self.bytes, self.error) = (bytes, min(error, Self.errorLimit)) }

  package init(_ sums: SampledSite.Sums, period: UInt64) {
    self.init(bytes: sums.bytes, error: sums.byteError(period: period))
  }

  /// Returns the sum of two estimates from independent samples. The errors add up in quadrature.
  package static func + (a: Self, b: Self) -> Self {
    let (bytes, overflow) = a.bytes.addingReportingOverflow(b.bytes)
    return Self(bytes: overflow ? .max : bytes, error: (a.error * a.error + b.error * b.error).squareRoot())
  }
}

/// A call stack with estimates of the blocks that it allocated, and of those that are live.
package struct EstimatedSite: Hashable, Sendable {
  package var allocated: ByteEstimate
  package var allocatedObjects: UInt64
  package var allocatedSamples: UInt64
  package var live: ByteEstimate
  package var liveObjects: UInt64
  package var liveSamples: UInt64
  /// The frames of the stack, innermost first. Inlined frames are separate. Empty if the stack is unknown.
  package var frames: [ReportFrame]

  /// Index of the program's innermost frame; nil if no frame is the program's.
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

  /// Returns the sites of a light recording at its last heap image, largest first, and the number of all sites. Returns
  /// no sites for other traces. Orders sites by live bytes if the report is ordered by live bytes; otherwise, orders
  /// them by allocated bytes. Names only the returned sites.
  static func sites(_ trace: ReportTrace, selection: ReportSelection, naming: any FrameNaming) -> (
    shown: [EstimatedSite], count: Int
  ) {
    let isByLive = selection.order == .live
    let sites = ranked(trace) { isByLive ? $0.live.bytes : $0.allocated.bytes }
    return (
      sites.prefix(selection.limit ?? sites.count).map { EstimatedSite($0, trace.analysis, naming) }, sites.count
    )
  }

  /// Returns the largest sites at the last heap image, and the number of all sites. The sites with the most live bytes
  /// come first, then the sites with the most allocated bytes: at most `limit` of each, without duplicates.
  package static func largest(_ trace: ReportTrace, limit: Int, naming: any FrameNaming) -> (
    shown: [EstimatedSite], count: Int
  ) {
    let byAllocated = ranked(trace) { $0.allocated.bytes }
    let byLive = ranked(trace) { $0.live.bytes }.prefix(limit)
    let known = Set(byLive.lazy.map(\.number))
    let sites = byLive + byAllocated.prefix(limit).filter { !known.contains($0.number) }
    return (sites.map { EstimatedSite($0, trace.analysis, naming) }, byAllocated.count)
  }

  /// Returns the sites at the last heap image whose value is above 0, largest first.
  private static func ranked(_ trace: ReportTrace, by value: (SampledSite) -> UInt64) -> [SampledSite] {
    let sites = trace.analysis.definitions.sampledSites
    guard let last = sites.lazy.map(\.time).max() else { return [] }
    return sites.filter { $0.time == last && value($0) > 0 }.sorted {
      value($0) != value($1) ? value($0) > value($1) : $0.number < $1.number
    }
  }
}
