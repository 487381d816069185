// `leaktrace digest`: what a later comparison needs of a run.

import ArgumentParser
import Foundation
import TraceAnalysis

struct DigestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "digest",
    abstract: "Keep of a run what 'leaktrace diff' needs, in a small file.",
    discussion: """
      A digest has the sums of all allocation sites and the findings, by name. It takes the place of a trace in 'leaktrace diff', and needs neither the \
      trace nor the program's files any more: keep the one of the main branch, and compare each pull request with it.

      Exit status: 0 done, 3 a trace could not be read, 4 done but a trace is damaged or incomplete, 5 the digest could not be written, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("A trace, or a directory with the traces of a run's processes, which are added up.", valueName: "run"))
  var recorded: String

  @Option(name: [.short, .long], help: ArgumentHelp("Where the digest is written.", valueName: "file"))
  var output: String

  @OptionGroup var searchOptions: LeakSearchOptions

  func validate() throws {
    if ReportOutputs.place(output) == ReportOutputs.place(recorded) { throw ValidationError("The digest would be written over the run itself.") }
  }

  func run() throws {
    var runs = RunDigests(try LeakSearch(searchOptions))
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
