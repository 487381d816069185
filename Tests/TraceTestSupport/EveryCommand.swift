// Does everything that the commands do with a trace, except reading files and symbols, and writing to terminals.

@testable import AllocationReports
@testable import HeapAnalysis
@testable import LeakDetection
@testable import LeakGates
@testable import PageReports
@testable import RunDiff
import TextWriting
@testable import TraceDatabase
@testable import TraceExports
@testable import TraceReading
@testable import TraceReports
@testable import TraceSymbolication

/// Runs the analyses and renderers of every command that reads a trace, as the commands do. The output does not matter:
/// the test is that all of them end.
package struct EveryCommand {
  private let open: () throws -> TraceReader
  private let naming: any FrameNaming
  private let layouts: any LayoutSource
  private let imageLimit: MemoryLimit
  /// The number of characters written.
  package private(set) var written = 0

  /// `open`: opens the same trace again for each command.
  package init(
    naming: any FrameNaming, layouts: any LayoutSource, imageLimit: ByteCount = ByteCount(256 << 20),
    open: @escaping () throws -> TraceReader
  ) {
    (self.naming, self.layouts, self.open) = (naming, layouts, open)
    self.imageLimit = MemoryLimit(imageLimit)
  }

  /// Returns the number of characters written. Throws if the trace cannot be opened, or if its digest cannot be
  /// written.
  package static func run(
    naming: any FrameNaming, layouts: any LayoutSource, imageLimit: ByteCount = ByteCount(256 << 20),
    open: @escaping () throws -> TraceReader
  ) throws -> Int {
    var commands = EveryCommand(naming: naming, layouts: layouts, imageLimit: imageLimit, open: open)
    let count = try open().snapshots.count
    // Only the first and the last image are analysed: the others add nothing new.
    let chosen: [Int?] = count == 0 ? [nil] : count == 1 ? [0] : [0, count - 1]
    let list = SnapshotList(try open(), path: "a.trace")
    commands.written += list.text(style: TextStyle(), whenNone: "none").utf8.count + list.json().utf8.count
    for index in chosen {
      let examined = try commands.analyze(index)
      try commands.history(index, examined)
      try commands.digest(examined)
      if !examined.trace.analysis.statements.scopes.isEmpty, let index { try commands.scopeReports(index) }
    }
    return commands.written
  }

  private struct Examined {
    var reader: TraceReader
    var report: AllocationReport
    var trace: ReportTrace
    var leaks: LeakReport
  }

  private func leakAnalysis(_ reader: TraceReader, _ snapshot: TraceSnapshot) -> (AllocationAnalysis, LeakAnalysis) {
    let allocations = AllocationAnalysis(reader, snapshot: snapshot)
    return (
      allocations,
      LeakAnalysis(reader, allocations, snapshot: snapshot, naming: naming, layouts: layouts, imageLimit: imageLimit)
    )
  }

  /// Does the work of `analyze` and `check` in all formats, and of `why`.
  private mutating func analyze(_ index: Int?) throws -> Examined {
    let reader = try open()
    var leaks = LeakReport(unavailable: reader.failedSnapshots.last?.explanation ?? "there is no heap image")
    let allocations: AllocationAnalysis
    var heap: LeakAnalysis?
    defer { if let heap { watch(heap, leaks) } }
    if let index {
      let (analysis, leakAnalysis) = leakAnalysis(reader, reader.snapshots[index])
      heap = leakAnalysis
      allocations = analysis
      let atExpectations = ExpectationImages(reader, analysis) { self.leakAnalysis(reader, $0).1 }
      leaks = LeakReport(
        leakAnalysis, suppressions: (try? Suppressions(parsing: "leak:Type3\nleak:*x*\n", file: "s")) ?? Suppressions(),
        atExpectations: atExpectations)
      for query in Self.queries {
        let answer = leakAnalysis.explain(query, limit: 20)
        written += FindingGraph.dot(answer).utf8.count
        written += RetainText().text(answer, subject: "x", remarks: leakAnalysis.remarks).utf8.count
        written +=
          RetainJSON.text(answer, subject: "x", snapshot: reader.snapshots[index], remarks: leakAnalysis.remarks).utf8
          .count
      }
      for diagnostic in leakAnalysis.model.diagnostics.first { written += diagnostic.explanation.utf8.count }
    } else {
      allocations = AllocationAnalysis(reader)
    }
    leaks.findStacks(reader, allocations, naming: naming)
    leaks.baseline = Baseline().updated(with: Array(leaks.findings.prefix(2))).baseline
    let trace = ReportTrace(path: "a.trace", analysis: allocations)
    var selection = ReportSelection()
    selection.order = [.live, .peak, .total, .temporary, .objects, .retains][(index ?? 0) % 6]
    selection.grouping = .function
    written += AllocationText().text(AllocationReport([trace], selection: selection, naming: naming)).utf8.count
    selection.grouping = .stack
    let report = AllocationReport([trace], selection: selection, naming: naming)
    let gates = GateReport(
      outcomes: try GateList(parsing: ["leaks", "new-leaks", "worse", "retained:1KiB", "growth:2"], for: .analysis)
        .outcomes(leaks.judged))
    written +=
      AllocationText(style: TextStyle(stacks: index == nil ? .full : .folded)).text(report, leaks: leaks).utf8.count
    written += AllocationJSON.text([report], leaks: [leaks], gates: gates).utf8.count
    written += GateText.text(gates, style: TextStyle()).utf8.count
    write(document(trace, leaks.judged, gates.outcomes, leaks.remarks))
    try export(reader, allocations, leaks, heap)
    try writePage(reader, report, leaks, heap)
    return Examined(reader: reader, report: report, trace: trace, leaks: leaks)
  }

  /// Does the work of `watch`, with ever larger images that resemble this one.
  private mutating func watch(_ heap: LeakAnalysis, _ leaks: LeakReport) {
    let image = heap.census()
    var series = ImageSeries()
    for number in 0..<GrowthRules.standard.strongImages {
      var grown = image
      for row in grown.census.rows.indices {
        grown.census.rows[row].objects = grown.census.rows[row].objects &* UInt64(number)
        grown.census.rows[row].elements = grown.census.rows[row].elements &* UInt64(number)
      }
      series.add(ImageMoment(time: Double(number)), grown, findings: leaks.findings)
    }
    let growth = series.growth()
    var leaks = leaks
    leaks.add(heap.findings(of: growth, image), of: heap)
    let process = WatchedProcess(program: "app", processID: 1)
    written += SeriesText().text(process, growth, leaks: leaks).utf8.count
    written += SeriesJSON.text(process, growth, leaks: leaks, gates: GateReport(outcomes: [])).utf8.count
  }

  /// Does the work of `export` in all formats, and of `query`.
  private mutating func export(
    _ reader: TraceReader, _ allocations: AllocationAnalysis, _ leaks: LeakReport, _ heap: LeakAnalysis?
  ) throws {
    let profile = StackProfile(
      allocations, path: "a.trace", leaked: leaks.leaked, frameLimit: reader.limits.namedFrames, naming: naming)
    written += PprofProfile.file(profile)?.count ?? 0
    written += CollapsedStacks.text(profile, .liveBytes).utf8.count
    written += SpeedscopeProfile.text(profile, profile.measures, exporter: "").utf8.count
    written += FindingGraph.dot(leaks.findings).utf8.count
    if let heap {
      written += HeapSnapshotFile.bytes(heap.graph, allocations).count
      written += PerfettoTrace.bytes(heap.graph, allocations).count
    }
    let tables = TraceTables(
      path: "a.trace", allocations, profile, leaks: leaks, heap: heap, heapReferences: true)
    let size = Result { try Self.databaseSize(tables) }
    // A database of all that a forged trace claims may be too large, if the size of the file does not limit it.
    if case .failure(let error as DatabaseError) = size, error.isTooLarge, !reader.limits.isBySize { return }
    written += try size.get()
  }

  /// Returns the bytes of the database, and the number of values in the rows of a query.
  private static func databaseSize(_ tables: TraceTables) throws -> Int {
    let database = try tables.database()
    var size = try database.file().count
    // The query has no sums: sums of forged figures may exceed 63 bits, which would be an error of the query.
    let answer = try database.answer("SELECT * FROM site_list", seconds: 60)
    while let row = try answer.next() { size += row.count }
    return size
  }

  /// Does the work of `report`.
  private mutating func writePage(
    _ reader: TraceReader, _ report: AllocationReport, _ leaks: LeakReport, _ heap: LeakAnalysis?
  ) throws {
    let allocations = report.traces[0].analysis
    let profile = StackProfile(
      allocations, path: "a.trace", leaked: leaks.leaked, frameLimit: reader.limits.namedFrames, naming: naming)
    var page = ReportPage(toolVersion: "0")
    page.add(
      ProcessPage(
        report: report, leaks: leaks, profile: profile, timeline: RunTimeline(reader, allocations),
        outline: heap?.outline(), tasks: heap?.taskInventory()))
    written += page.html().utf8.count
  }

  private static let queries: [RetainQuery] = [
    .type(NamePattern("*")), .site(NamePattern("*")), .address(RuntimeAddress(0x5000_0000_0008)),
  ]

  private func document(_ trace: ReportTrace, _ judged: [JudgedFinding], _ gates: [GateOutcome], _ remarks: [String])
    -> FindingDocument
  {
    FindingDocument(
      program: trace.program, judged: judged, gates: gates, source: SourceTree(root: "/src", access: EverySource()),
      toolVersion: "0", remarks: remarks)
  }

  private mutating func write(_ document: FindingDocument) {
    for text in [
      document.sarif(), document.junit(), document.markdown(), document.annotations(), document.codeQuality(),
    ] {
      written += text.utf8.count
    }
  }

  private mutating func history(_ index: Int?, _ examined: Examined) throws {
    let (reader, allocations) = (examined.reader, examined.trace.analysis)
    let snapshot = index.map { reader.snapshots[$0] }
    let analysis = HistoryAnalysis(reader, allocations, snapshot: snapshot, naming: naming, imageLimit: imageLimit)
    for query in Self.queries {
      guard let report = analysis.report(query) else { continue }
      written += HistoryText(frames: analysis.frames).text(report).utf8.count
      written += HistoryJSON.text(report, subject: "x").utf8.count
    }
  }

  /// Does the work of `digest`, and of `diff` with the same digest and with an empty one.
  private mutating func digest(_ examined: Examined) throws {
    let digest = RunDigest(examined.trace, leaks: examined.leaks, naming: naming)
    let bytes = try DigestFile.bytes(digest)
    let again = try DigestFile.digest(bytes)
    written += bytes.count
    if let origin = FleetRows.Origin(again, host: nil, build: nil, run: nil) {
      written += FleetRows.text(again, origin).utf8.count
    }
    var empty = again
    (empty.sites, empty.findings) = ([], [])
    for (old, new) in [([digest], [again]), ([empty], [digest, again])] {
      for unit in [DiffReport.Unit.run, .events] {
        let report = try RunComparison.report(old: old, new: new, unit: unit, isUntrusted: true)
        let gates = try GateList(
          parsing: ["new-leaks", "worse", "growth", "peak:5%", "allocations:10%", "regressions"], for: .comparison
        ).outcomes(report)
        written += DiffText().text(report, gates: gates).utf8.count + DiffJSON.text(report, gates: gates).utf8.count
        written += DiffMarkdown.text(report, gates: gates).utf8.count
        var page = ReportPage(toolVersion: "0")
        page.set(ComparisonPage(report, gates: gates, stacks: ComparedStacks(old: old, new: new, report)))
        written += page.html().utf8.count
        write(document(examined.trace, report.judged, gates, report.remarks))
      }
    }
  }

  private mutating func scopeReports(_ index: Int) throws {
    let reader = try open()
    let analysis = leakAnalysis(reader, reader.snapshots[index]).1
    for number in [1, 2] as [UInt64] {
      let births = Replayer.replay(reader, ScopeBirths(number: number, marks: reader.marks)).observer
      let findings = analysis.findings(among: births.live)
      let report = ScopeReport(births, marks: reader.marks, findings: findings, remarks: [])
      written += report.json().utf8.count + report.text().utf8.count
    }
  }
}

/// A source tree that contains every file, each with a hundred lines.
private struct EverySource: SourceAccess {
  func resolvedPath(_ path: String) -> String? { path }
  func lineCount(ofFile path: String) -> Int? { 100 }
}
