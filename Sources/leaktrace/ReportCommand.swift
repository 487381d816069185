// `leaktrace report`: writes a page for a browser.

import ArgumentParser
import Glibc
import TraceAnalysis

struct ReportCommand: LeakSearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a report as one HTML page, to look at in a browser.",
    discussion: """
      The page shows the findings as pictures, with the source where it is at hand; memory over time; a flame graph; types; who keeps what alive; \
      and threads and tasks. It is one file that loads nothing from elsewhere. For several traces, the page shows one process at a time.

      Without -o, the page of app.trace is app.html in the current directory, and its path is printed. An earlier page of that name is \
      replaced. Any other file stays as it is: then the page is app-2.html.

      Exit status: 0 success, 3 a trace is unreadable, 4 success, but a trace is damaged or incomplete, 5 the page could not be written, \
      6 some of an --untrusted trace was refused, 64 wrong usage. If several apply, the one latest in the order 4, 3, 64, 5 wins.
      """)

  @Argument(help: ArgumentHelp("Traces, or directories of them.", valueName: "trace"), completion: .file())
  var traces: [String] = []

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "File to write the page to (default: the trace's name with .html, in the current directory).", valueName: "file"),
    completion: .file())
  var output: String?

  @OptionGroup var image: SearchedImageOption

  @Flag(help: "Also list weak suspicions.")
  var weak = false

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  func validate() throws {
    if traces.isEmpty { throw ValidationError("Give a trace. 'leaktrace record -- COMMAND' makes one.") }
    if let output, traces.contains(where: { ReportOutputs.place(output) == ReportOutputs.place($0) }) {
      throw ValidationError("The page would overwrite the trace itself.")
    }
  }

  func run() throws {
    let (paths, failure) = TraceListing.all(traces)
    var status = failure
    if paths.isEmpty, status != .success { throw status.code }
    if let output, paths.contains(where: { ReportOutputs.place(output) == ReportOutputs.place($0) }) {
      complain("\(output) is one of the traces; give another file with -o.")
      throw ExitStatus.usage.code
    }
    let search = try LeakSearch(self, snapshot: image.snapshot)
    var page = ReportPage(toolVersion: leaktraceVersion)
    var isEmpty = true
    for path in paths {
      do throws(TraceFormatError) {
        status = .worst(status, try add(path, search, to: &page))
        isEmpty = false
      } catch {
        complain(explanation(of: error, path: path))
        status = .worst(status, .unreadable)
      }
    }
    if isEmpty { throw status.code }
    let text = page.html()
    let path = output ?? PagePath.free(forTrace: traces[0])
    do throws(OutputFile.Failure) {
      try OutputFile.write(text, to: path)
    } catch {
      complain("cannot write \(path): \(String(cString: strerror(error.errno)))")
      throw ExitStatus.outputFailed.code
    }
    if output == nil { try ObjectQuestion.show(path + "\n", called: "the path of the page") }
    if status != .success { throw status.code }
  }

  private func add(_ path: String, _ search: LeakSearch, to page: inout ReportPage) throws(TraceFormatError)
    -> ExitStatus
  {
    var examined = try search.examine(path, .page)
    examined.leaks.listsWeak = weak
    page.add(search.page(examined))
    return examined.status
  }
}
