// The allocation report as text.

import AllocationReports
import LeakDetection
import LeakGates
import TextWriting
import TraceReading

/// Renders a report as text. Formats only; makes no decisions. Writes escape sequences for the terminal only with
/// `TextStyle.Emphasis.terminal`; escapes such sequences in names.
package struct AllocationText {
  private let style: TextStyle

  package init(style: TextStyle = TextStyle()) { self.style = style }

  /// Returns the report. The leaks come before the sites.
  package func text(_ report: AllocationReport, leaks: LeakReport? = nil) -> String {
    var lines = TextLines(style: style)
    for trace in report.traces { writeHead(trace, leaks?.residentMemory, to: &lines) }
    if let leaks { FindingText(style: style, stacks: leaks.stacks).write(leaks, to: &lines) }
    if report.traces.count > 1 {
      lines.line(
        "\(report.traces.count) traces together; peaks are each process's own, added up.")
      lines.blank()
    }
    ThreadText(style: style).write(report.threads, to: &lines)
    if report.selection.limit != 0 {
      EstimateText(style: style).writeSites(report, to: &lines)
      writeSites(report, to: &lines)
    }
    if !report.namingRemarks.isEmpty {
      lines.line("Names:")
      for remark in report.namingRemarks { lines.line(remark, indent: 2) }
      lines.blank()
    }
    return lines.text
  }

  // MARK: Head

  private func writeHead(_ trace: ReportTrace, _ memory: ResidentMemory?, to lines: inout TextLines) {
    let analysis = trace.analysis
    let isInspection = analysis.header.isInspection
    let duration =
      analysis.duration.map { ", \(isInspection ? "inspected after " : "")\(Decimal.fixed($0, places: 2)) s" } ?? ""
    lines.line(
      "\(PlainText.escaped(trace.program)) (pid \(analysis.header.processID))"
        + (isInspection && analysis.header.startMonotonic == 0 ? ", inspected" : duration), emphasized: 1)
    if !analysis.header.lacksHistory { writeEvents(analysis, to: &lines) }
    writeMemory(analysis, to: &lines)
    EstimateText(style: style).writeTotals(analysis, to: &lines)
    if let memory {
      writeCourse(memory.course, to: &lines)
      if memory.deservesRemark { lines.line("note: \(memory.remark)", indent: 2) }
    }
    for remark in Self.remarks(analysis) { lines.line("note: \(remark)", indent: 2) }
    for warning in analysis.definitions.warnings { lines.line("warning: \(PlainText.escaped(warning))", indent: 2) }
    for diagnostic in analysis.diagnostics.first.prefix(10) {
      lines.line("\(diagnostic.label): \(diagnostic.explanation)", indent: 2)
    }
    if analysis.diagnostics.count > 10 {
      lines.line("damage: \(analysis.diagnostics.count - 10) more places", indent: 2)
    }
    lines.blank()
  }

  private func writeEvents(_ analysis: AllocationAnalysis, to lines: inout TextLines) {
    lines.line(
      "\(Decimal.grouped(analysis.eventCount)) events: \(Decimal.grouped(analysis.count(of: .allocation))) allocations,"
        + " \(Decimal.grouped(analysis.count(of: .free))) frees, \(Decimal.grouped(analysis.count(of: .retain))) retains,"
        + " \(Decimal.grouped(analysis.count(of: .release))) releases", indent: 2)
  }

  private func writeMemory(_ analysis: AllocationAnalysis, to lines: inout TextLines) {
    func row(_ name: String, _ moment: MemoryMoment) -> String {
      let resident = moment.residentBytes.map { "\(Decimal.bytes($0)) resident" } ?? "resident size unknown"
      return
        "\(name) \(Decimal.bytes(moment.liveBytes)) live in \(Decimal.counted(moment.liveBlocks, "block")), \(resident)"
    }
    // An inspection or a light recording knows only one moment.
    if analysis.header.lacksHistory { return lines.line(row("in use:", analysis.atExit), indent: 2) }
    let end =
      analysis.hasStopped
      ? "where reading stopped:"
      : analysis.definitions.limit != nil
        ? "at the trace's limit:"
        : analysis.completeness == .open || analysis.closing?.reason == .detached
          ? "at the end of the trace:" : "at exit:"
    lines.line(row(end, analysis.atExit), indent: 2)
    if let unseen = analysis.unseen {
      lines.line(
        "at the heap image besides: \(Decimal.bytes(unseen.bytes)) in \(Decimal.counted(unseen.blocks, "block")) allocated before the recording began",
        indent: 2)
    }
    let time =
      analysis.clock.seconds(at: analysis.atPeak.time).map { " (after \(Decimal.fixed($0, places: 2)) s)" } ?? ""
    lines.line(row("at the peak\(time):", analysis.atPeak), indent: 2)
  }

  /// Minimum number of heap images for a curve. With fewer, the figures alone say as much.
  private static let minImages = 3

  private func writeCourse(_ course: ResidentCourse, to lines: inout TextLines) {
    let moments = course.moments
    guard moments.count >= Self.minImages, let first = moments.first, let last = moments.last else { return }
    lines.line(
      "in \(Decimal.counted(UInt64(moments.count), "heap image")) over \(Decimal.duration(last.seconds - first.seconds)):",
      indent: 2)
    func row(_ name: String, _ value: (ResidentCourse.Moment) -> UInt64) {
      let curve = CurveText.text(
        moments.map { Double(value($0)) }, times: moments.map(\.seconds),
        columns: CurveText.columns(width: style.width))
      lines.row("\(name)  \(curve)  \(Decimal.bytes(value(first))) → \(Decimal.bytes(value(last)))", indent: 4)
    }
    row("resident       ", \.resident)
    row("live blocks    ", \.inUse)
    row("freed and kept ", \.freed)
  }

  /// Returns the sentences that a reader needs to judge the figures.
  static func remarks(_ analysis: AllocationAnalysis) -> [String] {
    var remarks = analysis.gapRemarks
    let orphans = analysis[.orphanFree] &+ analysis[.orphanReallocFailure]
    if orphans > 0 { remarks.append("\(Decimal.counted(orphans, "orphan free")) (of blocks never seen allocated)") }
    if analysis[.inheritedFree] > 0 {
      let origin =
        analysis.definitions.process.isAttached ? "allocated before the recording" : "inherited from the parent process"
      remarks.append("frees of blocks \(origin): \(Decimal.grouped(analysis[.inheritedFree]))")
    }
    if analysis[.allocationOverLive] > 0 {
      remarks.append(
        "allocations at addresses that looked live, whose frees were not seen: \(Decimal.grouped(analysis[.allocationOverLive]))"
      )
    }
    let odd = analysis[.nullAddress] &+ analysis[.unknownOperation]
    if odd > 0 { remarks.append("events of kinds unknown to this version: \(Decimal.grouped(odd))") }
    return remarks
  }

  // MARK: Sites

  private func writeSites(_ report: AllocationReport, to lines: inout TextLines) {
    let order = Self.title(report.selection.order, end: Self.end(report))
    if report.selection.filters, report.sites.isEmpty {
      guard report.matchingCount > 0 else {
        let question = NearestWords.question(report.nearestNames).map { " \($0)" } ?? ""
        return lines.line("No allocation site matches.\(question)")
      }
      let matching = UInt64(report.matchingCount)
      return lines.line(
        "\(Decimal.counted(matching, "allocation site")) \(matching == 1 ? "matches" : "match"), without \(order). "
          + "--sort total lists all allocations there.")
    }
    let of = report.selection.filters ? " of \(Decimal.grouped(UInt64(report.matchingCount))) that match" : ""
    var title =
      "Allocation sites by \(order): \(report.sites.count)\(of) of \(Decimal.grouped(UInt64(report.siteCount)))"
    if report.selection.grouping == .function {
      let count = Decimal.counted(UInt64(report.joinedStackCount), "call stack")
      title =
        "Allocation sites by \(order), joined by function: \(report.sites.count) of \(Decimal.grouped(UInt64(report.rowCount)))\(report.selection.filters ? " that match" : "") (\(count))"
    }
    if report.lacksHistory {
      title = "Types by \(order): \(report.sites.count)\(of) of \(Decimal.grouped(UInt64(report.rowCount)))"
    }
    lines.line(title, emphasized: 0)
    lines.blank()
    for (index, site) in report.sites.enumerated() {
      writeSite(site, number: index + 1, report, to: &lines)
      if !report.lacksHistory { lines.blank() }
    }
    if report.lacksHistory { lines.blank() }
    let rest = report.rowCount - report.sites.count
    if rest > 0 {
      let hidden = report.sites.reduce(report.selection.order.value(of: report.matchingTotal)) {
        $0 &- report.selection.order.value(of: $1.total)
      }
      lines.line(
        "\(Decimal.grouped(UInt64(rest))) more \(report.lacksHistory ? "type" : "site")\(rest == 1 ? "" : "s")"
          + (hidden > 0
            ? " with \(Self.amount(hidden, report.selection.order)); show more with --limit"
            : " with nothing to show in this order"))
      lines.blank()
    }
  }

  private func writeSite(_ site: ReportSite, number: Int, _ report: AllocationReport, to lines: inout TextLines) {
    let total = site.total
    let lead: String =
      switch report.selection.order {
      case .live: "\(Decimal.bytes(total.liveBytes)) live in \(Decimal.counted(total.liveBlocks, "block"))"
      case .peak:
        "\(Decimal.bytes(total.peakBytes)) at the program's peak in \(Decimal.counted(total.peakBlocks, "block"))"
      case .total:
        "\(Decimal.bytes(total.allocatedBytes)) allocated in \(Decimal.counted(total.allocatedBlocks, "block"))"
      case .temporary:
        "\(Decimal.counted(total.temporaryBlocks, "temporary block")), \(Decimal.bytes(total.temporaryBytes))"
      case .objects:
        "\(Decimal.counted(total.allocatedBlocks, "block")) allocated, \(Decimal.bytes(total.allocatedBytes))"
      case .retains: "\(Decimal.grouped(total.retains)) retains, \(Decimal.grouped(total.releases)) releases"
      }
    let prefix = "#\(number) "
    lines.pair(
      prefix + PlainText.escaped(site.type), lead, indent: 0, continuation: 4, emphasized: true)
    if report.lacksHistory { return }
    let stacks = site.stackCount > 1 ? " · \(Decimal.counted(UInt64(site.stackCount), "call stack"))" : ""
    lines.line(Self.figures(total, besides: report.selection.order) + stacks, indent: 4)
    StackText(style: style).write(site, to: &lines, indent: 4)
  }

  private static func figures(_ total: SiteTotal, besides order: ReportSelection.Order) -> String {
    var parts: [String] = []
    if order != .live { parts.append("live \(Decimal.bytes(total.liveBytes)) in \(Decimal.grouped(total.liveBlocks))") }
    if order != .peak {
      parts.append("at the program's peak \(Decimal.bytes(total.peakBytes)) in \(Decimal.grouped(total.peakBlocks))")
    }
    if order != .total && order != .objects {
      parts.append("allocated \(Decimal.bytes(total.allocatedBytes)) in \(Decimal.grouped(total.allocatedBlocks))")
    }
    if order != .temporary { parts.append("temporary \(Decimal.grouped(total.temporaryBlocks))") }
    if order != .retains, total.retains > 0 || total.releases > 0 {
      parts.append("retains \(Decimal.grouped(total.retains)), releases \(Decimal.grouped(total.releases))")
    }
    return parts.joined(separator: " · ")
  }

  /// The words for blocks without a history: only one moment is known.
  private static let inUse = "in use"

  /// Returns the words for the last moment of the trace.
  private static func end(_ report: AllocationReport) -> String {
    if report.lacksHistory { return inUse }
    if report.traces.contains(where: \.analysis.hasStopped) { return "where reading stopped" }
    return report.traces.contains { $0.analysis.completeness == .open } ? "at the end of the trace" : "at exit"
  }

  private static func title(_ order: ReportSelection.Order, end: String) -> String {
    switch order {
    case .live: end == inUse ? "bytes \(end)" : "live bytes \(end)"
    case .peak: "bytes at the program's peak"
    case .total: "bytes allocated"
    case .temporary: "temporary blocks (at most \(SiteTotals.temporaryDistance) other allocation in between)"
    case .objects: "blocks allocated"
    case .retains: "retains"
    }
  }

  private static func amount(_ value: UInt64, _ order: ReportSelection.Order) -> String {
    switch order {
    case .live: "\(Decimal.bytes(value)) live"
    case .peak: "\(Decimal.bytes(value)) at the program's peak"
    case .total: "\(Decimal.bytes(value)) allocated"
    case .temporary: Decimal.counted(value, "temporary block")
    case .objects: Decimal.counted(value, "block")
    case .retains: Decimal.counted(value, "retain")
    }
  }

  // MARK: Names shared with JSON

  static func key(_ completeness: AllocationAnalysis.Completeness) -> String {
    switch completeness {
    case .whole: "whole"
    case .recovered: "recovered"
    case .open: "open"
    }
  }

  static func key(_ mode: TraceHeader.ReferenceCounting) -> String {
    switch mode {
    case .withStacks: "stacks"
    case .countsOnly: "counts"
    case .off: "off"
    case .unknown(let n): "unknown(\(n))"
    }
  }
}
