// `leaktrace why`: what keeps objects alive.

import ArgumentParser
import Foundation
import TraceAnalysis

struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Show what keeps an object, a type's objects or an allocation site's objects alive.",
    discussion: """
      Paths lead from a variable, a thread's stack or another root to the object, field by field. Objects that are held alike \
      are shown once, with their number.

      Exit status: 0 done, 2 nothing matches, 3 the trace could not be read or has no heap image, 4 done but the trace is damaged, \
      5 the output could not be written, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("A trace with a heap image.", valueName: "trace"))
  var trace: String

  @Argument(
    help: ArgumentHelp("An address (0x…), or a type's name, or with --site a function that allocates: part of a name, or a glob.", valueName: "object"))
  var subject: String

  @Flag(help: "The name is that of a function in the allocation's stack.")
  var site = false

  @Option(help: "How many ways to show.")
  var limit: Int = 5

  @Option(help: "Number of the heap image; the last one unless given.")
  var snapshot: Int?

  @Option(help: ArgumentHelp("Look for files with debug information here, too.", valueName: "directory"))
  var debugPath: [String] = []

  @Option(help: ArgumentHelp("Look for the program's files under this directory.", valueName: "directory"))
  var sysroot: String?

  @OptionGroup var memory: MemoryLimitOption

  @Option(help: ArgumentHelp("Columns of the text; that of the terminal, or 80, unless given.", valueName: "columns"))
  var width: Int?

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    if let width, width < 40 { throw ValidationError("--width must be at least 40 columns.") }
    if subject.hasPrefix("0x"), UInt64(subject.dropFirst(2), radix: 16) == nil { throw ValidationError("'\(subject)' is no address.") }
  }

  func run() throws {
    guard let reader = ObjectQuestion.open(trace) else { throw ExitStatus.unreadable.code }
    guard let chosen = SnapshotChoice.choose(reader, number: snapshot) else {
      complain(SnapshotChoice.explanation(reader, number: snapshot, path: trace))
      throw ExitStatus.unreadable.code
    }
    let search = DebugFileSearch(debugPaths: debugPath, sysroot: sysroot)
    let line = ReadingLine.show(reader, path: trace)
    defer { line?.erase() }
    let allocations = AllocationAnalysis(reader, snapshot: chosen)
    let symbolicator = Symbolicator(images: allocations.definitions.images.map(\.image), search: search)
    let analysis = LeakAnalysis(
      reader, allocations, snapshot: chosen, search: search, toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", memoryLimit: memory.limit, naming: symbolicator)
    let answer = analysis.explain(ObjectQuestion.query(subject, isSite: site), limit: limit)
    line?.erase()
    guard answer.matches > 0 else {
      complain("no live object matches '\(subject)' in this heap image. 'leaktrace analyze --sort objects' lists what there is.")
      throw ExitStatus.notFound.code
    }
    let terminal = TerminalOutput()
    let style = TextStyle(width: width ?? terminal.columns, emphasis: terminal.showsEmphasis ? .terminal : .none)
    try ObjectQuestion.show(RetainText(style: style).text(answer, subject: subject, remarks: analysis.remarks), called: "the answer")
    if !allocations.diagnostics.isEmpty || !analysis.diagnostics.isEmpty { throw ExitStatus.damaged.code }
  }
}

/// Which of a trace's heap images is looked at.
enum SnapshotChoice {
  /// The one with a number; otherwise the last whole one, or the last begun.
  static func choose(_ reader: TraceReader, number: Int?) -> TraceSnapshot? {
    if let number { return reader.snapshots.first { Int($0.number) == number } }
    return reader.snapshots.last { $0.isWhole } ?? reader.snapshots.last
  }

  static func explanation(_ reader: TraceReader, number: Int?, path: String) -> String {
    if reader.snapshots.isEmpty, reader.closing?.reason == .exec {
      return "\(path) ends where the process became another program, which has a trace of its own."
    }
    if reader.snapshots.isEmpty, let failure = reader.failedSnapshots.last {
      return "\(path) has no heap image: \(failure.explanation)."
    }
    if reader.snapshots.isEmpty {
      return "\(path) has no heap image: the program was killed, still runs, or was recorded with --no-snapshots. "
        + "'leaktrace snapshot PID' takes one of a running program."
    }
    let numbers = reader.snapshots.map { String($0.number) }.joined(separator: ", ")
    return "\(path) has no heap image \(number ?? 0); it has \(numbers)."
  }
}
