// `leaktrace names`: stores the names that reports need in a trace.

import ArgumentParser
import FoundationEssentials
import TraceAnalysis

struct NamesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "names",
    abstract: "Store the names of functions, lines, types and fields in a trace.",
    discussion: """
      A trace has addresses. Reports read names from the program's files. With names in the trace, reports stay the same \
      when the program is rebuilt, moved or deleted, and on other machines. 'leaktrace record' does this at its end; \
      do it after a recording by LD_PRELOAD, before you change the program.

      Files must be those that were recorded; the build ID of each is checked. Names that are already in the trace are \
      replaced.

      Exit status: 0 success, 3 the trace is unreadable or has no end, 4 success, but the trace is damaged or some names are missing, \
      5 the names could not be written, 64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("Traces, or directories with traces.", valueName: "trace"))
  var traces: [String]

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var reading: ReadingOptions

  @Option(help: ArgumentHelp("Longest time for a trace, such as 30s.", valueName: "time"))
  var timeLimit: TimeSpan = TimeSpan(seconds: 600)

  @Flag(help: "Print only problems.")
  var quiet = false

  func run() throws {
    var (paths, status) = TraceListing.all(traces)
    let collection = NamesCollection(
      search: debugFiles.search,
      toolPath: ProcessInfo.processInfo.environment["PATH"] ?? "", toolVersion: leaktraceVersion,
      policy: reading.policy, timeLimit: .seconds(timeLimit.seconds))
    for path in paths {
      do {
        let outcome = try collection.add(toTraceAt: path)
        if !outcome.isComplete {
          complain("\(path): the time was not enough for all names. Give more with --time-limit.")
          status = .worst(status, .damaged)
        }
        if !quiet {
          complain("\(path): \(Decimal.bytes(outcome.bytes.rawValue)) of names from \(outcome.files) files")
        }
      } catch {
        complain(explanation(of: error, path: path))
        if case .system(let call, _, _) = error, ["write", "shorten"].contains(call) {
          status = .worst(status, .outputFailed)
        } else {
          status = .worst(status, .unreadable)
        }
      }
    }
    if status != .success { throw status.code }
  }
}
