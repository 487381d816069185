// A trace in the public API, for other packages: opened, replayed, searched for leaks, and rendered.

import AllocationReports
import HeapAnalysis
import LeakGates
import TextWriting
import TraceReading
import TraceReports
import TraceSymbolication

/// The allocations and the leaks of one recorded process.
///
///     let trace = try AnalyzedTrace(path: "server.trace")
///     for finding in trace.findings where finding.isProven && !finding.isLibrary { print(finding.title) }
///     try Data(trace.json().utf8).write(to: report)
///
/// A value with numbers and names. After the initializer, nothing more is read from the file.
public struct AnalyzedTrace: Sendable {
  private let report: AllocationReport
  private let leaks: LeakReport

  /// Reads a trace, replays it, and looks for leaks in its last whole heap image.
  ///
  /// Takes several passes over the events, each O(events · log threads), and memory in proportion to the maximum number
  /// of live blocks. Skips damage if possible, and reports it in `remarks`. Blocks the calling thread.
  ///
  /// - Throws: `UnreadableTrace` if the file cannot be read as a trace at all.
  public init(path: String, options: AnalysisOptions = AnalysisOptions()) throws(UnreadableTrace) {
    do throws(TraceFormatError) {
      let reader = try TraceReader(path: path, part: .withImage(nil))
      let files = DebugFileSearch(debugPaths: options.debugPaths, sysroot: options.sysroot)
      let openFiles = OpenImageFiles()
      let snapshot = SnapshotChoice.choose(reader, number: nil)
      var trace = ReportTrace(path: path, analysis: AllocationAnalysis(reader, snapshot: snapshot))
      leaks = SnapshotChoice.report(reader, snapshot, number: nil, path: path) {
        LeakReport(
          reader, &trace.analysis, snapshot: $0, files: files, openFiles: openFiles, toolPath: options.toolPath,
          ownModules: options.ownModules)
      }
      if let refused = reader.refusedPass { trace.analysis.diagnostics.append(refused) }
      var selection = ReportSelection()
      selection.limit = options.siteLimit
      report = AllocationReport(
        [trace], selection: selection, naming: Symbolicator(of: [trace.analysis], search: files, openFiles: openFiles))
    } catch {
      throw UnreadableTrace(path: path, reason: error.explanation(path: path))
    }
  }

  /// The findings: the program's first, then the libraries'. Each part is sorted by retained bytes, largest first.
  public var findings: [LeakFinding] { leaks.findings.map { LeakFinding($0) } }

  /// Why the trace could not be searched for leaks, in a sentence; then there are no findings. Nil if it was searched.
  public var leaksUnavailable: String? { leaks.unavailable }

  /// Sentences about what makes the findings less certain, such as missing events.
  public var remarks: [String] { leaks.remarks }

  /// The allocation sites with the most live bytes at the end of the recording, at most `AnalysisOptions.siteLimit`.
  public var allocationSites: [AllocationSiteSummary] { report.sites.map { AllocationSiteSummary($0) } }

  /// The sums over all allocations of the process.
  public var total: AllocationTotal { AllocationTotal(report.total) }

  /// Returns the report for people, as `leaktrace analyze` prints it. `width`: the line width in columns.
  public func text(width: Int = 100) -> String {
    AllocationText(style: TextStyle(width: width)).text(report, leaks: leaks)
  }

  /// Returns the report as JSON. docs/report-schema.md describes its fields.
  public func json() -> String { AllocationJSON.text([report], leaks: [leaks]) }
}

/// A file that cannot be read as a trace.
public struct UnreadableTrace: Error, Hashable, Sendable, CustomStringConvertible {
  public let path: String
  /// The problem and the next step, in one or two sentences that name the file.
  public let reason: String

  public var description: String { reason }
}
