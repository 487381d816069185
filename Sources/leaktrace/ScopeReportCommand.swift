// `leaktrace scope-report`: reports the leaks of one scope, for the test traits of LeakTraceTesting.

import ArgumentParser
import FoundationEssentials
import Glibc
import TraceAnalysis

struct ScopeReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scope-report",
    abstract: "Show objects created in a scope and leaked.",
    discussion: """
      The trace may belong to a running process; it must contain the heap image.

      Exit status: 0 no leak, 1 a leak, 2 no such scope, 3 the trace is unreadable or lacks the heap image, \
      5 the output could not be written, 64 wrong usage.
      """,
    shouldDisplay: false)

  @Argument(help: ArgumentHelp("A trace with a heap image.", valueName: "trace"), completion: .file())
  var trace: String

  @Option(help: "The scope's number.")
  var number: UInt64

  @OptionGroup var image: ShownImageOption

  @Option(
    help: "Show what grows with every round of this repetition, instead of leaks, among objects created in the scope.")
  var repetition: UInt64?

  @OptionGroup var formatOption: FormatOption

  func run() throws {
    let reader: TraceReader
    do {
      reader = try TraceReader(path: trace, part: .events)
    } catch {
      complain(explanation(of: error, path: trace))
      throw ExitStatus.unreadable.code
    }
    guard let chosen = SnapshotChoice.choose(reader, number: image.snapshot) else {
      complain(SnapshotChoice.explanation(reader, number: image.snapshot, path: trace))
      throw ExitStatus.unreadable.code
    }
    let births = ScopeBirths.collect(number: number, in: reader)
    guard births.beginning != nil else {
      complain("\(trace) has no scope \(number)")
      throw ExitStatus.notFound.code
    }
    var findings: [Finding] = []
    var remarks: [String] = []
    if !births.live.isEmpty {
      let search = DebugFileSearch()
      let allocations = AllocationAnalysis(reader, snapshot: chosen)
      let symbolicator = Symbolicator(of: [allocations], search: search)
      let toolPath = ProcessInfo.processInfo.environment["PATH"] ?? ""
      func analysis(_ snapshot: TraceSnapshot, _ allocations: AllocationAnalysis) -> LeakAnalysis {
        LeakAnalysis(reader, allocations, snapshot: snapshot, search: search, toolPath: toolPath, naming: symbolicator)
      }
      if let repetition {
        let growth = LeakAnalysis.growth(
          reader, allocations, repetition: repetition, among: births.live, open: analysis)
        (findings, remarks) = (growth.findings, growth.remarks)
      } else {
        let leaks = analysis(chosen, allocations)
        findings = leaks.findings(among: births.live)
        remarks = leaks.remarks
      }
    }
    if let refused = reader.refusedPass {
      complain("\(trace): \(refused.explanation). Mark scopes in a shorter run.")
      throw ExitStatus.unreadable.code
    }
    let report = ScopeReport(births, marks: reader.marks, findings: findings, remarks: remarks)
    let output = OutputBuffer()
    do {
      try output.write(formatOption.format == .json ? report.json() : report.text())
      try output.flush()
    } catch {
      throw ExitStatus.outputFailed.code
    }
    if !report.programFindings.isEmpty { throw ExitStatus.findings.code }
  }
}
