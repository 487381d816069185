import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import LeakGates
@testable import RunDiff
@testable import TraceExports
@testable import TraceReading
@testable import AllocationReports

/// Rows of runs, for databases that collect many runs.
struct FleetRowTests {
  private func rows(
    _ fixture: ExportFixture = try! ExportFixture(), host: String? = "h1", build: String? = nil
  ) throws -> [[String: Any]] {
    var analysis = AllocationAnalysis(try fixture.trace.reader())
    analysis.header.startRealtime = ExportFixture.start
    let digest = RunDigest(
      ReportTrace(path: "a.trace", analysis: analysis), leaks: LeakReport(unavailable: "no image"),
      naming: fixture.naming)
    let origin = try #require(FleetRows.Origin(digest, host: host, build: build, run: nil))
    let text = FleetRows.text(digest, origin)
    // A digest in a file gives the same rows.
    let kept = try DigestFile.digest(DigestFile.bytes(digest))
    let again = try #require(FleetRows.Origin(kept, host: host, build: build, run: nil))
    #expect(FleetRows.text(kept, again) == text)
    return try text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test func runHasRowsForItsTypesAndSites() throws {
    let rows = try rows()
    #expect(rows.map { $0["kind"] as? String } == ["run", "type", "type", "site", "site"])
    #expect(rows.map { $0["type"] as? String } == [nil, "App.Image", "malloc", "App.Image", "malloc"])
    #expect(rows.map { $0["live_bytes"] as? Int } == [616, 600, 16, 600, 16])
    #expect(rows.map { $0["allocated_blocks"] as? Int } == [5, 3, 2, 3, 2])
    // The first part of the stable name is used as the module.
    #expect(rows[3]["function"] as? String == "init()" && rows[3]["file"] as? String == "/src/Image.swift")
  }

  @Test func everyRowHasEveryColumnAndItsOrigin() throws {
    let rows = try rows(build: "2.0")
    #expect(Set(rows.map { $0.keys.sorted() }).count == 1)
    for row in rows {
      #expect(row["host"] as? String == "h1" && row["build"] as? String == "2.0")
      #expect(row["program"] as? String == "/bin/app")
      #expect(row["findings_known"] as? Bool == false)
      #expect(abs((row["started_at"] as? Double ?? 0) - 1_700_000_000.123456) < 1e-5)
      #expect((row["run"] as? String)?.hasPrefix("\(ExportFixture.start)-") == true)
    }
  }

  @Test func buildIsTheProgramsFileUnlessItHasAName() throws {
    #expect(try rows().allSatisfy { $0["build"] as? String == "abcd" })
    #expect(try rows(host: nil).allSatisfy { $0["host"] is NSNull })
  }

  @Test func digestWithoutOriginNeedsARunName() throws {
    let fixture = try ExportFixture()
    var digest = RunDigest(
      ReportTrace(path: "a.trace", analysis: AllocationAnalysis(try fixture.trace.reader())),
      leaks: LeakReport(unavailable: "no image"), naming: fixture.naming)
    digest.origin = nil
    #expect(FleetRows.Origin(digest, host: nil, build: nil, run: nil) == nil)
    let origin = try #require(FleetRows.Origin(digest, host: nil, build: nil, run: "night 7"))
    #expect(origin.run == "night 7" && origin.build == nil && origin.startTime == 0)
  }

  @Test func firstOfSeveralProcessesGivesTheOrigin() throws {
    let fixture = try ExportFixture()
    var digest = RunDigest(
      ReportTrace(path: "a.trace", analysis: AllocationAnalysis(try fixture.trace.reader())),
      leaks: LeakReport(unavailable: "no image"), naming: fixture.naming)
    var other = digest
    digest.origin = RunOrigin(buildID: "b", startTime: 2, process: 7)
    other.origin = RunOrigin(buildID: "a", startTime: 1, process: 6)
    digest.add(other)
    #expect(FleetRows.Origin(digest, host: nil, build: nil, run: nil)?.run == "1-6")
  }

  @Test func namesAreEscaped() throws {
    let name = "A\"\n\u{1B}[31m\u{202E}"
    let rows = try rows(ExportFixture(imageType: name))
    #expect(rows.contains { $0["type"] as? String == PlainText.escaped(name) })
  }
}
