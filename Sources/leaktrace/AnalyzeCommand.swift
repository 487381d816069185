// `leaktrace analyze`: allocation sites of traces.

import ArgumentParser
import Glibc
import TraceAnalysis

struct AnalyzeCommand: AnalyzingCommand {
  static let configuration = CommandConfiguration(
    commandName: "analyze",
    abstract: "Report a traced program's leaks and allocation sites.",
    discussion: """
      Given several traces, or a directory of them, lists them and analyzes each one; --together analyzes them as one. Memory that \
      is live at exit is not necessarily leaked: caches and globals live on by design.

      --fail-on accepts leaks (proven ones), new-leaks (proven, and not in the baseline), worse (more instances than the baseline accepts), \
      suspects, new-suspects, retained:SIZE and growth. All but retained take an optional threshold: leaks:3, worse:10%. See docs/ci.md.

      Exit status: 0 success, 1 a gate failed, 3 a trace is unreadable or has no heap image for a gate, 4 success, but a trace is damaged \
      or incomplete, 5 the report could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage. If several apply, \
      the one latest in the order 1, 4, 6, 3, 64, 5 wins.
      """)

  @Argument(help: ArgumentHelp("Traces, or directories of traces.", valueName: "trace"), completion: .file())
  var traces: [String]

  @OptionGroup var image: SearchedImageOption

  @Flag(help: "Analyze all traces as one.")
  var together = false

  @OptionGroup var options: AnalysisOptions

  @OptionGroup var outputs: ReportOutputs

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @OptionGroup var pathOptions: PathOptions

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    if traces.isEmpty { throw ValidationError("Give a trace. 'leaktrace record -- COMMAND' makes one.") }
    if together, image.snapshot != nil { throw ValidationError("--snapshot and --together exclude each other.") }
    if together, !gateOptions.failOn.isEmpty || gateOptions.baseline != nil {
      throw ValidationError("Gates judge each process by itself and exclude --together.")
    }
    if together, ReportFormat.allCases.contains(where: { outputs.has($0) && $0 != .text && $0 != .json }) {
      throw ValidationError("--together reports no findings, so the format must be text or json.")
    }
    try validate(besides: traces)
  }

  func run() throws {
    var (paths, status) = TraceListing.all(traces)
    if paths.isEmpty, status != .success { throw status.code }
    if together {
      try writeTogether(paths, &status)
    } else {
      try write(paths, snapshot: image.snapshot, &status)
    }
    if status != .success { throw status.code }
  }

  private func writeTogether(_ paths: [String], _ status: inout ExitStatus) throws {
    let search = try LeakSearch(self, snapshot: nil)
    var writer = ReportWriter(outputs, style: style)
    var opened: [ReportTrace] = []
    for path in paths {
      do {
        let trace = try search.allocations(path)
        status = .worst(status, ExitStatus(trace.analysis.diagnostics))
        opened.append(trace)
      } catch {
        complain(explanation(of: error, path: path))
        status = .worst(status, .unreadable)
      }
    }
    if !opened.isEmpty {
      let none = LeakReport(unavailable: "each process has its own heap; analyze the traces without --together")
      try writer.text {
        AllocationText(style: $0).text(
          search.report(opened, selection: options.textSelection(showing: AnalysisOptions.rows)), leaks: none)
      }
      writer.add(search.report(opened, selection: options.selection), leaks: none)
    }
    try writer.finish(program: "", judged: [], gates: GateReport(outcomes: []), remarks: [])
  }
}
