// Options for showing a trace: for `analyze`, and for `inspect`, which first makes the trace.

import ArgumentParser
import TraceAnalysis

/// Options for a report about one or more traces.
struct AnalysisOptions: ParsableArguments {
  @Option(help: "Order of the allocation sites.")
  var sort: SortKey = .live

  @Option(
    help:
      "Number of allocation sites to show; 0 shows all (default: 3 in text, or 10 types of an inspection; 10 in other formats)."
  )
  var limit: Int?

  @Flag(help: "Show no allocation sites.")
  var noSites = false

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

  @Flag(help: "Show every frame with its full name and path.")
  var fullStacks = false

  @Flag(help: "List each call stack as an allocation site of its own.")
  var eachStack = false

  @Flag(help: "Also list weak suspicions.")
  var weak = false

  @Flag(help: "Also list every candidate for a suspicion, with the effects of the rules on it.")
  var explain = false

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 (all) or more.") }
    if limit != nil, noSites { throw ValidationError("--limit and --no-sites exclude each other.") }
  }

  var selection: ReportSelection {
    var selection = ReportSelection()
    selection.order = sort.order
    selection.limit = shown(of: Self.rows)
    selection.modules = module.map(NamePattern.init)
    selection.functions = function.map(NamePattern.init)
    selection.types = type.map(NamePattern.init)
    return selection
  }

  /// The selection for text. Sites are folded by function: with recursion, or with many callers, single stacks do not
  /// show where to start. `standard`: the number of sites to show by default.
  func textSelection(showing standard: Int) -> ReportSelection {
    var selection = selection
    selection.grouping = eachStack ? .stack : .function
    selection.limit = shown(of: standard)
    return selection
  }

  /// Default number of rows of tables, and of sites in a report that shows only sites.
  static let rows = 10
  /// Default number of sites after findings. A person reads the findings first, and each site has several lines.
  static let sitesBehindFindings = 3

  /// Returns the number of rows to show; nil for all. `standard`: the default number.
  func shown(of standard: Int) -> Int? { noSites ? 0 : limit == 0 ? nil : limit ?? standard }

  /// Number of rows in the table of growth between heap images. `--no-sites` does not change it.
  var shownGrowth: Int? { limit == 0 ? nil : limit ?? Self.rows }
}

/// A command that writes a report with `AnalysisOptions`. The option groups are separate properties: in one common
/// group, an unoptimised ArgumentParser would check each option 25 times.
protocol AnalyzingCommand: LeakSearchingCommand {
  var options: AnalysisOptions { get }
  var outputs: ReportOutputs { get }
  var gateOptions: GateOptions { get }
  var pathOptions: PathOptions { get }
  var layout: LayoutOptions { get }
}

extension AnalyzingCommand {
  /// - Parameter inputs: Files that the command reads, which no output may overwrite.
  func validate(besides inputs: [String]) throws {
    try outputs.validate(besides: [gateOptions.baseline] + inputs)
  }

  /// Shows each trace, judges it, and writes the requested outputs. Handles one trace at a time: frees a trace's memory
  /// before it reads the next one.
  func write(
    _ paths: [String], snapshot: Int?, among inspected: InspectedFiles = InspectedFiles(), _ status: inout ExitStatus
  ) throws {
    var search = try LeakSearch(self, snapshot: snapshot, among: inspected)
    search.explains = options.explain
    var gatekeeper = try Gatekeeper(gateOptions, subject: .analysis, standard: [])
    var writer = ReportWriter(outputs, style: style)
    var programs: [String] = []
    var remarks: [String] = []
    var unjudged: String?
    for path in paths {
      do {
        var examined = try search.examine(path, outputs.detail(fullStacks: options.fullStacks), keepsHeap: .ofSeries)
        let growth = try search.growth(before: &examined)
        if !outputs.has(.html) { examined.heap = nil }
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
        examined.leaks.listsWeak = options.weak
        try writer.text { style in
          (paths.count > 1 ? TraceListing.line(examined.trace) + "\n\n" : "")
            + AllocationText(style: style).text(
              search.report(
                [examined.trace],
                selection: options.textSelection(
                  showing: examined.reader.header.lacksHistory
                    ? AnalysisOptions.rows : AnalysisOptions.sitesBehindFindings)
              ),
              leaks: examined.leaks)
            + (growth.map {
              SeriesText(style: style, limit: options.shownGrowth).text(
                $0.process, $0.growth, leaks: nil)
            } ?? "")
        }
        writer.add(search.report([examined.trace], selection: options.selection), leaks: examined.leaks, growth: growth)
        if paths.count == 1, let growth { writer.set(growth) }
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
      // Without a reader of the text, go on only if gates need the other traces.
      if writer.isClosed, gatekeeper.gates.isEmpty { break }
    }
    let (gates, outcome) = gatekeeper.close(
      status == .success ? .whole : .partial("part of the recording could not be read"), unjudged: unjudged)
    status = .worst(status, outcome)
    try writer.finish(
      program: programs.joined(separator: ", "), judged: gatekeeper.judged, gates: gates, remarks: remarks,
      unjudged: unjudged)
  }

  var style: TextStyle {
    layout.style(stacks: options.fullStacks ? .full : .folded, paths: pathOptions.style)
  }
}

/// Orders of allocation sites, under their names on the command line.
enum SortKey: String, CaseIterable, ChosenWord {
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
