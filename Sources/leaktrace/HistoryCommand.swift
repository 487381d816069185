// `leaktrace history`: shows who retained an object.

import ArgumentParser
import Glibc
import TraceAnalysis

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show who retained an object and did not release it.",
    discussion: """
      Pairs retains with the releases that belong to them, and marks retains without a release. A type or function selects the objects \
      that were live in the heap image, or, without an image, all that were ever allocated. An address selects the object that was \
      live there, or else the last one.

      Exit status: 0 success, 2 no match, 3 the trace is unreadable or has no retains and releases, 4 success, but the trace is \
      damaged, 5 the output could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("A trace.", valueName: "trace"), completion: .file())
  var trace: String

  @OptionGroup var asked: AskedObject

  @Option(help: "Number of events to show from each end of a history, and number of places; 0 shows all.")
  var limit: Int = 10

  @OptionGroup var image: ShownImageOption

  @OptionGroup var formatOption: FormatOption

  @Flag(help: "Show full stacks of unreleased retains: every frame, with full names and paths.")
  var fullStacks = false

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit must be 0 (all) or more.") }
  }

  func run() throws {
    guard let reader = ObjectQuestion.open(trace, part: .events, reading.policy) else {
      throw ExitStatus.unreadable.code
    }
    if reader.header.referenceCounting == .off {
      complain("\(trace) has no retains and releases: it was recorded with --arc off.")
      throw ExitStatus.unreadable.code
    }
    let chosen = SnapshotChoice.choose(reader, number: image.snapshot)
    if chosen == nil, image.snapshot != nil {
      complain(SnapshotChoice.explanation(reader, number: image.snapshot, path: trace))
      throw ExitStatus.unreadable.code
    }
    let line = ReadingLine.show(reader, path: trace)
    defer { line?.erase() }
    let allocations = ReadingInterrupt.watch { AllocationAnalysis(reader, snapshot: chosen) }
    let symbolicator = Symbolicator(of: [allocations], search: debugFiles.search)
    let analysis = HistoryAnalysis(
      reader, allocations, snapshot: chosen, naming: symbolicator)
    let found = analysis.report(asked.query)
    line?.erase()
    guard let report = found else {
      if let refused = reader.refusedPass {
        complain("\(trace): \(refused.explanation). Record a shorter run.")
        throw ExitStatus.unreadable.code
      }
      let suggestion = asked.suggestion {
        asked.site ? SiteNames.functions(allocations, naming: symbolicator) : SiteNames.types(allocations)
      }
      complain(
        "no \(chosen == nil || asked.subject.hasPrefix("0x") ? "" : "live ")object matches '\(asked.subject)'.\(suggestion) 'leaktrace analyze --sort objects' lists all types."
      )
      throw ExitStatus.notFound.code
    }
    let style = layout.style(stacks: fullStacks ? .full : .folded)
    try ObjectQuestion.show(
      formatOption.format == .json
        ? HistoryJSON.text(report, subject: asked.subject)
        : HistoryText(style: style, limit: limit == 0 ? nil : limit, frames: analysis.frames).text(report),
      called: "the history")
    let status = ExitStatus.worst(ExitStatus(allocations.diagnostics), ExitStatus(analysis.diagnostics))
    if status != .success { throw status.code }
  }
}
