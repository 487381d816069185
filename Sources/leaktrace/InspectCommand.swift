// `leaktrace inspect`: reports the leaks of a process that was never recorded.

import ArgumentParser
import Glibc
import TraceAnalysis

struct InspectCommand: AnalyzingCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Report the leaks of a running process, or of a core file, without a recording.",
    discussion: """
      No code runs in the process. Its threads are stopped for some milliseconds while the kernel makes a copy of it. leaktrace reads \
      the copy: blocks from the allocator's metadata, types from type metadata, references by reflection. This needs the right to trace \
      the process: run it as the same user, or with CAP_SYS_PTRACE.

      The report has cycles, lost objects, suspended tasks and dangling references, as after a recording. It also has objects kept by \
      a task, a timer or an observer that no code can end. It does not know when and where an object was allocated. Two inspections \
      of one process show what grows ('leaktrace diff OLD NEW').

      -o writes the inspection to a trace, for every other command, on this machine or another one.

      Exit status: the same as 'leaktrace analyze'; 3 also if the process or the core cannot be inspected.
      """)

  @Argument(
    help: ArgumentHelp("Process ID, or path of a core file.", valueName: "pid|core"), completion: .processOrFile)
  var target: String

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Write the inspection to this file as a trace. The file must not exist.", valueName: "file"),
    completion: .file())
  var output: String?

  @OptionGroup var holdOption: HoldOption

  @OptionGroup var options: AnalysisOptions

  @OptionGroup var outputs: ReportOutputs

  @OptionGroup(title: "Gates") var gateOptions: GateOptions

  @OptionGroup var pathOptions: PathOptions

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    try validate(besides: [])
  }

  func run() throws {
    let inspection = try TemporaryInspection(
      target, output: output, holds: holdOption.hold, search: debugFiles.search)
    defer { inspection.close() }
    var status = ExitStatus.success
    try write([inspection.path], snapshot: nil, among: inspection.files, &status)
    if status != .success { throw status.code }
  }
}
