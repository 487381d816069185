// The places that allocate, as the samples of a light recording tell.

import TraceReading
import TraceSymbolication

/// An amount of bytes that was estimated.
package struct ByteEstimate: Hashable, Sendable {
  package var bytes: UInt64
  /// The standard error: two of three estimates are that near to the truth, 19 of 20 within twice as much.
  package var error: Double

  /// No process has more memory; sums of such are numbers all the same.
  private static let errorLimit = 1e18

  init(_ sums: SampledSite.Sums, period: UInt64) {
    bytes = sums.bytes
    error = min(sums.byteError(period: period), Self.errorLimit)
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

  /// The sites of one trace at its last image, most first, and how many there are; none unless it is a light recording.
  /// By live bytes, or by those allocated where the order is not one of what lives. Only what is returned is named.
  static func sites(_ trace: ReportTrace, selection: ReportSelection, naming: any FrameNaming) -> (
    shown: [EstimatedSite], count: Int
  ) {
    let definitions = trace.analysis.definitions
    let period = trace.analysis.header.samplePeriod
    guard let last = definitions.sampledSites.lazy.map(\.time).max() else { return ([], 0) }
    let isByLive = selection.order == .live
    func value(_ site: SampledSite) -> UInt64 { isByLive ? site.live.bytes : site.allocated.bytes }
    let sites = definitions.sampledSites.filter { $0.time == last && value($0) > 0 }.sorted {
      value($0) != value($1) ? value($0) > value($1) : $0.number < $1.number
    }
    var shown: [EstimatedSite] = []
    for site in sites.prefix(selection.limit ?? sites.count) {
      let live = site.live
      shown.append(
        EstimatedSite(
          allocated: ByteEstimate(site.allocated, period: period), allocatedObjects: site.allocated.objects,
          allocatedSamples: site.allocated.samples, live: ByteEstimate(live, period: period),
          liveObjects: live.objects, liveSamples: live.samples,
          frames: site.frames.reversed().flatMap { key in
            naming.frames(for: key, in: definitions.onlyImage(at: key.lookupAddress)).map {
              ReportFrame(address: key.address, source: $0)
            }
          }))
    }
    return (shown, sites.count)
  }
}
