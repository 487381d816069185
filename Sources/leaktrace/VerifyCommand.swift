// `leaktrace verify`: whether findings of an old run are gone.

import ArgumentParser
import TraceAnalysis

struct VerifyCommand: LeakSearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Say for each leak of an old run whether it is gone in new ones.",
    usage: "leaktrace verify [options] OLD NEW [NEW ...]",
    discussion: """
      Answers for each finding of the old run: gone, fewer, same, worse, flaky, not exercised or not known. A finding is gone only if a \
      new run reached its allocation site and does not have it. Also lists findings that only the new runs have.

      A run is a trace, a directory with the traces of one run's processes, or a digest ('leaktrace digest'). Give several new runs of one \
      build to tell flaky from fixed: a leak that some of them still have is flaky.

      Exit status: 0 all findings are gone and none is new, 1 a finding is still there or new, 2 the old run has no such --finding, 3 a trace is \
      unreadable or has no findings to compare, 4 as 0, but a trace is damaged or incomplete, 5 the answers could not be written, 6 some of an \
      --untrusted trace was refused, 7 nothing is left, but a finding was not exercised or is not known, 64 wrong usage. If several apply, the one \
      latest in the order 7, 1, 2, 4, 6, 3, 64, 5 wins.
      """)

  @Argument(help: ArgumentHelp("The run that has the leaks.", valueName: "old"), completion: .file())
  var old: String

  @Argument(
    help: ArgumentHelp("Runs with the fix. Several runs of one build show flaky leaks.", valueName: "new"),
    completion: .file())
  var new: [String]

  @OptionGroup var asked: AskedFindings

  @OptionGroup var outputs: ReportOutputs

  @OptionGroup var pathOptions: PathOptions

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  @OptionGroup var layout: LayoutOptions

  func validate() throws {
    try FixAnswers.validate(outputs, option: "verify")
    try outputs.validate(besides: [old] + new)
    if Set(new.map(ReportOutputs.place)).count < new.count {
      throw ValidationError("The same new run appears twice; it says nothing about chance.")
    }
  }

  func run() throws {
    var digests = RunDigests(try LeakSearch(self))
    try digests.check(runs: [old] + new)
    let answers = try FixAnswers(
      old: digests.digest(ofRun: old), asked: asked, isUntrusted: reading.untrusted)
    let report = try answers.report(try new.map { try digests.digest(ofRun: $0) })
    for run in report.unjudged { complain("\(run.path) cannot be judged: \(run.reason)") }
    try FixAnswers.deliver(report, outputs, style: layout.style(stacks: .folded, paths: pathOptions.style))
    let status = ExitStatus.worst(digests.status, FixAnswers.status(report))
    if status != .success { throw status.code }
  }
}
