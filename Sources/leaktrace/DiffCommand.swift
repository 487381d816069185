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

      A run is a trace, a directory with the traces of a run's processes, which are added up, or a digest ('leaktrace digest'). Several runs a side show what differs by chance, \
      and only what lies beyond that is reported. With one run a side a change has to exceed a tolerance.

      --fail-on is new-leaks,worse,new-suspects unless told otherwise; it takes also leaks, suspects, growth (of live bytes at exit), peak, allocations, temporary, retains \
      and regressions (any of these figures of the whole program), each with a threshold if wanted: retains:10%. See docs/ci.md.

      Exit status: 0 no gate failed, 1 one did, 3 a trace could not be read or compared, 4 done but a trace is damaged or incomplete, 5 the report \
      could not be written, 64 wrong usage. Of several the last of 1, 4, 3, 64, 5.
      """)

  @Argument(help: ArgumentHelp("The old run and the new one.", valueName: "run"))
  var runs: [String] = []

  @Option(name: .customLong("old"), help: ArgumentHelp("A run of the old build; may be given several times.", valueName: "run"))
  var oldRuns: [String] = []

  @Option(name: .customLong("new"), help: ArgumentHelp("A run of the new build; may be given several times.", valueName: "run"))
  var newRuns: [String] = []

  @Option(help: ArgumentHelp("Relate figures to the amount of work: 'scope:NAME', runs of one of the program's scopes, or 'events'.", valueName: "unit"))
  var per: WorkUnit?

  @Option(help: ArgumentHelp(
    "Part of an old value that a change has to exceed; 0 shows every difference. 5 % unless given, and more where one run a side of a threaded program says little.",
    valueName: "percent"))
  var tolerance: Percentage?

  @Option(help: "How many types and sites to show; 0 for all.")
  var limit: Int = 10

  @OptionGroup var outputs: ReportOutputs

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @Flag(help: "Show every function of a site.")
  var fullStacks = false

  @OptionGroup var searchOptions: LeakSearchOptions

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
    try outputs.validate(besides: [gateOptions.baseline] + runs + oldRuns + newRuns)
    for side in [oldRuns, newRuns] where Set(side.map(ReportOutputs.place)).count < side.count {
      throw ValidationError("A run stands twice on one side: it says nothing of chance.")
    }
    if gateOptions.updateBaseline { throw ValidationError("A baseline is of one build: write it with 'leaktrace analyze NEW --baseline FILE --update-baseline'.") }
  }

  func run() throws {
    let gatekeeper = try Gatekeeper(gateOptions, subject: .comparison, standard: ["new-leaks", "worse", "new-suspects"])
    var digests = RunDigests(try LeakSearch(searchOptions))
    let old = try (runs.isEmpty ? oldRuns : [runs[0]]).map { try digests.digest(ofRun: $0) }
    let new = try (runs.isEmpty ? newRuns : [runs[1]]).map { try digests.digest(ofRun: $0) }
    var report: DiffReport
    do throws(RunComparison.Failure) {
      report = try RunComparison.report(old: old, new: new, unit: per?.unit ?? .run, tolerance: tolerance.map { FigureTolerance(part: $0.value) })
    } catch {
      switch error {
      case .scopeMissing(let name, let path, let known):
        let has = known.isEmpty ? "it has none" : "it has \(known.map { "'\($0)'" }.joined(separator: ", "))"
        complain("\(path) has no run of a scope '\(name)'; \(has). Mark one with LeakTrace.scope(\"\(name)\"), or use --per events.")
      }
      throw ExitStatus.unreadable.code
    }
    let gates = gatekeeper.close(&report)
    for outcome in gates where outcome.hasFailed { complain("gate failed: \(outcome.gate): \(outcome.explanation)") }
    let document = FindingDocument(
      program: new[0].program.split(separator: "/").last.map(String.init) ?? new[0].program, judged: report.judged, gates: gates,
      source: outputs.sourceTree, toolVersion: Leaktrace.configuration.version, remarks: report.remarks)
    try outputs.deliver(style: style) { format, style in
      switch format {
      case .text: DiffText(style: style, limit: limit == 0 ? nil : limit).text(report, gates: gates)
      case .json: DiffJSON.text(report, gates: gates)
      case .markdown: DiffMarkdown.text(report, gates: gates)
      case .github: document.annotations()
      case .sarif: document.sarif()
      case .junit: document.junit()
      }
    }
    var status = gates.contains(where: \.hasFailed) ? ExitStatus.worst(digests.status, .findings) : digests.status
    // Not to be taken for something that was looked at and not accepted.
    if report.findings == nil, gatekeeper.needsFindings { status = .worst(status, .unreadable) }
    if status != .success { throw status.code }
  }

  private var style: TextStyle {
    let terminal = TerminalOutput()
    return TextStyle(
      width: width ?? terminal.columns, emphasis: terminal.showsEmphasis ? .terminal : .none, stacks: fullStacks ? .full : .folded)
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
struct Percentage: ExpressibleByArgument {
  /// 0.05 for 5 %.
  var value: Double

  init?(argument: String) {
    let digits = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
    guard let percent = Double(digits), percent >= 0, percent.isFinite else { return nil }
    value = percent / 100
  }
}
