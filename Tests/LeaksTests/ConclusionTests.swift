// The conclusion at the beginning of a report.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import LeakGates
@testable import TraceReading
@testable import TraceReports

@Suite struct ConclusionTests {
  private let heap = HeapBuilder()

  /// Returns a report with a lost object.
  private func report() throws -> LeakReport {
    heap.type("App.Order")
    _ = heap.object("App.Order")
    return LeakReport(try heap.analysis())
  }

  private func line(_ report: LeakReport) -> String { FindingText.conclusion(report).sentence }

  @Test func provenLeakConcludesLeak() throws {
    let report = try report()
    #expect(report.conclusion == .leak)
    #expect(line(report) == "Leaks: 1 proven, 48 B retained, among 1 live block at exit")
  }

  @Test func likelyLossConcludesSuspicion() throws {
    var report = try report()
    report.findings[0].evidence = .unreachable(.lost(nil), way: .init(kind: .number, holder: "table"))
    #expect(report.conclusion == .suspected)
    #expect(line(report) == "Leaks: 1 likely, 48 B retained, among 1 live block at exit")
  }

  @Test(arguments: [
    (1 << 20, 1, LeakReport.Conclusion.leak), (100, 1000, .leak), (1 << 20 - 1, 999, .steady),
  ])
  func largeLibraryLeakConcludesLeak(bytes: Int, blocks: UInt64, expected: LeakReport.Conclusion) throws {
    var report = try report()
    report.findings[0].owner = .library(reason: "made inside libFoundation.so")
    report.findings[0].retainedBytes = ByteCount(UInt64(bytes))
    report.findings[0].retainedBlocks = blocks
    #expect(report.conclusion == expected)
    let answer = expected == .leak ? "Leaks: 1 by a library, " : "Leaks: none found, among "
    #expect(line(report).hasPrefix(answer), "\(line(report))")
  }

  @Test func noFindingsAndNoGrowthConcludeSteady() throws {
    let report = LeakReport(try heap.analysis())
    #expect(report.conclusion == .steady)
    #expect(line(report) == "Leaks: none found, among 0 live blocks at exit")
  }

  @Test func missingImageConcludesNotChecked() throws {
    let report = LeakReport(unavailable: "no image")
    #expect(report.conclusion == .notChecked && line(report) == "Leaks: not checked: no image")
  }
}
