// `leaktrace why`: shows what keeps objects alive.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Show what keeps an object, a type's objects or a site's objects alive.",
    discussion: """
      Shows paths from a variable, a thread's stack or another root to the object, field by field. Objects that are held in the same way appear once, \
      with their number; so does a list or a tree of objects, however long it is.

      Exit status: 0 success, 2 no match, 3 the trace is unreadable or has no heap image, 4 success, but the trace is damaged, \
      5 the output could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("A trace with a heap image.", valueName: "trace"), completion: .file())
  var trace: String

  @OptionGroup var asked: AskedObject

  @Option(help: "Number of paths to show.")
  var limit: Int = 5

  @OptionGroup var image: ShownImageOption

  enum Format: String, CaseIterable, ChosenWord {
    case text, json, dot
    case briefJSON = "brief-json"
  }

  @Option(help: "Output format; 'dot' is a graph for GraphViz, 'brief-json' is a short answer for agents.")
  var format: Format = .text

  @Option(help: AnswerSize.help)
  var briefSize = AnswerSize()

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var pathOptions: PathOptions

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
  }

  func run() throws {
    guard let reader = ObjectQuestion.open(trace, part: .withImage(image.snapshot), reading.policy) else {
      throw ExitStatus.unreadable.code
    }
    guard let chosen = SnapshotChoice.choose(reader, number: image.snapshot) else {
      complain(SnapshotChoice.explanation(reader, number: image.snapshot, path: trace))
      throw ExitStatus.unreadable.code
    }
    let line = ReadingLine.show(reader, path: trace)
    defer { line?.erase() }
    let allocations = ReadingInterrupt.watch { AllocationAnalysis(reader, snapshot: chosen) }
    let symbolicator = Symbolicator(of: [allocations], search: debugFiles.search)
    let analysis = LeakAnalysis(
      reader, allocations, snapshot: chosen, search: debugFiles.search,
      toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", ownModules: ownModules.modules, naming: symbolicator)
    let answer = analysis.explain(asked.query, limit: limit)
    line?.erase()
    guard answer.matches > 0 else {
      let suggestion = asked.suggestion {
        asked.site
          ? SiteNames.functions(allocations, naming: symbolicator) : ObjectQuestion.typeNames(analysis.graph)
      }
      complain(
        "no live object matches '\(asked.subject)' in this heap image.\(suggestion) 'leaktrace analyze \(trace) --sort objects' lists what there is."
      )
      throw ExitStatus.notFound.code
    }
    if let other = answer.otherType(than: asked.subject), !asked.site {
      complain("no live object is of a type called '\(asked.subject)'; '\(other)' has that in its name.")
    }
    let style = layout.style(paths: pathOptions.style)
    let text =
      switch format {
      case .text: RetainText(style: style).text(answer, subject: asked.subject, remarks: analysis.remarks)
      case .json: RetainJSON.text(answer, subject: asked.subject, snapshot: chosen, remarks: analysis.remarks)
      case .dot: FindingGraph.dot(answer)
      case .briefJSON:
        BriefReport.objects(
          answer, subject: asked.subject, path: trace, remarks: analysis.remarks, size: briefSize.bytes
        ).compactText + "\n"
      }
    try ObjectQuestion.show(text, called: "the answer")
    let status = ExitStatus.worst(ExitStatus(allocations.diagnostics), ExitStatus(analysis.model.diagnostics))
    if status != .success { throw status.code }
  }
}
