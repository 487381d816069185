// `leaktrace snapshots`: lists the heap images of a trace.

import ArgumentParser
import TraceAnalysis

struct SnapshotsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshots",
    abstract: "List the heap images of a trace.",
    discussion: """
      Shows each image's number (for --snapshot of other commands), the time since the recording began, the reason, the memory it covers, \
      its size in the trace, how long the program was stopped, and the label that the program gave it.

      Exit status: 0 success, 3 the trace is unreadable, 4 success, but the trace is damaged, 5 the output could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("A trace.", valueName: "trace"), completion: .file())
  var trace: String

  @OptionGroup var formatOption: FormatOption

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func run() throws {
    guard let reader = ObjectQuestion.open(trace, reading.policy) else { throw ExitStatus.unreadable.code }
    let list = SnapshotList(reader, path: trace)
    let style = layout.style()
    try ObjectQuestion.show(
      formatOption.format == .json
        ? list.json() : list.text(style: style, whenNone: SnapshotChoice.explanation(reader, number: nil, path: trace)),
      called: "the list")
    for diagnostic in reader.diagnostics.first { complain("\(trace): \(diagnostic.explanation)") }
    let status = ExitStatus(reader.diagnostics)
    if status != .success { throw status.code }
  }
}
