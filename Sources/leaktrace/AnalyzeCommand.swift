// `leaktrace analyze`: allocation sites of traces.

import ArgumentParser
import Foundation
import TraceAnalysis

struct AnalyzeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "analyze",
    abstract: "Show where a traced program allocated, and what is live.",
    discussion: """
      Several traces, or a directory of them, are listed and analysed each, or as one with --together. What is live at \
      exit is not necessarily leaked: caches and globals live on by design.

      --fail-on takes leaks (any that is proven), new-leaks (that the baseline does not accept), worse (accepted ones that have become more), \
      suspects and new-suspects (what is suspected and not proven), retained:SIZE and growth; each but retained may have a threshold after a colon: leaks:3, worse:10%. See docs/ci.md.

      Exit status: 0 done, 1 a gate failed, 3 a trace could not be read or has no heap image for a gate, 4 done but a trace is damaged \
      or incomplete, 5 the report could not be written, 64 wrong usage. Of several the last of 1, 4, 3, 64, 5.
      """)

  @Argument(help: ArgumentHelp("Traces, or directories of traces.", valueName: "trace"))
  var traces: [String]

  @Option(help: "Order of the sites: live, peak, total, temporary, objects or retains.")
  var sort: SortKey = .live

  @Option(help: "How many sites to show; 0 for all.")
  var limit: Int = 10

  @Option(help: ArgumentHelp("Only sites with a frame in this image or Swift module: part of a name, or a glob.", valueName: "pattern"))
  var module: [String] = []

  @Option(help: ArgumentHelp("Only sites with this function in their stack: part of a name, or a glob.", valueName: "pattern"))
  var function: [String] = []

  @Option(help: ArgumentHelp("Only sites of this type, or allocating function: part of a name, or a glob.", valueName: "pattern"))
  var type: [String] = []

  @Option(help: "Number of the heap image to look for leaks in; the last one unless given.")
  var snapshot: Int?

  @OptionGroup var outputs: ReportOutputs

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @Flag(help: "Show every frame, with full names and paths.")
  var fullStacks = false

  @Flag(help: "List weak suspicions, too.")
  var weak = false

  @Flag(help: "Analyse all traces as one.")
  var together = false

  @OptionGroup var searchOptions: LeakSearchOptions

  @Option(help: ArgumentHelp("Columns of the text; that of the terminal, or 80, unless given.", valueName: "columns"))
  var width: Int?

  func validate() throws {
    if traces.isEmpty { throw ValidationError("Give a trace. 'leaktrace record -- COMMAND' makes one.") }
    if limit < 0 { throw ValidationError("--limit is a number of sites; 0 shows all.") }
    if together, snapshot != nil { throw ValidationError("--snapshot and --together do not go together.") }
    if together, !gateOptions.failOn.isEmpty || gateOptions.baseline != nil {
      throw ValidationError("Gates judge each process's own leaks; they do not go with --together.")
    }
    if together, ReportFormat.allCases.contains(where: { outputs.has($0) && $0 != .text && $0 != .json }) {
      throw ValidationError("With --together there are no findings to report: the formats are text and json.")
    }
    if let width, width < 40 { throw ValidationError("--width must be at least 40 columns.") }
    try outputs.validate(besides: [gateOptions.baseline] + traces)
  }

  func run() throws {
    var status = ExitStatus.success
    var paths: [String] = []
    for path in traces {
      do {
        paths += try TraceListing.traces(at: path)
      } catch {
        complain(explanation(of: error, path: path))
        status = .worst(status, .unreadable)
      }
    }
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
    _ paths: [String], _ search: LeakSearch, _ gatekeeper: inout Gatekeeper, _ writer: inout ReportWriter, _ status: inout ExitStatus
  ) throws {
    var programs: [String] = []
    var remarks: [String] = []
    var unjudged: String?
    for path in paths {
      do {
        var examined = try search.examine(path)
        status = .worst(status, examined.status)
        if let reason = examined.leaks.unavailable, gatekeeper.needsFindings, examined.reader.closing?.reason != .exec {
          complain("gates cannot be judged: \(reason)")
          unjudged = unjudged ?? reason
          status = .worst(status, .unreadable)
        }
        if examined.status == .damaged, gatekeeper.needsFindings { unjudged = unjudged ?? "\(path) is damaged, and leaks may be missing or false" }
        gatekeeper.admit(&examined.leaks)
        examined.leaks.listsWeak = weak
        let report = search.report([examined.trace], selection: selection)
        try writer.text { style in
          (paths.count > 1 ? TraceListing.line(examined.trace) + "\n\n" : "") + AllocationText(style: style).text(report, leaks: examined.leaks)
        }
        writer.add(report, leaks: examined.leaks)
        let program = examined.trace.program.split(separator: "/").last.map(String.init) ?? examined.trace.program
        if !programs.contains(program) { programs.append(program) }
        if let reason = examined.leaks.unavailable { remarks.append("leaks were not looked for: \(reason)") }
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
    let (gates, outcome) = gatekeeper.close(gap: status == .success ? nil : "not everything that was recorded could be read", unjudged: unjudged)
    status = .worst(status, outcome)
    try writer.finish(program: programs.joined(separator: ", "), judged: gatekeeper.judged, gates: gates, remarks: remarks)
  }

  private func writeTogether(_ paths: [String], _ search: LeakSearch, _ writer: inout ReportWriter, _ status: inout ExitStatus) throws {
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
      let report = search.report(opened, selection: selection)
      let none = LeakReport(unavailable: "each process has its own heap; analyse the traces without --together")
      try writer.text { AllocationText(style: $0).text(report, leaks: none) }
      writer.add(report, leaks: none)
    }
    try writer.finish(program: "", judged: [], gates: GateReport(outcomes: []), remarks: [])
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
    let terminal = TerminalOutput()
    return TextStyle(
      width: width ?? terminal.columns, emphasis: terminal.showsEmphasis ? .terminal : .none, stacks: fullStacks ? .full : .folded)
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
