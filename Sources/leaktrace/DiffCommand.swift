// `leaktrace diff`: what changed between two builds.

import ArgumentParser
import Foundation
import TraceAnalysis

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two builds of a program: leaks, allocations, retains and releases.",
    usage: """
      leaktrace diff [options] OLD NEW
      leaktrace diff [options] --old TRACE --old TRACE … --new TRACE --new TRACE …
      """,
    discussion: """
      Nothing is compared by address or line: findings and allocation sites are the same if they are so by types, fields and functions. What is \
      matched by likeness, or under another name, is marked.

      A run is a trace, or a directory with the traces of a run's processes, which are added up. Several runs a side show what differs by chance, \
      and only what lies beyond that is reported. With one run a side a change has to exceed --tolerance.

      Exit status: 0 nothing that --fail-on names, 1 something, 3 a trace could not be read or compared, 4 done but a trace is damaged or \
      incomplete, 5 the report could not be written, 64 wrong usage.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument { case text, json, markdown }

  @Argument(help: ArgumentHelp("The old run and the new one.", valueName: "run"))
  var runs: [String] = []

  @Option(name: .customLong("old"), help: ArgumentHelp("A run of the old build; may be given several times.", valueName: "run"))
  var oldRuns: [String] = []

  @Option(name: .customLong("new"), help: ArgumentHelp("A run of the new build; may be given several times.", valueName: "run"))
  var newRuns: [String] = []

  @Option(help: ArgumentHelp("Relate figures to the amount of work: 'scope:NAME', runs of one of the program's scopes, or 'events'.", valueName: "unit"))
  var per: WorkUnit?

  @Option(help: ArgumentHelp("Part of an old value that a change has to exceed; 0 shows every difference.", valueName: "percent"))
  var tolerance: Percentage = Percentage(value: 0.05)

  @Option(help: "How many types and sites to show; 0 for all.")
  var limit: Int = 10

  @Option(help: "text, json or markdown.")
  var format: Format = .text

  @Flag(help: "Show every function of a site.")
  var fullStacks = false

  @Option(help: ArgumentHelp("Hide findings that a 'leak:' pattern in this file matches, as LeakSanitizer does.", valueName: "file"))
  var suppressions: [String] = []

  @Option(help: ArgumentHelp("Look for files with debug information here, too.", valueName: "directory"))
  var debugPath: [String] = []

  @Option(help: ArgumentHelp("Look for the program's files under this directory.", valueName: "directory"))
  var sysroot: String?

  @Option(help: ArgumentHelp("Columns of the text; that of the terminal, or 80, unless given.", valueName: "columns"))
  var width: Int?

  func validate() throws {
    if runs.isEmpty, !oldRuns.isEmpty, !newRuns.isEmpty { return try validateNumbers() }
    if !runs.isEmpty, !oldRuns.isEmpty || !newRuns.isEmpty { throw ValidationError("Give OLD NEW, or --old and --new; not both.") }
    if runs.count != 2 { throw ValidationError("Give the old run and the new one, or several with --old and --new.") }
    try validateNumbers()
  }

  private func validateNumbers() throws {
    if limit < 0 { throw ValidationError("--limit is a number of types and sites; 0 shows all.") }
    if let width, width < 40 { throw ValidationError("--width must be at least 40 columns.") }
  }

  func run() throws {
    var status = ExitStatus.success
    let old = try digests(runs.isEmpty ? oldRuns : [runs[0]], &status)
    let new = try digests(runs.isEmpty ? newRuns : [runs[1]], &status)
    let report: DiffReport
    do throws(RunComparison.Failure) {
      report = try RunComparison.report(old: old, new: new, unit: per?.unit ?? .run, tolerance: tolerance.value)
    } catch {
      switch error {
      case .scopeMissing(let name, let path, let known):
        let has = known.isEmpty ? "it has none" : "it has \(known.map { "'\($0)'" }.joined(separator: ", "))"
        complain("\(path) has no finished run of a scope '\(name)'; \(has). Mark one with LeakTrace.scope(\"\(name)\"), or use --per events.")
      }
      throw ExitStatus.unreadable.code
    }
    let text: String
    switch format {
    case .text:
      let terminal = TerminalOutput()
      let style = TextStyle(
        width: width ?? terminal.columns, emphasis: terminal.showsEmphasis ? .terminal : .none, stacks: fullStacks ? .full : .folded)
      text = DiffText(style: style, limit: limit == 0 ? nil : limit).text(report)
    case .json, .markdown: text = ""
    }
    try ObjectQuestion.show(text, called: "the report")
    if status != .success { throw status.code }
  }

  private func digests(_ paths: [String], _ status: inout ExitStatus) throws -> [RunDigest] {
    try paths.map { path in
      var digest: RunDigest?
      do {
        for trace in try TraceListing.traces(at: path) {
          let next = try self.digest(trace, &status)
          if digest == nil { digest = next } else { digest!.add(next) }
        }
      } catch {
        complain(explanation(of: error, path: path))
        throw ExitStatus.unreadable.code
      }
      digest!.path = path
      return digest!
    }
  }

  private func digest(_ path: String, _ status: inout ExitStatus) throws -> RunDigest {
    let reader = try TraceReader(path: path)
    let snapshot = SnapshotChoice.choose(reader, number: nil)
    let trace = ReportTrace(path: path, analysis: AllocationAnalysis(reader, snapshot: snapshot))
    let search = DebugFileSearch(debugPaths: debugPath, sysroot: sysroot)
    let symbolicator = Symbolicator(images: trace.analysis.definitions.images.map(\.image), search: search)
    let leaks: LeakReport
    if let snapshot {
      let analysis = LeakAnalysis(
        reader, trace.analysis, snapshot: snapshot, search: search, toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", naming: symbolicator)
      leaks = LeakReport(analysis)
    } else {
      leaks = LeakReport(unavailable: SnapshotChoice.explanation(reader, number: nil, path: path))
    }
    if !trace.analysis.diagnostics.isEmpty { status = .worst(status, .damaged) }
    return RunDigest(trace, leaks: leaks, naming: symbolicator)
  }
}

/// `scope:NAME` or `events`.
struct WorkUnit: ExpressibleByArgument {
  var unit: DiffReport.Unit

  init?(argument: String) {
    if argument == "events" {
      unit = .events
    } else if argument.hasPrefix("scope:"), argument.count > 6 {
      unit = .scope(String(argument.dropFirst(6)))
    } else {
      return nil
    }
  }
}

/// `5` or `5%`.
struct Percentage: ExpressibleByArgument, CustomStringConvertible {
  /// 0.05 for 5 %.
  var value: Double

  init(value: Double) { self.value = value }

  init?(argument: String) {
    let digits = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
    guard let percent = Double(digits), percent >= 0, percent.isFinite else { return nil }
    value = percent / 100
  }

  var description: String { "\(value * 100)%" }
}
