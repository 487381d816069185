// A series of images as text and as JSON: curves, widths, and remarks.

import Foundation
import Testing

@testable import LeakDetection
@testable import LeakGates
import TextWriting
@testable import TraceReading
@testable import TraceReports

@Suite struct SeriesTextTests {
  private static let process = WatchedProcess(
    program: "/srv/feed-server", processID: 4711, remarks: ["the process has ended"])

  private static func series(_ images: Int) -> SeriesGrowth {
    var series = ImageSeries()
    for image in 0..<images {
      func row(_ type: String, _ holder: String, _ count: Int) -> HolderCensus.Row {
        var row = HolderCensus.Row(
          key: .init(type: type, holder: holder), name: type, kind: .object, holderKind: .field)
        (row.objects, row.bytes, row.retainedBytes) = (UInt64(count), UInt64(48 * count), UInt64(200 * count))
        return row
      }
      let rows = [
        row("Session", "Server.sessions", 20 * image), row("Page", "PageCache.entries", min(100, 50 * image)),
        row(
          "AVeryLongNameOfAGenericType<WithSeveralArguments, EachOfWhichIsLong>", "AnotherLongName.itsField",
          3 + image / 2),
      ]
      series.add(
        ImageMoment(time: 600 * Double(image), resident: UInt64(40 << 20 + image << 20), live: UInt64(image << 20)),
        ImageCensus(census: HolderCensus(rows: rows, objects: 1, bytes: 1)), findings: [])
    }
    return series.growth()
  }

  @Test(arguments: [60, 80, 120]) func linesFitTheTerminal(width: Int) {
    let text = SeriesText(style: TextStyle(width: width)).text(Self.process, Self.series(12), leaks: nil)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= width })
    #expect(text.contains("/srv/feed-server (pid 4711): 12 images over 110.0 min"))
    #expect(text.contains("Suspected to leak: 1") && text.contains("Session in Server.sessions"))
    #expect(text.contains("Strong suspicion") && text.contains("120 an hour"))
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("levels off") && text.contains("note: the process has ended"))
    #expect(!text.contains("\u{1B}"))
  }

  @Test func weakSuspicionExplainsItsWeakness() {
    func text(_ images: Int, _ kind: HolderCensus.HolderKind) -> String {
      var series = ImageSeries()
      for image in 0..<images {
        var row = HolderCensus.Row(
          key: .init(type: "Order", holder: "a task in closure  in Desk.open()"), name: "Order", kind: .object,
          holderKind: kind)
        (row.objects, row.bytes) = (UInt64(20 * image), UInt64(960 * image))
        series.add(
          ImageMoment(time: 600 * Double(image)),
          ImageCensus(census: HolderCensus(rows: [row], objects: 1, bytes: 1)), findings: [])
      }
      return SeriesText().text(Self.process, series.growth(), leaks: nil)
        .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    #expect(text(12, .task).contains("Suspected to leak: 1 (1 weak) Order in a task in closure in Desk.open()"))
    #expect(text(12, .task).contains("Weak suspicion (a task may be at work with them)"))
    #expect(text(7, .task).contains("Weak suspicion (7 images; it takes 10 to be sure)"))
    #expect(text(12, .library).contains("Weak suspicion (they may wait for their turn)"))
    #expect(text(12, .field).contains("Strong suspicion"))
  }

  @Test func singleImageIsNotJudged() {
    let text = SeriesText().text(Self.process, Self.series(1), leaks: nil)
    #expect(text.contains("Growth: not judged with 1 image; it takes 6"))
  }

  @Test func curveShowsValuesByTime() {
    let values = (0..<8).map(Double.init)
    #expect(CurveText.text(values, times: values, columns: 8) == "▁▂▃▄▅▆▇█")
    #expect(CurveText.text(values, times: values, columns: 4).count == 4)
    #expect(CurveText.text([5, 5, 5], times: [0, 1, 2], columns: 8) == "▁▁▁")
    // The curve shows the changes at the end of the time.
    #expect(CurveText.text([0, 1, 1, 1, 1], times: [0, 36, 37, 38, 40], columns: 5) == "▁▁▁▁█")
    #expect(CurveText.text([], times: [], columns: 8).isEmpty)
    #expect(CurveText.text([3], times: [7], columns: 8) == "▁")
  }

  @Test func documentMatchesItsDocumentation() throws {
    let text = SeriesJSON.text(Self.process, Self.series(12), leaks: nil, gates: GateReport(outcomes: []))
    let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(document["schema"] as? String == "leaktrace.watch" && document["schemaVersion"] as? Int == 1)
    let suspects = try #require(document["suspects"] as? [[String: Any]])
    #expect(suspects.count == 1 && (suspects[0]["counts"] as? [Int])?.last == 220)
    #expect((suspects[0]["suspicion"] as? [String: Any])?["strength"] as? String == "strong")
    let path = #filePath.components(separatedBy: "/Tests/")[0] + "/docs/watching.md"
    let documentation = try String(contentsOfFile: path, encoding: .utf8)
    for name in Set(document.keys).union(suspects[0].keys).subtracting(["gates", "baseline", "gone"]) {
      #expect(documentation.contains("`\(name)`"), "\(name)")
    }
  }
}
