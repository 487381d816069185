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

      Exit status: 0 done, 3 a trace could not be read, 4 done but a trace is damaged or incomplete, \
      5 the report could not be written, 64 wrong usage.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument { case text, json }

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

  @Option(help: ArgumentHelp("Hide findings that a 'leak:' pattern in this file matches, as LeakSanitizer does.", valueName: "file"))
  var suppressions: [String] = []

  @Option(help: "text or json.")
  var format: Format = .text

  @Flag(help: "Show every frame, with full names and paths.")
  var fullStacks = false

  @Flag(help: "Analyse all traces as one.")
  var together = false

  @Option(help: ArgumentHelp("Look for files with debug information here, too.", valueName: "directory"))
  var debugPath: [String] = []

  @Option(help: ArgumentHelp("Look for the program's files under this directory.", valueName: "directory"))
  var sysroot: String?

  @Option(help: ArgumentHelp("Columns of the text; that of the terminal, or 80, unless given.", valueName: "columns"))
  var width: Int?

  func validate() throws {
    if traces.isEmpty { throw ValidationError("Give a trace. 'leaktrace record -- COMMAND' makes one.") }
    if limit < 0 { throw ValidationError("--limit is a number of sites; 0 shows all.") }
    if together, snapshot != nil { throw ValidationError("--snapshot and --together do not go together.") }
    if let width, width < 40 { throw ValidationError("--width must be at least 40 columns.") }
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
    let patterns = try readSuppressions()
    let output = OutputBuffer()
    var reports: [AllocationReport] = []
    var leaks: [LeakReport?] = []
    var opened: [ReportTrace] = []
    for path in paths {
      do {
        let reader = try TraceReader(path: path)
        let snapshot = together ? nil : SnapshotChoice.choose(reader, number: snapshot)
        if snapshot == nil, let number = self.snapshot, !together {
          complain(SnapshotChoice.explanation(reader, number: number, path: path))
          status = .worst(status, .unreadable)
        }
        var trace = ReportTrace(path: path, analysis: AllocationAnalysis(reader, snapshot: snapshot))
        let leakReport = together ? nil : self.leaks(reader, &trace, snapshot, patterns)
        if !trace.analysis.diagnostics.isEmpty { status = .worst(status, .damaged) }
        if together {
          opened.append(trace)
        } else if format == .text {
          // One at a time: each is shown, and its memory given back, before the next is read.
          if paths.count > 1 { try write(TraceListing.line(trace) + "\n\n", to: output) }
          try write(AllocationText(style: style).text(report([trace]), leaks: leakReport), to: output)
        } else {
          leaks.append(leakReport)
          reports.append(report([trace]))
        }
      } catch let error as TraceFormatError {
        complain(explanation(of: error, path: path))
        status = .worst(status, .unreadable)
      }
      if output.isClosed { break }
    }
    if together, !opened.isEmpty {
      let report = report(opened)
      let none = LeakReport(unavailable: "each process has its own heap; analyse the traces without --together")
      if format == .text {
        try write(AllocationText(style: style).text(report, leaks: none), to: output)
      } else {
        reports.append(report)
        leaks.append(none)
      }
    }
    if format == .json { try write(AllocationJSON.text(reports, leaks: leaks), to: output) }
    try flush(output)
    if status != .success { throw status.code }
  }

  private func readSuppressions() throws -> Suppressions {
    var patterns = Suppressions()
    for path in suppressions {
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

  private func leaks(_ reader: TraceReader, _ trace: inout ReportTrace, _ snapshot: TraceSnapshot?, _ patterns: Suppressions) -> LeakReport {
    guard let snapshot else {
      return LeakReport(unavailable: SnapshotChoice.explanation(reader, number: self.snapshot, path: trace.path))
    }
    let search = DebugFileSearch(debugPaths: debugPath, sysroot: sysroot)
    let symbolicator = Symbolicator(images: trace.analysis.definitions.images.map(\.image), search: search)
    let toolPath = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let analysis = LeakAnalysis(reader, trace.analysis, snapshot: snapshot, search: search, toolPath: toolPath, naming: symbolicator)
    let atExpectations = LeakAnalysis.findingsAtExpectations(reader, trace.analysis) { snapshot in
      LeakAnalysis(
        reader, AllocationAnalysis(reader, snapshot: snapshot), snapshot: snapshot, search: search, toolPath: toolPath, naming: symbolicator)
    }
    for diagnostic in analysis.diagnostics.first { trace.analysis.diagnostics.append(diagnostic) }
    return LeakReport(analysis, suppressions: patterns, atExpectations: atExpectations)
  }

  private func report(_ traces: [ReportTrace]) -> AllocationReport {
    var selection = ReportSelection()
    selection.order = sort.order
    selection.limit = limit == 0 ? nil : limit
    selection.modules = module.map(NamePattern.init)
    selection.functions = function.map(NamePattern.init)
    selection.types = type.map(NamePattern.init)
    let images = traces.flatMap { $0.analysis.definitions.images.map(\.image) }
    let symbolicator = Symbolicator(images: images, search: DebugFileSearch(debugPaths: debugPath, sysroot: sysroot))
    return AllocationReport(traces, selection: selection, naming: symbolicator)
  }

  private var style: TextStyle {
    let terminal = TerminalOutput()
    return TextStyle(
      width: width ?? terminal.columns, emphasis: terminal.showsEmphasis ? .terminal : .none, stacks: fullStacks ? .full : .folded)
  }

  private func write(_ text: String, to output: OutputBuffer) throws {
    do { try output.write(text) } catch { try fail(error) }
  }

  private func flush(_ output: OutputBuffer) throws {
    do { try output.flush() } catch { try fail(error) }
  }

  private func fail(_ error: any Error) throws -> Never {
    if case OutputBuffer.Failure.write(let code) = error {
      complain("cannot write the report: \(String(cString: strerror(code)))")
    }
    throw ExitStatus.outputFailed.code
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
