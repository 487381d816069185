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
    let directory = output == nil ? TemporaryDirectory.make() : nil
    guard let path = output ?? directory.map({ $0 + "/inspection.lktrace" }) else {
      complain(
        "cannot make a temporary file: \(String(cString: strerror(errno))). Say with -o where to put the inspection.")
      throw ExitStatus.outputFailed.code
    }
    defer {
      if let directory {
        unlink(path)
        rmdir(directory)
      }
    }
    let files: InspectedFiles
    do {
      let summary = try Inspection.inspect(
        target, holds: holdOption.hold, search: debugFiles.search, to: path)
      files = summary.files
      ErrorOutput.print(summary.line(path: output))
    } catch let error as TraceFormatError {
      complain(explanation(of: error, path: path))
      throw ExitStatus.outputFailed.code
    } catch let error as InspectionError where error == .noSwift || error == .noAllocator {
      complain("\(Int32(target).flatMap(TargetView.otherLanguage)?.description ?? error.description)")
      throw ExitStatus.unreadable.code
    } catch {
      complain("\(error)")
      throw ExitStatus.unreadable.code
    }
    var status = ExitStatus.success
    try write([path], snapshot: nil, among: files, &status)
    if status != .success { throw status.code }
  }
}
