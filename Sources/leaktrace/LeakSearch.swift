// Examines one trace for its allocations and its leaks.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

/// The option that hides findings.
struct SuppressionsOption: ParsableArguments {
  @Option(
    name: .customLong("suppressions"),
    help: ArgumentHelp(
      "Hide findings that match a 'leak:' pattern in this file (LeakSanitizer's syntax).", valueName: "file"),
    completion: .file())
  var files: [String] = []
}

/// A command that searches for leaks: where to find files, and which findings to hide. The option groups are separate
/// properties: an unoptimised ArgumentParser checks a nested group several times.
protocol LeakSearchingCommand: ParsableCommand {
  var suppressions: SuppressionsOption { get }
  var debugFiles: DebugFileOptions { get }
  var ownModules: OwnModulesOption { get }
  var reading: ReadingOptions { get }
}

/// A trace with everything that a report needs from it.
struct ExaminedTrace {
  var reader: TraceReader
  var trace: ReportTrace
  var leaks: LeakReport
  /// `damaged` or `refused`, or `unreadable` if the trace lacks the requested heap image.
  var status: ExitStatus
  /// The analysis of the heap image, if the caller wants to keep it.
  var heap: LeakAnalysis?
}

/// Searches traces for leaks, one after another, with the same options.
struct LeakSearch {
  /// Number of the heap image to search; nil for the default image.
  var snapshot: Int?
  /// True if reports list every candidate for a suspicion, with the effects of the rules on it.
  var explains = false
  private let suppressions: Suppressions
  private let files: DebugFileSearch
  private let openFiles = OpenImageFiles()
  let policy: ReadingPolicy
  private let ownModules: Set<String>

  /// Prints the reason before it throws an exit status.
  init(
    _ command: some LeakSearchingCommand, snapshot: Int? = nil, among inspected: InspectedFiles = InspectedFiles()
  ) throws {
    self.snapshot = snapshot
    files = command.debugFiles.search.among(inspected)
    policy = command.reading.policy
    ownModules = command.ownModules.modules
    suppressions = try Self.read(command.suppressions.files)
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
    /// Only allocations, without findings.
    case allocations
    case findings
    /// Also the stacks of allocations and of references that were never released. This takes another pass over the
    /// events.
    case findingsWithStacks
    /// Also the heap analysis, with all its memory: needed for a page.
    case page
  }

  /// Whether to keep the heap analysis, with all its memory, if the detail does not need it.
  enum HeapUse {
    case never, always
    /// Keep the analysis if the trace has a series of images to compare.
    case ofSeries
  }

  /// Searches a trace for leaks.
  func examine(
    _ path: String, _ detail: Detail = .findings, keepsHeap: HeapUse = .never
  ) throws(TraceFormatError) -> ExaminedTrace {
    let reader = try TraceReader(path: path, part: .withImage(snapshot), policy: policy)
    let chosen = detail == .allocations ? nil : SnapshotChoice.choose(reader, number: snapshot)
    var status = ExitStatus.success
    if chosen == nil, detail != .allocations, let number = snapshot {
      complain(SnapshotChoice.explanation(reader, number: number, path: path))
      status = .unreadable
    }
    let line = ReadingLine.show(reader, path: path)
    defer { line?.erase() }
    var trace = ReportTrace(
      path: path, analysis: ReadingInterrupt.watch { AllocationAnalysis(reader, snapshot: chosen) })
    line?.replace("looking for leaks")
    var heap: LeakAnalysis?
    var leaks = leaks(reader, &trace, chosen) {
      if detail == .page || keepsHeap == .always || (keepsHeap == .ofSeries && Self.hasSeries(reader)) { heap = $0 }
    }
    if detail == .findingsWithStacks || detail == .page {
      leaks.findStacks(reader, trace.analysis, naming: naming(trace))
    }
    if let refused = reader.refusedPass { trace.analysis.diagnostics.append(refused) }
    status = .worst(status, ExitStatus(trace.analysis.diagnostics))
    return ExaminedTrace(reader: reader, trace: trace, leaks: leaks, status: status, heap: heap)
  }

  /// Returns the page of a trace that was examined with `Detail.page`.
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
      tasks: examined.heap?.taskInventory(),
      estimates: EstimatedSite.largest(
        examined.trace, limit: Self.shownEstimates, naming: naming(examined.trace)))
  }

  /// Maximum number of allocation sites in a page's data. The page's flame graph has all sites.
  private static let shownSites = 20
  /// Maximum number of estimated sites in a page, once by live bytes and once by allocated bytes.
  private static let shownEstimates = 100

  /// Reads only the allocations of a trace.
  func allocations(_ path: String) throws(TraceFormatError) -> ReportTrace {
    let reader = try TraceReader(path: path, part: .withImage(nil), policy: policy)
    let line = ReadingLine.show(reader, path: path)
    defer { line?.erase() }
    return ReportTrace(path: path, analysis: ReadingInterrupt.watch { AllocationAnalysis(reader, snapshot: nil) })
  }

  /// Returns the names for a trace's frames.
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
        toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", ownModules: ownModules,
        suppressions: suppressions, explains: explains, inspect: inspect)
    }
  }
}
