// `leaktrace diff`: what changed between two builds.

import ArgumentParser
import Glibc
import TraceAnalysis

struct DiffCommand: LeakSearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two builds: leaks, allocations, retains and releases.",
    usage: """
      leaktrace diff [options] OLD NEW
      leaktrace diff [options] --old TRACE --old TRACE … --new TRACE --new TRACE …
      """,
    discussion: """
      Findings and sites match by their types, fields and functions, never by address or line. The report marks what matched by \
      similarity or under another name.

      A run is a trace, a directory with the traces of one run's processes, or a digest ('leaktrace digest'). With several runs per side, the report \
      shows only changes that exceed the spread between runs; with one, only changes that exceed a tolerance.

      --fail-on (default: new-leaks,worse,new-suspects) also accepts leaks, suspects, growth (live bytes at exit), peak, allocations, temporary, retains \
      and regressions (any of these figures for the whole program), each with an optional threshold: retains:10%. See docs/ci.md.

      Exit status: 0 no gate failed, 1 a gate failed, 3 a trace is unreadable or cannot be compared, 4 success, but a trace is damaged or incomplete, 5 the report \
      could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage. If several apply, the one latest in the order 1, 4, 6, 3, 64, 5 wins.
      """)

  @Argument(help: ArgumentHelp("The old run, then the new run.", valueName: "run"), completion: .file())
  var runs: [String] = []

  @Option(
    name: .customLong("old"), help: ArgumentHelp("A run of the old build. Repeatable.", valueName: "run"),
    completion: .file())
  var oldRuns: [String] = []

  @Option(
    name: .customLong("new"), help: ArgumentHelp("A run of the new build. Repeatable.", valueName: "run"),
    completion: .file())
  var newRuns: [String] = []

  @Option(
    help: ArgumentHelp(
      "Divide figures by the amount of work: 'scope:NAME' (executions of that scope) or 'events'.", valueName: "unit"),
    completion: .list(WorkUnit.words))
  var per: WorkUnit?

  @Option(
    help: ArgumentHelp(
      "Smallest change to report, in percent of the old value; 0 shows every difference (default: 5, and more for single runs of threaded programs).",
      valueName: "percent"))
  var tolerance: Percentage?

  @Option(help: "Number of types and sites to show; 0 shows all.")
  var limit: Int = 10

  @OptionGroup var outputs: ReportOutputs

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @Flag(help: "Show every function of a site's stack.")
  var fullStacks = false

  @OptionGroup var pathOptions: PathOptions

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    if runs.isEmpty, !oldRuns.isEmpty, !newRuns.isEmpty { return try validateNumbers() }
    if !runs.isEmpty, !oldRuns.isEmpty || !newRuns.isEmpty {
      throw ValidationError("Give OLD NEW, or --old and --new; not both.")
    }
    if runs.count != 2 { throw ValidationError("Give the old run and the new one, or several with --old and --new.") }
    try validateNumbers()
  }

  private func validateNumbers() throws {
    if limit < 0 { throw ValidationError("--limit must be 0 (all) or more.") }
    try outputs.validate(besides: [gateOptions.baseline] + runs + oldRuns + newRuns)
    for side in [oldRuns, newRuns] where Set(side.map(ReportOutputs.place)).count < side.count {
      throw ValidationError("The same run appears twice on one side; it says nothing about chance.")
    }
    if gateOptions.updateBaseline {
      throw ValidationError(
        "A baseline describes one build; write it with 'leaktrace analyze NEW --baseline FILE --update-baseline'.")
    }
  }

  func run() throws {
    let gatekeeper = try Gatekeeper(
      gateOptions, subject: .comparison, standard: ["new-leaks", "worse", "new-suspects"])
    var digests = RunDigests(try LeakSearch(self))
    try digests.check(runs: runs + oldRuns + newRuns)
    let old = try (runs.isEmpty ? oldRuns : [runs[0]]).map { try digests.digest(ofRun: $0) }
    let new = try (runs.isEmpty ? newRuns : [runs[1]]).map { try digests.digest(ofRun: $0) }
    var report: DiffReport
    do throws(RunComparison.Failure) {
      report = try RunComparison.report(
        old: old, new: new, unit: per?.unit ?? .run, tolerance: tolerance.map { FigureTolerance(part: $0.value) },
        isUntrusted: reading.untrusted)
    } catch {
      complain(error.explanation)
      throw ExitStatus.unreadable.code
    }
    let gates = gatekeeper.close(&report)
    for outcome in gates where outcome.hasFailed { complain("gate failed: \(outcome.gate): \(outcome.explanation)") }
    let document = FindingDocument(
      program: new[0].program.split(separator: "/").last.map(String.init) ?? new[0].program, judged: report.judged,
      gates: gates,
      source: outputs.sourceTree, toolVersion: leaktraceVersion, remarks: report.remarks,
      unjudged: report.findings == nil && gatekeeper.needsFindings
        ? report.findingsUnavailable ?? "leaks were not compared" : nil)
    let html = outputs.has(.html) ? try page(report, gates, old, new) : ""
    try outputs.deliver(style: style) { format, style in
      switch format {
      case .text: DiffText(style: style, limit: limit == 0 ? nil : limit).text(report, gates: gates)
      case .json: DiffJSON.text(report, gates: gates)
      case .html: html
      case .markdown: DiffMarkdown.text(report, gates: gates)
      case .github: document.annotations()
      case .sarif: document.sarif()
      case .junit: document.junit()
      case .codequality: document.codeQuality()
      case .compiler: document.compilerLines()
      case .briefJSON: outputs.brief(document, [])
      }
    }
    var status = gates.contains(where: \.hasFailed) ? ExitStatus.worst(digests.status, .findings) : digests.status
    // Status 1 would mean that findings were compared and not accepted, so report `unreadable`.
    if report.findings == nil, gatekeeper.needsFindings { status = .worst(status, .unreadable) }
    if status != .success { throw status.code }
  }

  private func page(_ report: DiffReport, _ gates: [GateOutcome], _ old: [RunDigest], _ new: [RunDigest]) throws
    -> String
  {
    var page = ReportPage(toolVersion: leaktraceVersion)
    page.set(ComparisonPage(report, gates: gates, stacks: ComparedStacks(old: old, new: new, report)))
    return page.html()
  }

  private var style: TextStyle {
    layout.style(stacks: fullStacks ? .full : .folded, paths: pathOptions.style)
  }
}

/// `scope:NAME` or `events` on the command line.
struct WorkUnit: ExpressibleByArgument {
  var unit: DiffReport.Unit

  init?(argument: String) {
    if argument == "events" {
      unit = .events
    } else if argument.hasPrefix("scope:"), argument.count > 6 {
      unit = .scope(String(argument.dropFirst(6)))
    } else {
      RejectedWord.note(argument, among: Self.words)
      return nil
    }
  }

  static let words = ["events", "scope:"]
}

/// `5` or `5%` on the command line.
struct Percentage: ExpressibleByArgument {
  /// 0.05 for 5 %.
  var value: Double

  init?(argument: String) {
    let digits = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
    guard let percent = Double(digits), percent >= 0, percent.isFinite else { return nil }
    value = percent / 100
  }
}
