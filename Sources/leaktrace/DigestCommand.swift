// `leaktrace digest`: saves the part of a run that a later comparison needs.

import ArgumentParser
import Glibc
import TraceAnalysis

struct DigestCommand: LeakSearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "digest",
    abstract: "Save what 'leaktrace diff' needs from a run to a small file.",
    discussion: """
      A digest holds the totals of all allocation sites and the findings, by name. 'leaktrace diff' takes it in place of a trace, without \
      the program's files. Keep the main branch's digest, and compare each pull request with it.

      Exit status: 0 success, 3 a trace is unreadable, 4 success, but a trace is damaged or incomplete, 5 the digest could not be written, 6 some of an --untrusted trace was refused, 64 wrong usage.
      """)

  @Argument(
    help: ArgumentHelp(
      "A trace, or a directory with the traces of one run's processes, which are added up.", valueName: "run"),
    completion: .file())
  var recorded: String

  @Option(
    name: [.short, .long], help: ArgumentHelp("File to write the digest to.", valueName: "file"), completion: .file())
  var output: String

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  func validate() throws {
    if ReportOutputs.place(output) == ReportOutputs.place(recorded) {
      throw ValidationError("The digest would overwrite the run itself.")
    }
  }

  func run() throws {
    var runs = RunDigests(try LeakSearch(self))
    let digest = try runs.digest(ofRun: recorded)
    let text = String(decoding: try DigestFile.bytes(digest), as: UTF8.self)
    do throws(OutputFile.Failure) {
      try OutputFile.write(text, to: output)
    } catch {
      complain("cannot write \(output): \(String(cString: strerror(error.errno)))")
      throw ExitStatus.outputFailed.code
    }
    if runs.status != .success { throw runs.status.code }
  }
}
