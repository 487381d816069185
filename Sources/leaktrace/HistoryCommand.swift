// `leaktrace history`: who retained objects.

import ArgumentParser
import Foundation
import TraceAnalysis

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show who retained an object, a type's objects or an allocation site's objects, and who did not release them.",
    discussion: """
      Retains are paired with the releases that belong to them; what is left over is marked. Of a type or function, the objects \
      that were live in the heap image are meant, and without one all that were ever allocated; of an address, the object that was \
      live there, or else the last one that was.

      Exit status: 0 done, 2 nothing matches, 3 the trace could not be read or has no retains and releases, 4 done but the trace is \
      damaged, 5 the output could not be written, 64 wrong usage.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument { case text, json }

  @Argument(help: ArgumentHelp("A trace.", valueName: "trace"))
  var trace: String

  @Argument(
    help: ArgumentHelp("An address (0x…), or a type's name, or with --site a function that allocates: part of a name, or a glob.", valueName: "object"))
  var subject: String

  @Flag(help: "The name is that of a function in the allocation's stack.")
  var site = false

  @Option(help: "How many events to show from either end of a history, and how many places; 0 for all.")
  var limit: Int = 10

  @Option(help: "Number of the heap image; the last one unless given.")
  var snapshot: Int?

  @Option(help: "text or json.")
  var format: Format = .text

  @Flag(help: "Show the stacks of what was not released, every frame, with full names and paths.")
  var fullStacks = false

  @Option(help: ArgumentHelp("Look for files with debug information here, too.", valueName: "directory"))
  var debugPath: [String] = []

  @Option(help: ArgumentHelp("Look for the program's files under this directory.", valueName: "directory"))
  var sysroot: String?

  @OptionGroup var memory: MemoryLimitOption

  @Option(help: ArgumentHelp("Columns of the text; that of the terminal, or 80, unless given.", valueName: "columns"))
  var width: Int?

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit is a number of events; 0 shows all.") }
    if let width, width < 40 { throw ValidationError("--width must be at least 40 columns.") }
    if subject.hasPrefix("0x"), UInt64(subject.dropFirst(2), radix: 16) == nil { throw ValidationError("'\(subject)' is no address.") }
  }

  func run() throws {
    guard let reader = ObjectQuestion.open(trace) else { throw ExitStatus.unreadable.code }
    if reader.header.referenceCounting == .off {
      complain("\(trace) has no retains and releases: it was recorded with --arc off.")
      throw ExitStatus.unreadable.code
    }
    let chosen = SnapshotChoice.choose(reader, number: snapshot)
    if chosen == nil, snapshot != nil {
      complain(SnapshotChoice.explanation(reader, number: snapshot, path: trace))
      throw ExitStatus.unreadable.code
    }
    let line = ReadingLine.show(reader, path: trace)
    defer { line?.erase() }
    let allocations = AllocationAnalysis(reader, snapshot: chosen)
    let search = DebugFileSearch(debugPaths: debugPath, sysroot: sysroot)
    let symbolicator = Symbolicator(images: allocations.definitions.images.map(\.image), search: search)
    let analysis = HistoryAnalysis(reader, allocations, snapshot: chosen, naming: symbolicator, memoryLimit: memory.limit)
    let found = analysis.report(ObjectQuestion.query(subject, isSite: site))
    line?.erase()
    guard let report = found else {
      complain("no \(chosen == nil || subject.hasPrefix("0x") ? "" : "live ")object matches '\(subject)'. 'leaktrace analyze --sort objects' lists what there is.")
      throw ExitStatus.notFound.code
    }
    let terminal = TerminalOutput()
    let style = TextStyle(
      width: width ?? terminal.columns, emphasis: terminal.showsEmphasis ? .terminal : .none, stacks: fullStacks ? .full : .folded)
    try ObjectQuestion.show(
      format == .json
        ? HistoryJSON.text(report, subject: subject)
        : HistoryText(style: style, limit: limit == 0 ? nil : limit, frames: analysis.frames).text(report), called: "the history")
    if !allocations.diagnostics.isEmpty || !analysis.diagnostics.isEmpty { throw ExitStatus.damaged.code }
  }
}
