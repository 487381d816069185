// `leaktrace scope-report`: what one scope left behind, for the test traits of LeakTraceTesting.

import ArgumentParser
import Foundation
import TraceAnalysis

struct ScopeReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scope-report",
    abstract: "Show what was made in a scope and leaked.",
    discussion: """
      The trace may be that of a process that still runs; the heap image has to be in it.

      Exit status: 0 nothing was leaked, 1 something was, 2 no such scope, 3 the trace could not be read or has no such heap image, \
      5 the output could not be written, 64 wrong usage.
      """,
    shouldDisplay: false)

  enum Format: String, CaseIterable, ExpressibleByArgument { case text, json }

  @Argument(help: ArgumentHelp("A trace with a heap image.", valueName: "trace"))
  var trace: String

  @Option(help: "The scope's number.")
  var number: UInt64

  @Option(help: "Number of the heap image; the last one unless given.")
  var snapshot: Int?

  @Option(help: "Instead of leaks: what grows with each round of this repetition, of what was made in the scope.")
  var repetition: UInt64?

  @Option(help: "text or json.")
  var format: Format = .text

  func run() throws {
    let reader: TraceReader
    do {
      reader = try TraceReader(path: trace)
    } catch {
      complain(explanation(of: error, path: trace))
      throw ExitStatus.unreadable.code
    }
    guard let chosen = SnapshotChoice.choose(reader, number: snapshot) else {
      complain(SnapshotChoice.explanation(reader, number: snapshot, path: trace))
      throw ExitStatus.unreadable.code
    }
    let births = Replayer.replay(reader, ScopeBirths(number: number, marks: reader.marks)).observer
    guard births.beginning != nil else {
      complain("\(trace) has no scope \(number)")
      throw ExitStatus.notFound.code
    }
    var findings: [Finding] = []
    var remarks: [String] = []
    if !births.live.isEmpty {
      let search = DebugFileSearch()
      let allocations = AllocationAnalysis(reader, snapshot: chosen)
      let symbolicator = Symbolicator(images: allocations.definitions.images.map(\.image), search: search)
      let toolPath = ProcessInfo.processInfo.environment["PATH"] ?? ""
      func analysis(_ snapshot: TraceSnapshot, _ allocations: AllocationAnalysis) -> LeakAnalysis {
        LeakAnalysis(reader, allocations, snapshot: snapshot, search: search, toolPath: toolPath, naming: symbolicator)
      }
      if let repetition {
        let growth = LeakAnalysis.growth(reader, allocations, repetition: repetition, among: births.live, open: analysis)
        (findings, remarks) = (growth.findings, growth.remarks)
      } else {
        let leaks = analysis(chosen, allocations)
        findings = leaks.findings(among: births.live)
        remarks = leaks.remarks
      }
    }
    let report = ScopeReport(births, marks: reader.marks, findings: findings, remarks: remarks)
    let output = OutputBuffer()
    do {
      try output.write(format == .json ? report.json() : report.text())
      try output.flush()
    } catch {
      throw ExitStatus.outputFailed.code
    }
    if !report.programFindings.isEmpty { throw ExitStatus.findings.code }
  }
}
