// `leaktrace tasks`: lists the tasks of a process, a core file or a recording.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

struct TasksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tasks",
    abstract: "List the tasks of a process, a core file or a recording, and who can resume them.",
    discussion: """
      Shows each task's state, the line where it waits, and the object or variable that can resume it. Tasks that wait at one line for \
      one thing form a row. Threads that run tasks and are blocked follow.

      A number is a process ID. The process is inspected: no code runs in it, and its threads are stopped for some milliseconds.

      Exit status: 0 success, 3 the process, core or trace is unreadable, the trace has no heap image, or the layout of the runtime's tasks \
      is unknown, 4 success, but the trace is \
      damaged, 5 the output could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage.
      """)

  @Argument(
    help: ArgumentHelp("A process ID, a core file, or a trace with a heap image.", valueName: "pid|core|trace"),
    completion: .processOrFile)
  var target: String

  @Flag(help: "Show only waiting tasks.")
  var waiting = false

  @Flag(help: "Show only tasks that never end: no code can resume them, or they wait for such a task.")
  var leaked = false

  enum Grouping: String, CaseIterable, ChosenWord { case line, parent, actor }

  @Option(help: "Group the rows by this.")
  var by: Grouping = .line

  @Option(help: "Number of rows to show; 0 for all.")
  var limit = 20

  @Flag(help: "Show every function of each stack, including library functions.")
  var fullStacks = false

  enum Format: String, CaseIterable, ChosenWord {
    case text, json, pprof
    case briefJSON = "brief-json"
  }

  @Option(help: "Output format; 'pprof' is a gzipped profile.proto, and 'brief-json' a short answer for agents.")
  var format: Format = .text

  @Option(
    name: [.short, .long], help: ArgumentHelp("File to write (default: standard output).", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(help: AnswerSize.help)
  var briefSize = AnswerSize()

  @OptionGroup var image: ShownImageOption

  @OptionGroup var holdOption: HoldOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    if format == .json, waiting || leaked {
      throw ValidationError(
        "JSON always has all tasks: leave out --waiting and --leaked, and choose rows by 'state' or 'resumedBy'.")
    }
    if format == .pprof, output == nil, isatty(1) == 1 {
      throw ValidationError("A pprof file is no text for a terminal; give -o FILE.")
    }
    if let output, ReportOutputs.place(output) == ReportOutputs.place(target) {
      throw ValidationError("The file would overwrite the trace itself.")
    }
  }

  func run() throws {
    let inspection =
      try isTrace
      ? nil
      : TemporaryInspection(
        target, output: nil, holds: holdOption.hold, search: debugFiles.search, keepsTaskNames: true)
    defer { inspection?.close() }
    let path = inspection?.path ?? target
    let files = inspection.map { debugFiles.search.among($0.files) } ?? debugFiles.search
    guard let reader = ObjectQuestion.open(path, part: .withImage(image.snapshot), reading.policy) else {
      throw ExitStatus.unreadable.code
    }
    guard let chosen = SnapshotChoice.choose(reader, number: image.snapshot) else {
      complain(SnapshotChoice.explanation(reader, number: image.snapshot, path: path))
      throw ExitStatus.unreadable.code
    }
    let line = ReadingLine.show(reader, path: path)
    defer { line?.erase() }
    let allocations = ReadingInterrupt.watch { AllocationAnalysis(reader, snapshot: chosen) }
    let symbolicator = Symbolicator(of: [allocations], search: files)
    let analysis = LeakAnalysis(
      reader, allocations, snapshot: chosen, search: files,
      toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", ownModules: ownModules.modules, naming: symbolicator)
    if let difference = analysis.graph.taskRelations.unknownLayout {
      line?.erase()
      complain("\(difference), so the tasks cannot be read: use a release of leaktrace that knows this runtime.")
      throw ExitStatus.unreadable.code
    }
    let inventory = analysis.taskInventory()
    line?.erase()
    let selection = TaskSelection(
      grouping: TaskSelection.Grouping(rawValue: by.rawValue) ?? .line, isWaitingOnly: waiting, isLeakedOnly: leaked,
      limit: limit == 0 ? nil : limit)
    switch format {
    case .text:
      try write(
        TaskText(style: layout.style(stacks: fullStacks ? .full : .folded)).text(
          inventory, selection, remarks: analysis.remarks))
    case .briefJSON:
      try write(BriefReport.tasks(inventory, path: path, selection, size: briefSize.bytes).compactText + "\n")
    case .json: try write(TaskJSON.text(inventory, snapshot: chosen, remarks: analysis.remarks))
    case .pprof:
      guard let file = TaskProfile(selection.rows(of: inventory), allocations, chosen).file() else {
        complain("there is not enough memory to compress the profile.")
        throw ExitStatus.outputFailed.code
      }
      try write(file)
    }
    let status = ExitStatus.worst(ExitStatus(allocations.diagnostics), ExitStatus(analysis.model.diagnostics))
    if status != .success { throw status.code }
  }

  private func write(_ text: String) throws { try write(Array(text.utf8)) }

  private func write(_ bytes: [UInt8]) throws { try ObjectQuestion.write(bytes, to: output, called: "the tasks") }

  /// Whether the target is a trace. A process has a number, and a core file is an ELF file.
  private var isTrace: Bool {
    guard let file = fopen(target, "r") else { return Int32(target) == nil }
    defer { fclose(file) }
    var start = [UInt8](repeating: 0, count: 4)
    let isElf = fread(&start, 1, 4, file) == 4 && start == [0x7F, 0x45, 0x4C, 0x46]
    let isPacked = start == [0x28, 0xB5, 0x2F, 0xFD]
    return !isElf && !isPacked
  }
}
