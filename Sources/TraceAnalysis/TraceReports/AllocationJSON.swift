// The allocation report as JSON, as docs/report-schema.md describes it.

import AllocationReports
import LeakGates
import TextWriting
import TraceReading
import TraceSymbolication

/// Renders reports as one JSON document. Formats only; makes no decisions.
package enum AllocationJSON {
  /// The version of the format. Raised if a field changes its meaning or is removed, but not if a field is added.
  package static let schemaVersion: UInt64 = 1

  /// `leaks`: the leak report of each allocation report; nil if leaks were not requested. `gates`: the outcome of the
  /// gates for all reports; nil if there are no gates. `growth`: the growth between heap images for each report; nil if
  /// unknown.
  package static func text(
    _ reports: [AllocationReport], leaks: [LeakReport?] = [], growth: [ProcessGrowth?] = [], gates: GateReport? = nil
  ) -> String {
    document(reports, leaks: leaks, growth: growth, gates: gates).text + "\n"
  }

  /// Renders reports as a value that can be part of another document.
  package static func document(
    _ reports: [AllocationReport], leaks: [LeakReport?] = [], growth: [ProcessGrowth?] = [], gates: GateReport? = nil
  ) -> JSONValue {
    let values: [JSONValue] = reports.enumerated().map { index, report in
      value(
        report, leaks: index < leaks.count ? leaks[index] : nil, growth: index < growth.count ? growth[index] : nil)
    }
    let fields: [(String, JSONValue)] = [
      ("schema", .string("leaktrace.allocations")), ("schemaVersion", .number(schemaVersion)),
      ("reports", .array(values)),
    ]
    return .object(fields + (gates.map(GateText.fields) ?? []))
  }

  private static func limit(_ analysis: AllocationAnalysis) -> JSONValue {
    guard let limit = analysis.definitions.limit else { return .null }
    let image: UInt64? = limit.imageBefore.map { UInt64($0) }
    return .object([
      ("bytes", .number(limit.bytes)), ("seconds", .optional(analysis.clock.seconds(at: limit.time))),
      ("samplePeriod", .number(limit.samplePeriod)), ("lastImageBefore", .optional(image)),
    ])
  }

  private static func value(_ report: AllocationReport, leaks: LeakReport?, growth: ProcessGrowth?) -> JSONValue {
    let traces: [JSONValue] = report.traces.map(value)
    let grown: JSONValue = growth.map { SeriesJSON.growth($0.process, $0.growth) } ?? .null
    let findings: [(String, JSONValue)] = leaks.map(FindingJSON.fields) ?? []
    return .object(
      [("traces", .array(traces))] + findings + [
        ("growth", grown),
        ("sortedBy", .string(report.selection.order.rawValue)),
        ("siteCount", .number(UInt64(report.siteCount))),
        ("total", value(report.total)),
        ("matchingSiteCount", .number(UInt64(report.matchingCount))),
        ("matchingTotal", value(report.matchingTotal)),
        ("sites", .array(report.sites.map(value))),
        ("estimatedSiteCount", .number(UInt64(report.estimateCount))),
        ("estimatedSites", .array(report.estimates.map(value))),
        ("threadStacks", .array(report.threads.map(value))),
        ("types", .array(report.types.map(value))),
        ("operations", .array(report.operations.map(value))),
        ("namingRemarks", .array(report.namingRemarks.map { .string($0) })),
      ])
  }

  private static func value(_ total: SiteTotal) -> JSONValue {
    .object([
      ("allocatedBlocks", .number(total.allocatedBlocks)),
      ("allocatedBytes", .number(total.allocatedBytes)),
      ("liveBlocks", .number(total.liveBlocks)),
      ("liveBytes", .number(total.liveBytes)),
      ("peakBlocks", .number(total.peakBlocks)),
      ("peakBytes", .number(total.peakBytes)),
      ("temporaryBlocks", .number(total.temporaryBlocks)),
      ("temporaryBytes", .number(total.temporaryBytes)),
      ("retains", .number(total.retains)),
      ("releases", .number(total.releases)),
      ("unownedRetains", .number(total.unownedRetains)),
      ("unownedReleases", .number(total.unownedReleases)),
    ])
  }

  private static func value(_ estimate: ByteEstimate, objects: UInt64, samples: UInt64) -> JSONValue {
    .object([
      ("bytes", .number(estimate.bytes)),
      ("standardError", .optional(estimate.error)),
      ("blocks", .number(objects)),
      ("samples", .number(samples)),
    ])
  }

  /// Returns a stack's figures, as estimated from samples.
  package static func value(_ site: EstimatedSite) -> JSONValue {
    .object([
      ("allocated", value(site.allocated, objects: site.allocatedObjects, samples: site.allocatedSamples)),
      ("live", value(site.live, objects: site.liveObjects, samples: site.liveSamples)),
      ("userFrame", site.userFrame.map { .number(UInt64($0)) } ?? .null),
      ("frames", .array(site.frames.map(value))),
    ])
  }

  private static func value(_ thread: ReportThread) -> JSONValue {
    let stack = thread.stack
    let (activity, call): (String?, UInt64?) =
      switch stack.activity {
      case .computing: ("computing", nil)
      case .inCall(let number): ("systemCall", number)
      case .unknown: (nil, nil)
      }
    return .object([
      ("osThread", .number(stack.osThread)),
      ("ownNumber", .optional(stack.ownNumber == 0 ? nil : stack.ownNumber)),
      ("name", .optional(thread.name.isEmpty ? nil : thread.name)),
      ("isMain", .bool(thread.isMain)),
      ("activity", .optional(activity)),
      ("systemCall", .optional(call)),
      ("userFrame", thread.userFrame.map { .number(UInt64($0)) } ?? .null),
      ("stackEnd", .string(key(stack.end))),
      ("frames", .array(thread.frames.map(value))),
    ])
  }

  private static func key(_ end: ThreadStack.End) -> String {
    switch end {
    case .complete: "complete"
    case .cut: "cut"
    case .noRules: "noRules"
    case .unsound: "unsound"
    case .unknown: "unknown"
    }
  }

  private static func value(_ named: AllocationAnalysis.NamedTotal) -> JSONValue {
    .object([("name", .string(named.name)), ("total", value(named.total))])
  }

  private static func value(_ site: ReportSite) -> JSONValue {
    .object([
      ("type", .string(site.type)),
      ("operation", .string(site.operation.name)),
      ("total", value(site.total)),
      ("userFrame", site.userFrame.map { .number(UInt64($0)) } ?? .null),
      ("stackEnd", .string(key(site.end))),
      ("frames", .array(site.frames.map(value))),
    ])
  }

  static func value(_ frame: ReportFrame) -> JSONValue {
    let source = frame.source
    return .object([
      ("address", .address(frame.address.rawValue)),
      ("function", .string(source.function)),
      ("fullFunction", .string(source.fullFunction)),
      ("mangledName", .optional(source.mangledName)),
      ("image", .optional(source.imagePath)),
      ("file", .optional(source.file)),
      ("line", source.line.map { .integer(Int64($0)) } ?? .null),
      ("column", source.column.map { .integer(Int64($0)) } ?? .null),
      ("kind", .string(key(source.kind))),
      ("isInlined", .bool(source.isInlined)),
      ("isAsync", .bool(source.isAsync)),
    ])
  }

  static func key(_ end: StackPath.End) -> String {
    switch end {
    case .complete: "complete"
    case .cut: "cut"
    case .undefined: "undefined"
    }
  }

  private static func key(_ kind: SourceFrame.Kind) -> String {
    switch kind {
    case .user: "user"
    case .systemLibrary: "system"
    case .thunk: "thunk"
    }
  }

  // MARK: Traces

  private static func value(_ trace: ReportTrace) -> JSONValue {
    let analysis = trace.analysis
    let header = analysis.header
    let process = analysis.definitions.process
    return .object([
      ("path", .string(trace.path)),
      ("fileBytes", .number(analysis.fileSize.rawValue)),
      ("program", .string(process.executable)),
      ("processID", .number(UInt64(header.processID))),
      ("parentProcessID", .number(UInt64(header.parentProcessID))),
      ("traceID", .address(header.traceID)),
      ("sessionID", .address(header.sessionID)),
      ("machine", .number(UInt64(header.machine))),
      ("startNanosecondsSince1970", .string(String(header.startRealtime))),
      ("durationSeconds", .optional(analysis.duration)),
      ("completeness", .string(AllocationText.key(analysis.completeness))),
      ("waitStatus", analysis.closing.map { $0.waitStatus < 0 ? .null : .integer(Int64($0.waitStatus)) } ?? .null),
      ("untracedChildren", .optional(analysis.closing.map { UInt64($0.untracedChildren) })),
      ("referenceCounting", .string(AllocationText.key(header.referenceCounting))),
      ("isForked", .bool(process.isForked)),
      ("isAttached", .bool(process.isAttached)),
      ("isInspection", .bool(header.isInspection)),
      ("isLight", .bool(header.isLight)),
      ("limit", limit(analysis)),
      ("hasSwiftHooks", .bool(process.hasSwiftHooks)),
      ("eventCount", .number(analysis.eventCount)),
      ("events", counts(analysis)),
      ("atExit", value(analysis.atExit, analysis.clock)),
      ("atPeak", value(analysis.atPeak, analysis.clock)),
      ("drops", drops(analysis.drops)),
      ("mismatches", .object(Mismatch.allCases.map { ($0.key, .number(analysis[$0])) })),
      ("pauses", .number(UInt64(analysis.definitions.pauses.lazy.filter(\.begins).count))),
      (
        "threads",
        .array(
          analysis.threads.map { thread in
            .object([
              ("number", .number(UInt64(thread.number))),
              ("osThread", .optional(analysis.definitions.threads.first { $0.thread == thread.number }?.osThread)),
              ("name", .optional(trace.threadNames[thread.number])),
              ("events", .number(thread.events)),
              ("allocations", .number(thread.allocations)),
              ("allocatedBytes", .number(thread.allocatedBytes)),
            ])
          })
      ),
      (
        "images",
        .array(
          analysis.definitions.images.map { image in
            .object([
              ("path", .string(image.image.path)),
              ("buildID", .string(Hexadecimal.digits(image.image.buildID))),
              ("loadBias", .address(image.image.loadBias)),
              ("start", .address(image.image.range.lowerBound.rawValue)),
              ("end", .address(image.image.range.upperBound.rawValue)),
              ("isUnloaded", .bool(image.unloadTime != nil)),
            ])
          })
      ),
      ("warnings", .array(analysis.definitions.warnings.map { .string($0) })),
      ("diagnosticCount", .number(UInt64(analysis.diagnostics.count))),
      ("diagnostics", .array(analysis.diagnostics.first.map(value))),
    ])
  }

  private static func drops(_ drops: DropCounts) -> JSONValue {
    .object(
      DropCounts.Reason.allCases.map { ($0.key, .number(drops[$0])) } + [("other", .number(drops.unknown))])
  }

  private static func counts(_ analysis: AllocationAnalysis) -> JSONValue {
    .object(
      analysis.eventCounts.enumerated().filter { $0.element > 0 }
        .map { (Operation(rawValue: UInt8(truncatingIfNeeded: $0.offset)).name, .number($0.element)) })
  }

  private static func value(_ moment: MemoryMoment, _ clock: TraceClock) -> JSONValue {
    .object([
      ("seconds", .optional(clock.seconds(at: moment.time))),
      ("liveBytes", .number(moment.liveBytes)),
      ("liveBlocks", .number(moment.liveBlocks)),
      ("residentBytes", .optional(moment.residentBytes)),
      ("residentSeconds", .optional(moment.residentTime.flatMap { clock.seconds(at: $0) })),
    ])
  }

  private static func value(_ diagnostic: TraceDiagnostic) -> JSONValue {
    let (file, offset): (JSONValue, JSONValue) =
      switch diagnostic.place {
      case .trace(let offset): (.string("trace"), .number(offset.rawValue))
      case .live(let offset): (.string("live"), .number(offset.rawValue))
      case nil: (.null, .null)
      }
    return .object([
      ("message", .string(diagnostic.explanation)), ("file", file), ("offset", offset),
      ("chunk", diagnostic.chunk.map { .number(UInt64($0)) } ?? .null),
    ])
  }
}
