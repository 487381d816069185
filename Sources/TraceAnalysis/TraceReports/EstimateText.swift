// The estimates of a light recording, as text.

import AllocationReports
import TextWriting
import TraceReading

/// Renders estimates. Formats only; makes no decisions.
struct EstimateText {
  let style: TextStyle

  /// Minimum number of totals for a curve. With fewer, the figures alone say as much.
  private static let minTotals = 3

  /// Writes how a recording's sample totals changed over time. Writes nothing if there are too few totals.
  func writeTotals(_ analysis: AllocationAnalysis, to lines: inout TextLines) {
    let totals = analysis.definitions.sampleTotals
    guard totals.count >= Self.minTotals, let first = totals.first, let last = totals.last else { return }
    let times = totals.compactMap { analysis.clock.seconds(at: $0.time) }
    guard times.count == totals.count, let start = times.first, let end = times.last, end > start else { return }
    let allocated = last.allocatedBytes > first.allocatedBytes ? last.allocatedBytes - first.allocatedBytes : 0
    lines.line(
      "by samples over \(Decimal.duration(end - start)): \(Decimal.bytes(allocated)) allocated, \(Self.bytes(Double(allocated) / (end - start))) a second",
      indent: 2)
    let curve = CurveText.text(
      totals.map { Double($0.liveBytes) }, times: times, columns: CurveText.columns(width: style.width))
    lines.row(
      "live estimate  \(curve)  \(Decimal.bytes(first.liveBytes)) → \(Decimal.bytes(last.liveBytes))", indent: 4)
  }

  func writeSites(_ report: AllocationReport, to lines: inout TextLines) {
    guard !report.estimates.isEmpty else { return }
    let order = report.selection.order == .live ? "live bytes" : "bytes allocated"
    lines.line(
      "Allocation sites by \(order), estimated from samples at the last heap image (± standard error): \(report.estimates.count) of \(Decimal.grouped(UInt64(report.estimateCount)))",
      emphasized: 0)
    lines.blank()
    for (index, site) in report.estimates.enumerated() {
      let live = Self.text(site.live, "live", site.liveObjects, site.liveSamples)
      let allocated = Self.text(site.allocated, "allocated", site.allocatedObjects, site.allocatedSamples)
      let isByLive = report.selection.order == .live
      lines.line("#\(index + 1) \(isByLive ? live : allocated)", indent: 0, emphasized: 1)
      lines.line(isByLive ? allocated : live, indent: 4)
      StackText(style: style).write(site, to: &lines, indent: 4)
      lines.blank()
    }
  }

  /// Returns an estimate as `12.4 MiB ± 0.60 MiB live in about 3,000 blocks (25 samples)`.
  private static func text(_ estimate: ByteEstimate, _ verb: String, _ blocks: UInt64, _ samples: UInt64) -> String {
    if estimate.error == 0, samples == blocks {
      return "\(Decimal.bytes(estimate.bytes)) \(verb) in \(Decimal.counted(blocks, "block")), all sampled"
    }
    return
      "\(text(estimate)) \(verb) in about \(Decimal.counted(blocks, "block")) (\(Decimal.counted(samples, "sample")))"
  }

  /// Returns an estimate as `12.4 MiB ± 0.60 MiB`.
  static func text(_ estimate: ByteEstimate) -> String {
    "\(Decimal.bytes(estimate.bytes)) ± \(bytes(estimate.error))"
  }

  private static func bytes(_ value: Double) -> String {
    Decimal.bytes(UInt64(min(max(value.rounded(), 0), byteLimit)))
  }

  /// A limit for byte counts that `UInt64` can hold, and that no process reaches.
  private static let byteLimit = 1e18
}
