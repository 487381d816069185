// Examines one trace for its allocations and its leaks.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

/// Where to find files, and which findings to hide: options of every command that searches for leaks.
struct LeakSearchOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Hide findings that match a 'leak:' pattern in this file (LeakSanitizer's syntax).", valueName: "file"),
    completion: .file())
  var suppressions: [String] = []

  @Option(
    help: ArgumentHelp("Also look for debug files in this directory.", valueName: "directory"), completion: .directory)
  var debugPath: [String] = []

  @Option(
    help: ArgumentHelp("Look for the program's files below this directory.", valueName: "directory"),
    completion: .directory)
  var sysroot: String?

  @Option(help: OwnModulesOption.help)
  var own: [String] = []

  @Option(help: MemoryLimitOption.help)
  var memoryLimit: MemoryLimit = .standard
}

/// A trace with everything that a report needs from it.
struct ExaminedTrace {
  var reader: TraceReader
  var trace: ReportTrace
  var leaks: LeakReport
  /// `damaged`, or `unreadable` if the trace lacks the requested heap image.
  var status: ExitStatus
  /// The analysis of the heap image, if the caller wants to keep it.
  var heap: LeakAnalysis?
}

/// Searches several traces for leaks, one after the other, with the same options.
struct LeakSearch {
  /// Number of the heap image; nil for the last one.
  var snapshot: Int?
  /// True if reports list every candidate for a suspicion, with the effects of the rules.
  var explains = false
  private let suppressions: Suppressions
  private let files: DebugFileSearch
  private let openFiles = OpenImageFiles()
  private let memoryLimit: MemoryLimit
  private let ownModules: Set<String>

  /// Prints the reason before it throws an exit status.
  init(
    _ options: LeakSearchOptions, snapshot: Int? = nil, among inspected: InspectedFiles = InspectedFiles()
  ) throws {
    self.snapshot = snapshot
    files = DebugFileSearch(debugPaths: options.debugPath, sysroot: options.sysroot).among(inspected)
    memoryLimit = options.memoryLimit
    ownModules = Set(options.own)
    suppressions = try Self.read(options.suppressions)
  }

  private static func read(_ paths: [String]) throws -> Suppressions {
    var patterns = Suppressions()
    for path in paths {
      guard let bytes = FileManager.default.contents(atPath: path) else {
        complain("cannot read the suppressions in \(path). Give a file of 'leak:PATTERN' lines.")
        throw ExitStatus.usage.code
      }
      do throws(SuppressionSyntaxError) {
        patterns.append(contentsOf: try Suppressions(parsing: String(decoding: bytes, as: UTF8.self), file: path))
      } catch {
        complain("\(error)")
        throw ExitStatus.usage.code
      }
    }
    return patterns
  }

  enum Detail {
    /// Allocations only, without findings.
    case allocations
    case findings
    /// Also the stacks of allocations and of references that were never released. This takes another pass over the
    /// events.
    case findingsWithStacks
    /// Also the analysis of the heap image, including all its memory: for a page.
    case page
  }

  /// Whether to keep the analysis of the heap image, including all its memory, in a detail that does not need it.
  enum HeapUse {
    case never, always
    /// Keep it for a trace whose images can be compared.
    case ofSeries
  }

  /// Searches a trace for leaks.
  func examine(
    _ path: String, _ detail: Detail = .findings, keepsHeap: HeapUse = .never
  ) throws(TraceFormatError) -> ExaminedTrace {
    let reader = try TraceReader(path: path, part: .withImage(snapshot))
    let chosen = detail == .allocations ? nil : SnapshotChoice.choose(reader, number: snapshot)
    var status = ExitStatus.success
    if chosen == nil, detail != .allocations, let number = snapshot {
      complain(SnapshotChoice.explanation(reader, number: number, path: path))
      status = .unreadable
    }
    let line = ReadingLine.show(reader, path: path)
    defer { line?.erase() }
    var trace = ReportTrace(path: path, analysis: AllocationAnalysis(reader, snapshot: chosen))
    line?.replace("looking for leaks")
    var heap: LeakAnalysis?
    var candidates: [SuspicionAccount]?
    var leaks = leaks(reader, &trace, chosen) {
      if explains { candidates = $0.suspicionAccounts() }
      if detail == .page || keepsHeap == .always || (keepsHeap == .ofSeries && Self.hasSeries(reader)) { heap = $0 }
    }
    leaks.candidates = candidates
    if detail == .findingsWithStacks || detail == .page {
      leaks.findStacks(reader, trace.analysis, naming: naming(trace))
    }
    if let refused = reader.refusedPass { trace.analysis.diagnostics.append(refused) }
    if !trace.analysis.diagnostics.isEmpty { status = .worst(status, .damaged) }
    return ExaminedTrace(reader: reader, trace: trace, leaks: leaks, status: status, heap: heap)
  }

  /// The page of a trace that was examined with `Detail.page`.
  func page(_ examined: ExaminedTrace) -> ProcessPage {
    var selection = ReportSelection()
    selection.limit = Self.shownSites
    selection.grouping = .function
    let profile = StackProfile(
      examined.trace.analysis, path: examined.trace.path, leaked: examined.leaks.leaked,
      frameLimit: examined.reader.limits.namedFrames, naming: naming(examined.trace))
    return ProcessPage(
      report: report([examined.trace], selection: selection), leaks: examined.leaks, profile: profile,
      timeline: RunTimeline(examined.reader, examined.trace.analysis), outline: examined.heap?.outline(),
      tasks: examined.heap?.tasks(),
      estimates: EstimatedSite.largest(
        examined.trace, limit: Self.shownEstimates, naming: naming(examined.trace)))
  }

  /// Limit of allocation sites in a page's data; its flame graph has all sites.
  private static let shownSites = 20
  /// Limit of estimated sites in a page: this number by live bytes, and this number by allocated bytes.
  private static let shownEstimates = 100

  /// Reads the allocations only.
  func allocations(_ path: String) throws(TraceFormatError) -> ReportTrace {
    let reader = try TraceReader(path: path, part: .withImage(nil))
    let line = ReadingLine.show(reader, path: path)
    defer { line?.erase() }
    return ReportTrace(path: path, analysis: AllocationAnalysis(reader, snapshot: nil))
  }

  /// Names for a trace's frames.
  func naming(_ trace: ReportTrace) -> Symbolicator {
    Symbolicator(of: [trace.analysis], search: files, openFiles: openFiles)
  }

  func report(_ traces: [ReportTrace], selection: ReportSelection) -> AllocationReport {
    AllocationReport(
      traces, selection: selection,
      naming: Symbolicator(of: traces.map(\.analysis), search: files, openFiles: openFiles))
  }

  private func leaks(
    _ reader: TraceReader, _ trace: inout ReportTrace, _ snapshot: TraceSnapshot?, inspect: (LeakAnalysis) -> Void
  ) -> LeakReport {
    SnapshotChoice.report(reader, snapshot, number: self.snapshot, path: trace.path) {
      LeakReport(
        reader, &trace.analysis, snapshot: $0, files: files, openFiles: openFiles,
        toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", memoryLimit: memoryLimit, ownModules: ownModules,
        suppressions: suppressions, inspect: inspect)
    }
  }
}
