// The allocation report as text.

/// Renders a report as text. Only formats. A terminal's escape sequences appear only with `TextStyle.Emphasis.terminal`; those in names are escaped.
public struct AllocationText {
  private let style: TextStyle

  public init(style: TextStyle = TextStyle()) { self.style = style }

  /// `leaks` stand before the sites.
  public func text(_ report: AllocationReport, leaks: LeakReport? = nil) -> String {
    var lines = TextLines(style: style)
    for trace in report.traces { writeHead(trace, to: &lines) }
    if let leaks { FindingText(style: style).write(leaks, to: &lines) }
    if report.traces.count > 1 {
      lines.line(
        "\(report.traces.count) traces together; peaks are each process's own, added up.")
      lines.blank()
    }
    writeSites(report, to: &lines)
    if !report.namingRemarks.isEmpty {
      lines.line("Names:")
      for remark in report.namingRemarks { lines.line(remark, indent: 2) }
      lines.blank()
    }
    return lines.text
  }

  // MARK: Head

  private func writeHead(_ trace: ReportTrace, to lines: inout TextLines) {
    let analysis = trace.analysis
    let duration = analysis.duration.map { ", \(Decimal.fixed($0, places: 2)) s" } ?? ""
    lines.line("\(PlainText.escaped(trace.program)) (pid \(analysis.header.processID))\(duration)", emphasized: 1)
    lines.line(
      "\(Decimal.grouped(analysis.eventCount)) events: \(Decimal.grouped(analysis.count(of: .allocation))) allocations,"
        + " \(Decimal.grouped(analysis.count(of: .free))) frees, \(Decimal.grouped(analysis.count(of: .retain))) retains,"
        + " \(Decimal.grouped(analysis.count(of: .release))) releases", indent: 2)
    writeMemory(analysis, to: &lines)
    for remark in Self.remarks(analysis) { lines.line("note: \(remark)", indent: 2) }
    for warning in analysis.definitions.warnings { lines.line("warning: \(PlainText.escaped(warning))", indent: 2) }
    for diagnostic in analysis.diagnostics.first.prefix(10) { lines.line("damage: \(diagnostic.explanation)", indent: 2) }
    if analysis.diagnostics.count > 10 { lines.line("damage: \(analysis.diagnostics.count - 10) more places", indent: 2) }
    lines.blank()
  }

  private func writeMemory(_ analysis: AllocationAnalysis, to lines: inout TextLines) {
    func row(_ name: String, _ moment: MemoryMoment) -> String {
      let resident = moment.residentBytes.map { "\(Decimal.bytes($0)) resident" } ?? "resident size unknown"
      return "\(name) \(Decimal.bytes(moment.liveBytes)) live in \(Decimal.counted(moment.liveBlocks, "block")), \(resident)"
    }
    lines.line(row("at exit:", analysis.atExit), indent: 2)
    let time = analysis.clock.seconds(at: analysis.atPeak.time).map { " (after \(Decimal.fixed($0, places: 2)) s)" } ?? ""
    lines.line(row("at the peak\(time):", analysis.atPeak), indent: 2)
  }

  /// What a reader has to know to judge the figures, in sentences.
  static func remarks(_ analysis: AllocationAnalysis) -> [String] {
    var remarks = gaps(analysis)
    let orphans = analysis[.orphanFree] &+ analysis[.orphanReallocFailure]
    if orphans > 0 { remarks.append("\(Decimal.counted(orphans, "orphan free")) (of blocks never seen allocated)") }
    if analysis[.inheritedFree] > 0 {
      remarks.append("frees of blocks inherited from the parent process: \(Decimal.grouped(analysis[.inheritedFree]))")
    }
    if analysis[.allocationOverLive] > 0 {
      remarks.append("allocations at addresses that looked live, whose frees were not seen: \(Decimal.grouped(analysis[.allocationOverLive]))")
    }
    if analysis[.unknownObject] > 0 {
      remarks.append(
        "retains and releases of objects not seen allocated (static, on the stack, or older than the trace):"
          + " \(Decimal.grouped(analysis[.unknownObject]))")
    }
    let odd = analysis[.nullAddress] &+ analysis[.unknownOperation]
    if odd > 0 { remarks.append("events that this version makes nothing of: \(Decimal.grouped(odd))") }
    return remarks
  }

  /// How a process ended that did not close its trace. `waitStatus`: −1 if nobody knows. A process that ends with a status was not killed: the C library ends some by itself,
  /// such as the parent in `daemon`, and calls no function that could be seen.
  private static func ending(_ waitStatus: Int32) -> String {
    if waitStatus == -1 { return "the process ended, or was killed," }
    return switch ProcessOutcome(waitStatus: waitStatus) {
    case .exited(let status): "the process ended with status \(status)"
    case .killed(let signal, _): "the process was killed by signal \(signal)"
    case .stopped, .continued: "the process ended"
    }
  }

  /// What is missing from the trace, in sentences.
  static func gaps(_ analysis: AllocationAnalysis) -> [String] {
    var remarks: [String] = []
    switch analysis.completeness {
    case .whole: break
    case .recovered: remarks.append("\(ending(analysis.closing?.waitStatus ?? -1)) without closing its trace, which was finished afterwards")
    case .open:
      remarks.append("the trace has no closing record: the process is still running, was killed, or could not write on")
    }
    if analysis.closing?.reason == .stopped { remarks.append("recording ended before the process did") }
    if let children = analysis.closing?.untracedChildren, children > 0 {
      remarks.append("\(children) child process\(children == 1 ? " was" : "es were") not traced")
    }
    if analysis.header.referenceCounting == .off { remarks.append("retains and releases were not recorded") }
    let pauses = analysis.definitions.pauses.lazy.filter(\.begins).count
    if pauses > 0 || analysis.header.startedPaused {
      remarks.append("recording was paused at times: blocks allocated then are unknown, and blocks freed then look live")
    }
    for reason in DropCounts.Reason.allCases where analysis.drops[reason] > 0 {
      remarks.append("\(reason.losesEvents ? "missing: " : "")\(reason.explanation): \(Decimal.grouped(analysis.drops[reason]))")
    }
    if analysis.drops.unknown > 0 { remarks.append("dropped for reasons that this version does not know: \(Decimal.grouped(analysis.drops.unknown))") }
    return remarks
  }

  // MARK: Sites

  private func writeSites(_ report: AllocationReport, to lines: inout TextLines) {
    let order = Self.title(report.selection.order)
    let of = report.selection.filters ? " of \(Decimal.grouped(UInt64(report.matchingCount))) that match" : ""
    lines.line(
      "Allocation sites by \(order): \(report.sites.count)\(of) of \(Decimal.grouped(UInt64(report.siteCount)))", emphasized: 0)
    lines.blank()
    for (index, site) in report.sites.enumerated() {
      writeSite(site, number: index + 1, report, to: &lines)
      lines.blank()
    }
    let rest = report.matchingCount - report.sites.count
    if rest > 0 {
      let hidden = report.sites.reduce(report.selection.order.value(of: report.matchingTotal)) {
        $0 &- report.selection.order.value(of: $1.total)
      }
      lines.line(
        "\(Decimal.grouped(UInt64(rest))) more site\(rest == 1 ? "" : "s")"
          + (hidden > 0
            ? " with \(Self.amount(hidden, report.selection.order)); show more with --limit" : " with nothing to show by this order"))
      lines.blank()
    }
  }

  private func writeSite(_ site: ReportSite, number: Int, _ report: AllocationReport, to lines: inout TextLines) {
    let total = site.total
    let lead: String =
      switch report.selection.order {
      case .live: "\(Decimal.bytes(total.liveBytes)) live in \(Decimal.counted(total.liveBlocks, "block"))"
      case .peak: "\(Decimal.bytes(total.peakBytes)) at the peak in \(Decimal.counted(total.peakBlocks, "block"))"
      case .total: "\(Decimal.bytes(total.allocatedBytes)) allocated in \(Decimal.counted(total.allocatedBlocks, "block"))"
      case .temporary: "\(Decimal.counted(total.temporaryBlocks, "temporary block")), \(Decimal.bytes(total.temporaryBytes))"
      case .objects: "\(Decimal.counted(total.allocatedBlocks, "block")) allocated, \(Decimal.bytes(total.allocatedBytes))"
      case .retains: "\(Decimal.grouped(total.retains)) retains, \(Decimal.grouped(total.releases)) releases"
      }
    let prefix = "#\(number) "
    lines.pair(
      prefix + PlainText.escaped(site.type), lead, indent: 0, continuation: 4, emphasized: true)
    lines.line(Self.figures(total, besides: report.selection.order), indent: 4)
    StackText(style: style).write(site, to: &lines, indent: 4)
  }

  private static func figures(_ total: SiteTotal, besides order: ReportSelection.Order) -> String {
    var parts: [String] = []
    if order != .live { parts.append("live \(Decimal.bytes(total.liveBytes)) in \(Decimal.grouped(total.liveBlocks))") }
    if order != .peak { parts.append("peak \(Decimal.bytes(total.peakBytes)) in \(Decimal.grouped(total.peakBlocks))") }
    if order != .total && order != .objects {
      parts.append("allocated \(Decimal.bytes(total.allocatedBytes)) in \(Decimal.grouped(total.allocatedBlocks))")
    }
    if order != .temporary { parts.append("temporary \(Decimal.grouped(total.temporaryBlocks))") }
    if order != .retains, total.retains > 0 || total.releases > 0 {
      parts.append("retains \(Decimal.grouped(total.retains)), releases \(Decimal.grouped(total.releases))")
    }
    return parts.joined(separator: " · ")
  }

  private static func title(_ order: ReportSelection.Order) -> String {
    switch order {
    case .live: "live bytes at exit"
    case .peak: "bytes at the peak"
    case .total: "bytes allocated"
    case .temporary: "temporary blocks (at most \(SiteTotals.temporaryDistance) other allocation in between)"
    case .objects: "blocks allocated"
    case .retains: "retains"
    }
  }

  private static func amount(_ value: UInt64, _ order: ReportSelection.Order) -> String {
    switch order {
    case .live: "\(Decimal.bytes(value)) live"
    case .peak: "\(Decimal.bytes(value)) at the peak"
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
