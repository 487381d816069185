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

  enum Grouping: String, CaseIterable, ChosenWord { case line, parent, actor, tree }

  @Option(help: "Group the rows by this; 'tree' shows groups and children below their parents.")
  var by: Grouping = .line

  @Option(
    help: ArgumentHelp(
      "Inspect a process twice, this long apart, and name actors whose queues grew meanwhile.", valueName: "time"))
  var again: TimeSpan?

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
    if again != nil, Int32(target) == nil || isTrace {
      throw ValidationError("--again needs a process. A trace with several heap images is compared anyway.")
    }
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
    var earlier: ActorQueues?
    if let again {
      earlier = try inspected { try queues(of: $0) }
      usleep(UInt32(clamping: Int(again.seconds * 1e6)))
    }
    if isTrace {
      try list(target, files: debugFiles.search, earlier)
    } else {
      try inspected { try list($0.path, files: $0.files, earlier) }
    }
  }

  private struct Inspected {
    var path: String
    var files: DebugFileSearch
  }

  /// Inspects the target, and removes the inspection after `body` has read it.
  private func inspected<Result>(_ body: (Inspected) throws -> Result) throws -> Result {
    let inspection = try TemporaryInspection(
      target, output: nil, holds: holdOption.hold, search: debugFiles.search, keepsTaskNames: true)
    defer { inspection.close() }
    return try body(Inspected(path: inspection.path, files: debugFiles.search.among(inspection.files)))
  }

  /// Returns the queues of actors in an inspection.
  private func queues(of inspected: Inspected) throws -> ActorQueues {
    guard let reader = ObjectQuestion.open(inspected.path, part: .withImage(nil), reading.policy),
      let chosen = SnapshotChoice.choose(reader, number: nil)
    else { throw ExitStatus.unreadable.code }
    return ActorQueues(
      TaskImage(reader, chosen, files: inspected.files, ownModules: ownModules.modules).analysis)
  }

  /// Returns the queues of actors in the last whole image before another one; nil if the trace has none.
  private func queues(of reader: TraceReader, before image: TaskImage, files: DebugFileSearch) -> ActorQueues? {
    let earlier = reader.snapshots.last { $0.isWhole && $0.time < image.snapshot.time }
    guard let earlier, let all = ObjectQuestion.open(target, part: .withImage(Int(earlier.number)), reading.policy)
    else {
      return nil
    }
    return ActorQueues(TaskImage(all, earlier, files: files, ownModules: ownModules.modules).analysis)
  }

  /// `earlier`: the queues of actors in an earlier inspection; nil to use an earlier image of the trace.
  private func list(_ path: String, files: DebugFileSearch, _ earlier: ActorQueues?) throws {
    guard let reader = ObjectQuestion.open(path, part: .withImage(image.snapshot), reading.policy) else {
      throw ExitStatus.unreadable.code
    }
    guard let chosen = SnapshotChoice.choose(reader, number: image.snapshot) else {
      complain(SnapshotChoice.explanation(reader, number: image.snapshot, path: path))
      throw ExitStatus.unreadable.code
    }
    let line = ReadingLine.show(reader, path: path)
    defer { line?.erase() }
    let shown = TaskImage(reader, chosen, files: files, ownModules: ownModules.modules)
    let (analysis, allocations) = (shown.analysis, shown.allocations)
    if let difference = analysis.graph.taskRelations.unknownLayout {
      line?.erase()
      complain("\(difference), so the tasks cannot be read: use a release of leaktrace that knows this runtime.")
      throw ExitStatus.unreadable.code
    }
    var inventory = analysis.taskInventory()
    // An earlier image takes as long to read as this one. Short queues do not deserve it.
    if let longest = inventory.actors.first, longest.queue.count >= TaskInventory.Actor.minGrowth,
      let before = earlier ?? (isTrace ? queues(of: reader, before: shown, files: files) : nil)
    {
      ActorQueues(analysis).compare(&inventory, with: before)
    }
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
