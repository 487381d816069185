import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import AllocationReports
@testable import TraceReading
@testable import TraceReports

@Suite struct JSONReportTests {
  private func parsed(_ reports: [AllocationReport]) throws -> [String: Any] {
    let text = AllocationJSON.text(reports)
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func documentParsesAndItsSumsAgree() throws {
    let report = try ReportFixture().report {
      $0.limit = nil
      $0.order = .total
    }
    let document = try parsed([report])
    #expect(document["schema"] as? String == "leaktrace.allocations" && document["schemaVersion"] as? Int == 1)
    let json = try #require((document["reports"] as? [[String: Any]])?.first)
    let sites = try #require(json["sites"] as? [[String: Any]])
    #expect(sites.count == 4 && json["siteCount"] as? Int == 4)
    let total = try #require(json["total"] as? [String: Int])
    for part in ["sites", "types", "operations"] {
      for (field, sum) in total {
        let rows = try #require(json[part] as? [[String: Any]])
        #expect(rows.reduce(0) { $0 + (($1["total"] as! [String: Int])[field]!) } == sum, "\(part) \(field)")
      }
    }
    let trace = try #require((json["traces"] as? [[String: Any]])?.first)
    let events = try #require(trace["events"] as? [String: Int])
    #expect(events.values.reduce(0, +) == trace["eventCount"] as? Int && trace["eventCount"] as? Int == 2203)
    #expect((trace["threads"] as! [[String: Any]]).reduce(0) { $0 + ($1["events"] as! Int) } == 2203)
    let atExit = try #require(trace["atExit"] as? [String: Any])
    #expect(atExit["liveBytes"] as? Int == total["liveBytes"] && atExit["residentBytes"] as? Int == 5 << 20)
    #expect((trace["atPeak"] as? [String: Any])?["liveBytes"] as? Int == total["peakBytes"])
    #expect((trace["mismatches"] as? [String: Int])?["orphanFrees"] == 1)
  }

  @Test func framesAreCompleteAndAddressesAreHexadecimal() throws {
    let json = try parsed([try ReportFixture().report()])
    let site = try #require(((json["reports"] as! [[String: Any]])[0]["sites"] as? [[String: Any]])?.first)
    #expect(
      site["type"] as? String == "App.Image" && site["userFrame"] as? Int == 0
        && site["stackEnd"] as? String == "complete")
    let frames = try #require(site["frames"] as? [[String: Any]])
    #expect(
      frames.map { $0["function"] as! String } == [
        "Image.init()", "Image.__allocating_init()", "Cache.fill(_:)", "reabstraction thunk", "main",
      ])
    #expect(frames.map { $0["isInlined"] as! Bool } == [true, false, false, false, false])
    #expect(frames.map { $0["kind"] as! String } == ["user", "user", "user", "thunk", "user"])
    #expect(
      frames[2]["address"] as? String == "0x400020" && frames[2]["file"] as? String == "/src/Cache.swift"
        && frames[2]["line"] as? Int == 20)
    #expect(frames[2]["column"] is NSNull)
  }

  @Test func oddCharactersSurvive() throws {
    var fixture = try ReportFixture()
    let odd = "q\"b\\n\nt\tu\u{1}é🐟\u{2028}"
    fixture.trace.definitions.append(.warning(odd))
    let json = try parsed([try fixture.report()])
    let trace = ((json["reports"] as! [[String: Any]])[0]["traces"] as! [[String: Any]])[0]
    #expect((trace["warnings"] as? [String])?.last == odd)
  }

  @Test func largestNumbersStayExact() {
    let text = JSONValue.object([
      ("a", .number(.max)), ("b", .decimal(.nan)), ("c", .array([])), ("d", .object([])), ("e", .integer(.min)),
    ]).text
    #expect(
      text == """
        {
          "a": 18446744073709551615,
          "b": null,
          "c": [],
          "d": {},
          "e": -9223372036854775808
        }
        """)
  }

  @Test func everyFieldIsDocumented() throws {
    let path = #filePath.components(separatedBy: "/Tests/")[0] + "/docs/report-schema.md"
    let documentation = try String(contentsOfFile: path, encoding: .utf8)
    var names: Set<String> = []
    func collect(_ value: Any, named: Bool) {
      if let object = value as? [String: Any] {
        for (name, value) in object {
          if named { names.insert(name) }
          // The keys of this object are names of operations.
          collect(value, named: name != "events")
        }
      } else if let array = value as? [Any] {
        for value in array { collect(value, named: true) }
      }
    }
    var damaged = try ReportFixture()
    damaged.trace.eventsPerChunk = 500
    var bytes = try damaged.trace.bytes()
    bytes[5000] ^= 1
    let report = AllocationReport(
      [ReportTrace(path: "x", analysis: AllocationAnalysis(try TraceReader(bytes: bytes)))], naming: damaged.naming)
    #expect(report.traces[0].analysis.diagnostics.count > 0)
    collect(try parsed([try ReportFixture().report(), report]), named: true)
    #expect(names.count > 60)
    for name in names { #expect(documentation.contains("`\(name)`"), "\(name)") }
  }
}
