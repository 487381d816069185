// Acts as a program of another package, which sees only the public interface of TraceAnalysis.

import Foundation
import Testing
import TraceAnalysis
import TraceTestSupport

@Suite struct AnalyzedTraceTests {
  private func analyzed(_ bytes: [UInt8], _ options: AnalysisOptions = AnalysisOptions()) throws -> AnalyzedTrace {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).trace")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try AnalyzedTrace(path: file.path, options: options)
  }

  @Test func traceHasFindings() throws {
    let trace = try analyzed(SampleTrace.lostBlocks(3))
    #expect(trace.leaksUnavailable == nil)
    let finding = try #require(trace.findings.first)
    #expect(trace.findings.count == 1)
    #expect(finding.verdict == "lost" && finding.isProven && !finding.isLibrary)
    #expect((finding.instances, finding.retainedBytes, finding.retainedBlocks) == (3, 300, 3))
    #expect(!finding.title.isEmpty && finding.text().contains("300"))
  }

  @Test func findingKeepsItsIdentityInAnotherRun() throws {
    let one = try analyzed(SampleTrace.lostBlocks(3)).findings.map(\.id)
    let other = try analyzed(SampleTrace.lostBlocks(5)).findings.map(\.id)
    #expect(one == other && one.count == 1)
  }

  @Test func traceHasAllocations() throws {
    let trace = try analyzed(SampleTrace.lostBlocks(3))
    #expect(trace.total.liveBytes == 5_300 && trace.total.allocatedBlocks == 4)
    #expect(trace.allocationSites.map(\.total.liveBytes) == [5_000, 300])
    #expect(trace.allocationSites.map(\.type) == ["malloc", "malloc"])
    #expect(trace.allocationSites.allSatisfy { !$0.functions.isEmpty })
  }

  @Test func sitesBeyondTheLimitAreOmitted() throws {
    var options = AnalysisOptions()
    options.siteLimit = 1
    #expect(try analyzed(SampleTrace.lostBlocks(3), options).allocationSites.count == 1)
  }

  @Test func traceIsRenderedAsTextAndJSON() throws {
    let trace = try analyzed(SampleTrace.lostBlocks(3))
    let report = try JSONSerialization.jsonObject(with: Data(trace.json().utf8)) as? [String: Any]
    #expect(report?["schemaVersion"] != nil)
    #expect(trace.text(width: 80).split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(trace.text().contains("malloc"))
  }

  @Test func otherFilesAreRefusedWithAMessage() {
    #expect(throws: UnreadableTrace.self) { try analyzed(Array("no trace at all".utf8)) }
    do throws(UnreadableTrace) {
      _ = try AnalyzedTrace(path: "/nowhere.trace")
    } catch {
      #expect(error.path == "/nowhere.trace" && "\(error)".contains("/nowhere.trace"))
    }
  }
}
