// `leaktrace analyze`: allocation sites of traces.

import ArgumentParser
import Foundation
import TraceAnalysis

struct AnalyzeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "analyze",
    abstract: "Report a traced program's leaks and allocation sites.",
    discussion: """
      Given several traces, or a directory of them, lists them and analyzes each one; --together analyzes them as one. Memory that \
      is live at exit is not necessarily leaked: caches and globals live on by design.

      --fail-on accepts leaks (proven ones), new-leaks (proven, and not in the baseline), worse (more instances than the baseline accepts), \
      suspects, new-suspects, retained:SIZE and growth. All but retained take an optional threshold: leaks:3, worse:10%. See docs/ci.md.

      Exit status: 0 success, 1 a gate failed, 3 a trace is unreadable or has no heap image for a gate, 4 success, but a trace is damaged \
      or incomplete, 5 the report could not be written, 64 wrong usage. If several apply, the one latest in the order 1, 4, 3, 64, 5 wins.
      """)

  @Argument(help: ArgumentHelp("Traces, or directories of traces.", valueName: "trace"))
  var traces: [String]

  @Option(help: "Order of the allocation sites.")
  var sort: SortKey = .live

  @Option(help: "Number of allocation sites to show; 0 shows all.")
  var limit: Int = 10

  @Option(
    help: ArgumentHelp(
      "Only show sites with a frame in this image or Swift module: part of the name, or a glob.", valueName: "pattern"))
  var module: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only show sites with this function in their stack: part of the name, or a glob.", valueName: "pattern"))
  var function: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only show sites of this type or allocating function: part of the name, or a glob.", valueName: "pattern"))
  var type: [String] = []

  @Option(help: "Heap image to look for leaks in, by number (default: the last one).")
  var snapshot: Int?

  @OptionGroup var outputs: ReportOutputs

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @Flag(help: "Show every frame with its full name and path.")
  var fullStacks = false

  @Flag(help: "List each call stack as an allocation site of its own.")
  var eachStack = false

  @OptionGroup var pathOptions: PathOptions

  @Flag(help: "Also list weak suspicions.")
  var weak = false

  @Flag(help: "Analyze all traces as one.")
  var together = false

  @OptionGroup var searchOptions: LeakSearchOptions

  @OptionGroup var layout: WidthOption

  func validate() throws {
    if traces.isEmpty { throw ValidationError("Give a trace. 'leaktrace record -- COMMAND' makes one.") }
    if limit < 0 { throw ValidationError("--limit must be 0 (all) or more.") }
    if together, snapshot != nil { throw ValidationError("--snapshot and --together exclude each other.") }
    if together, !gateOptions.failOn.isEmpty || gateOptions.baseline != nil {
      throw ValidationError("Gates judge each process by itself and exclude --together.")
    }
    if together, ReportFormat.allCases.contains(where: { outputs.has($0) && $0 != .text && $0 != .json }) {
      throw ValidationError("--together reports no findings, so the format must be text or json.")
    }
    try outputs.validate(besides: [gateOptions.baseline] + traces)
  }

  func run() throws {
    var (paths, status) = TraceListing.all(traces)
    let search = try LeakSearch(searchOptions, snapshot: snapshot)
    var gatekeeper = try Gatekeeper(gateOptions, subject: .analysis, standard: [])
    var writer = ReportWriter(outputs, style: style)
    if paths.isEmpty, status != .success { throw status.code }
    if together {
      try writeTogether(paths, search, &writer, &status)
    } else {
      try writeEach(paths, search, &gatekeeper, &writer, &status)
    }
    if status != .success { throw status.code }
  }

  /// One at a time: each is shown, and its memory given back, before the next is read.
  private func writeEach(
    _ paths: [String], _ search: LeakSearch, _ gatekeeper: inout Gatekeeper, _ writer: inout ReportWriter,
    _ status: inout ExitStatus
  ) throws {
    var programs: [String] = []
    var remarks: [String] = []
    var unjudged: String?
    for path in paths {
      do {
        var examined = try search.examine(path, outputs.detail(fullStacks: fullStacks))
        status = .worst(status, examined.status)
        if let reason = examined.leaks.unavailable, gatekeeper.needsFindings, examined.reader.closing?.reason != .exec {
          complain("gates cannot be judged: \(reason)")
          unjudged = unjudged ?? reason
          status = .worst(status, .unreadable)
        }
        if examined.status == .damaged, gatekeeper.needsFindings {
          unjudged = unjudged ?? "\(path) is damaged: leaks may be missing or false"
        }
        gatekeeper.admit(&examined.leaks)
        examined.leaks.listsWeak = weak
        try writer.text { style in
          (paths.count > 1 ? TraceListing.line(examined.trace) + "\n\n" : "")
            + AllocationText(style: style).text(
              search.report([examined.trace], selection: textSelection), leaks: examined.leaks)
        }
        writer.add(search.report([examined.trace], selection: selection), leaks: examined.leaks)
        writer.add(search.page(examined))
        let program = examined.trace.program.split(separator: "/").last.map(String.init) ?? examined.trace.program
        if !programs.contains(program) { programs.append(program) }
        if let reason = examined.leaks.unavailable { remarks.append("leaks were not checked: \(reason)") }
        remarks += examined.leaks.remarks
      } catch let error as TraceFormatError {
        complain(explanation(of: error, path: path))
        status = .worst(status, .unreadable)
        remarks.append(explanation(of: error, path: path))
        unjudged = unjudged ?? explanation(of: error, path: path)
      }
      // Gates want to see the rest.
      if writer.isClosed, gatekeeper.gates.isEmpty { break }
    }
    let (gates, outcome) = gatekeeper.close(
      status == .success ? .whole : .partial("part of the recording could not be read"), unjudged: unjudged)
    status = .worst(status, outcome)
    try writer.finish(
      program: programs.joined(separator: ", "), judged: gatekeeper.judged, gates: gates, remarks: remarks)
  }

  private func writeTogether(
    _ paths: [String], _ search: LeakSearch, _ writer: inout ReportWriter, _ status: inout ExitStatus
  ) throws {
    var opened: [ReportTrace] = []
    for path in paths {
      do {
        let trace = try search.allocations(path)
        if !trace.analysis.diagnostics.isEmpty { status = .worst(status, .damaged) }
        opened.append(trace)
      } catch {
        complain(explanation(of: error, path: path))
        status = .worst(status, .unreadable)
      }
    }
    if !opened.isEmpty {
      let none = LeakReport(unavailable: "each process has its own heap; analyze the traces without --together")
      try writer.text { AllocationText(style: $0).text(search.report(opened, selection: textSelection), leaks: none) }
      writer.add(search.report(opened, selection: selection), leaks: none)
    }
    try writer.finish(program: "", judged: [], gates: GateReport(outcomes: []), remarks: [])
  }

  /// People want to see where to look; each stack by itself hides that in recursion and in functions that many call.
  private var textSelection: ReportSelection {
    var selection = selection
    selection.grouping = eachStack ? .stack : .function
    return selection
  }

  private var selection: ReportSelection {
    var selection = ReportSelection()
    selection.order = sort.order
    selection.limit = limit == 0 ? nil : limit
    selection.modules = module.map(NamePattern.init)
    selection.functions = function.map(NamePattern.init)
    selection.types = type.map(NamePattern.init)
    return selection
  }

  private var style: TextStyle {
    layout.style(stacks: fullStacks ? .full : .folded, paths: pathOptions.style)
  }
}

/// The names of the orders on the command line.
enum SortKey: String, CaseIterable, ExpressibleByArgument {
  case live, peak, total, temporary, objects, retains

  var order: ReportSelection.Order {
    switch self {
    case .live: .live
    case .peak: .peak
    case .total: .total
    case .temporary: .temporary
    case .objects: .objects
    case .retains: .retains
    }
  }
}
