// `leaktrace report`: a page to look at.

import ArgumentParser
import Foundation
import TraceAnalysis

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write a report as one HTML page, to look at in a browser.",
    discussion: """
      The page shows the findings as pictures, with the source where it is at hand; memory over time; a flame graph; and types. It is one file \
      that loads nothing from elsewhere.

      Exit status: 0 success, 3 the trace is unreadable, 4 success, but the trace is damaged or incomplete, 5 the page could not be written, \
      64 wrong usage.
      """)

  @Argument(help: ArgumentHelp("A trace, or a directory with a single one.", valueName: "trace"))
  var trace: String

  @Option(name: [.short, .long], help: ArgumentHelp("File to write the page to.", valueName: "file"))
  var output: String

  @Option(help: "Heap image to look for leaks in, by number (default: the last one).")
  var snapshot: Int?

  @Flag(help: "Also list weak suspicions.")
  var weak = false

  @OptionGroup var searchOptions: LeakSearchOptions

  func validate() throws {
    if ReportOutputs.place(output) == ReportOutputs.place(trace) {
      throw ValidationError("The page would overwrite the trace itself.")
    }
  }

  func run() throws {
    let path = try TraceListing.onlyTrace(at: trace)
    let search = try LeakSearch(searchOptions, snapshot: snapshot)
    do {
      let (page, status) = try page(path, search)
      do throws(OutputFile.Failure) {
        try OutputFile.write(page, to: output)
      } catch {
        complain("cannot write \(output): \(String(cString: strerror(error.errno)))")
        throw ExitStatus.outputFailed.code
      }
      if status != .success { throw status.code }
    } catch let error as TraceFormatError {
      complain(explanation(of: error, path: path))
      throw ExitStatus.unreadable.code
    }
  }

  private func page(_ path: String, _ search: LeakSearch) throws -> (page: String, status: ExitStatus) {
    var examined = try search.examine(path, .findingsWithStacks)
    examined.leaks.listsWeak = weak
    var selection = ReportSelection()
    selection.limit = Self.shownSites
    selection.grouping = .function
    let profile = StackProfile(
      examined.trace.analysis, path: path, leaked: examined.leaks.leaked,
      frameLimit: examined.reader.limits.namedFrames, naming: search.naming(examined.trace))
    let analysis = examined.trace.analysis
    let timeline = Replayer.replay(
      examined.reader, LiveTimeline(from: analysis.header.startTime, to: analysis.atExit.time)
    ).observer
    let page = ReportPage(
      ReportPage.Contents(
        report: search.report([examined.trace], selection: selection), leaks: examined.leaks, profile: profile,
        timeline: timeline, toolVersion: Leaktrace.configuration.version))
    return (try page.html(), examined.status)
  }

  /// Allocation sites in the data; the flame graph has all.
  private static let shownSites = 20
}
