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
      5 the output could not be written, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("A trace with a heap image.", valueName: "trace"), completion: .file())
  var trace: String

  @Argument(
    help: ArgumentHelp(
      "An address (0x…), a type, or with --site an allocating function: part of the name, or a glob.",
      valueName: "object"))
  var subject: String

  @Flag(help: "Match the name against the functions on the allocation's stack.")
  var site = false

  @Option(help: "Number of paths to show.")
  var limit: Int = 5

  @Option(help: "Heap image to look at, by number (default: the last one).")
  var snapshot: Int?

  enum Format: String, CaseIterable, ChosenWord { case text, json, dot }

  @Option(help: "Output format; 'dot' is a graph for GraphViz.")
  var format: Format = .text

  @Option(
    help: ArgumentHelp("Also look for debug files in this directory.", valueName: "directory"), completion: .directory)
  var debugPath: [String] = []

  @Option(
    help: ArgumentHelp("Look for the program's files below this directory.", valueName: "directory"),
    completion: .directory)
  var sysroot: String?

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var pathOptions: PathOptions

  @OptionGroup var memory: MemoryLimitOption

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    if subject.hasPrefix("0x"), UInt64(subject.dropFirst(2), radix: 16) == nil {
      throw ValidationError("'\(subject)' is no address.")
    }
  }

  func run() throws {
    guard let reader = ObjectQuestion.open(trace, part: .withImage(snapshot)) else { throw ExitStatus.unreadable.code }
    guard let chosen = SnapshotChoice.choose(reader, number: snapshot) else {
      complain(SnapshotChoice.explanation(reader, number: snapshot, path: trace))
      throw ExitStatus.unreadable.code
    }
    let search = DebugFileSearch(debugPaths: debugPath, sysroot: sysroot)
    let line = ReadingLine.show(reader, path: trace)
    defer { line?.erase() }
    let allocations = AllocationAnalysis(reader, snapshot: chosen)
    let symbolicator = Symbolicator(of: [allocations], search: search)
    let analysis = LeakAnalysis(
      reader, allocations, snapshot: chosen, search: search,
      toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", memoryLimit: memory.limit,
      ownModules: ownModules.modules, naming: symbolicator)
    let answer = analysis.explain(ObjectQuestion.query(subject, isSite: site), limit: limit)
    line?.erase()
    guard answer.matches > 0 else {
      let question = ObjectQuestion.suggestion(for: subject) {
        site
          ? SiteNames.functions(allocations, naming: symbolicator) : ObjectQuestion.typeNames(analysis.graph)
      }
      complain(
        "no live object matches '\(subject)' in this heap image.\(question) 'leaktrace analyze \(trace) --sort objects' lists what there is."
      )
      throw ExitStatus.notFound.code
    }
    if let other = answer.otherType(than: subject), !site {
      complain("no live object is of a type called '\(subject)'; '\(other)' has that in its name.")
    }
    let style = layout.style(paths: pathOptions.style)
    let text =
      switch format {
      case .text: RetainText(style: style).text(answer, subject: subject, remarks: analysis.remarks)
      case .json: RetainJSON.text(answer, subject: subject, snapshot: chosen, remarks: analysis.remarks)
      case .dot: FindingGraph.dot(answer)
      }
    try ObjectQuestion.show(text, called: "the answer")
    if !allocations.diagnostics.isEmpty || !analysis.model.diagnostics.isEmpty { throw ExitStatus.damaged.code }
  }
}
