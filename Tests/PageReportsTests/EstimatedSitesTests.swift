// The estimates of a light recording, as a page shows them.

import Foundation
import Testing
import TraceTestSupport

@testable import AllocationReports
@testable import LeakDetection
@testable import LeakGates
@testable import PageReports
@testable import TraceExports
@testable import TraceReading

struct EstimatedSitesTests {
  /// Returns the trace of a light recording. Each site has its own function, and these live and allocated bytes.
  private func trace(_ sites: [(live: UInt64, allocated: UInt64)]) throws -> (ReportTrace, TraceReader, TableNaming) {
    var trace = TraceBuilder()
    trace.header.becomeLight(samplePeriod: 1024)
    trace.image("/bin/app", 0x40_0000..<0x50_0000, bias: 0x40_0000)
    var naming = TableNaming()
    for (index, site) in sites.enumerated() {
      let address = 0x40_0010 + UInt64(index) * 16
      naming.add(address, "place\(index)", file: "/src/place.swift", line: index)
      func sums(_ bytes: UInt64) -> SampledSite.Sums {
        SampledSite.Sums(samples: bytes / 1024, objects: bytes / 64, bytes: bytes, variance: bytes / 1024 * 65536)
      }
      trace.definitions.append(
        .sampledSite(
          SampledSite(
            time: 100, number: UInt64(index), allocated: sums(site.allocated), freed: sums(site.allocated - site.live),
            frames: [FrameKey(address: RuntimeAddress(address), isExact: false, isAsync: false)])))
    }
    trace.closing = TraceClosing(reason: .exit, waitStatus: 0, time: 200, eventCount: 0)
    let reader = try trace.reader()
    return (ReportTrace(path: "a.trace", analysis: AllocationAnalysis(reader)), reader, naming)
  }

  @Test func sitesWithMostLiveAndMostAllocatedBytesAreShown() throws {
    let (trace, _, naming) = try trace([(8192, 8192), (0, 65536), (4096, 4096), (1024, 2048), (0, 1024)])
    let (shown, count) = EstimatedSite.largest(trace, limit: 2, naming: naming)
    #expect(shown.map { $0.frames.first?.source.function } == ["place0", "place2", "place1"] && count == 5)
    #expect(shown[1].live == ByteEstimate(bytes: 4096, error: 2048))
  }

  @Test func pageShowsTheSitesAndTheNumberOmitted() throws {
    let (trace, reader, naming) = try trace([(8192, 8192), (0, 65536), (4096, 4096), (1024, 2048), (0, 1024)])
    var page = ReportPage(toolVersion: "1")
    page.add(
      ProcessPage(
        report: AllocationReport([trace], selection: ReportSelection(), naming: naming),
        leaks: LeakReport(unavailable: "there is no heap image"),
        profile: StackProfile(trace.analysis, path: "a", leaked: nil, frameLimit: .max, naming: naming),
        timeline: RunTimeline(reader, trace.analysis), outline: nil, tasks: nil,
        estimates: EstimatedSite.largest(trace, limit: 2, naming: naming)))
    let html = page.html()
    struct Contents: Decodable {
      struct Process: Decodable {
        struct Estimate: Decodable {
          struct Sums: Decodable {
            var bytes: UInt64
            var standardError: Double
          }
          var live: Sums
          var allocated: Sums
        }
        var estimates: [Estimate]
        var estimatesOmitted: Int
      }
      var processes: [Process]
    }
    let start = try #require(html.range(of: "id=\"data\">"))
    let end = try #require(html.range(of: "</script>", range: start.upperBound..<html.endIndex))
    let contents = try JSONDecoder().decode(Contents.self, from: Data(html[start.upperBound..<end.lowerBound].utf8))
    let process = try #require(contents.processes.first)
    #expect(process.estimates.map(\.live.bytes) == [8192, 4096, 0] && process.estimatesOmitted == 2)
    #expect(process.estimates.map(\.allocated.bytes) == [8192, 4096, 65536])
    #expect(process.estimates[1].live.standardError == 2048)
  }
}
