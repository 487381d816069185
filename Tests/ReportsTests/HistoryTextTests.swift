import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceReports

@Suite struct HistoryTextTests {
  /// An object that two threads retain, and that has an unowned reference. One retain has no release.
  private func fixture(visits: Int = 1) throws -> (HistoryReport, HistoryAnalysis) {
    var trace = TraceBuilder()
    trace.definitions = [.process(ProcessRecord(executable: "/bin/app", flags: 1))]
    trace.image("/bin/app", 0x40_0000..<0x50_0000, bias: 0x40_0000)
    let node = trace.type("App.Node")
    var naming = TableNaming()
    naming.add(0x40_0010, "main", file: "/src/main.swift", line: 3)
    naming.add(0x40_0020, "Graph.build()", file: "/src/Graph.swift", line: 20)
    naming.add(0x40_0021, "Graph.build()", file: "/src/Graph.swift", line: 24)
    naming.add(0x40_0030, "Node.init()", file: "/src/Node.swift", line: 7)
    naming.add(0x40_0040, "Registry.add(_:)", file: "/src/Registry.swift", line: 11)
    naming.add(0x40_0050, "Visitor.visit(_:)", file: "/src/Visitor.swift", line: 5)
    naming.add(0x40_0051, "Visitor.visit(_:)", file: "/src/Visitor.swift", line: 6)
    naming.add(0x70_0010, "swift_allocObject", kind: .systemLibrary, image: "/lib/libswiftCore.so")
    let address: UInt64 = 0x7F00_1000
    var time: UInt64 = 1_000_000
    func event(
      _ operation: TraceReading.Operation, _ stack: [UInt64], size: UInt64 = 0, thread: UInt32 = 1,
      after ticks: UInt64 = 1600
    ) {
      time += ticks
      trace.event(
        operation, address, size: size, type: operation == .object ? node : 0, stack: trace.stack(stack), time: time,
        thread: thread)
    }
    event(.object, [0x40_0010, 0x40_0020, 0x40_0030, 0x70_0010], size: 48)
    event(.retain, [0x40_0010, 0x40_0040])
    for _ in 0..<visits {
      event(.retainN, [0x40_0050], size: 2, thread: 2)
      event(.releaseN, [0x40_0051], size: 2, thread: 2, after: 4_000_000)
    }
    event(.unownedRetain, [0x40_0010, 0x40_0020])
    event(.release, [0x40_0010, 0x40_0021])
    let reader = try trace.reader()
    let analysis = HistoryAnalysis(reader, AllocationAnalysis(reader), snapshot: nil, naming: naming)
    return (try #require(analysis.report(.address(RuntimeAddress(address)))), analysis)
  }

  @Test func historyHasTheExpectedText() throws {
    let (report, analysis) = try fixture()
    #expect(
      HistoryText(style: TextStyle(width: 100), frames: analysis.frames).text(report) == """
        Node 0x7f001000, 48 B, not freed; 1 reference never released
          4 references taken, 3 released
          note: there is no heap image to check the balance against

        Never released
          1 retain in Registry.add(_:)  Registry.swift:11

        History, 6 events: time since the allocation, strong references, what happened
          1      0 s  thread 1  1  allocated       → 6             Graph.build()  Graph.swift:20
        ▶ 2   1.6 µs  thread 1  2  retain          never released  Registry.add(_:)  Registry.swift:11
          3   3.2 µs  thread 2  4  retain ×2       → 4             Visitor.visit(_:)  Visitor.swift:5
          4  4.00 ms  thread 2  2  release ×2      ← 3             Visitor.visit(_:)  Visitor.swift:6
          5  4.00 ms  thread 1  2  unowned retain                  Graph.build()  Graph.swift:20
          6  4.01 ms  thread 1  1  release         ← 1             Graph.build()  Graph.swift:24

        """)
  }

  @Test(arguments: [40, 60, 120]) func linesFitTheWidth(width: Int) throws {
    let (report, analysis) = try fixture()
    for stacks in [TextStyle.Stacks.folded, .full] {
      let text = HistoryText(style: TextStyle(width: width, stacks: stacks), frames: analysis.frames).text(report)
      for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
      #expect(text.contains("Registry.add(_:)"))
    }
  }

  @Test func longHistoriesShowTheirEndsAndUnmatchedEvents() throws {
    let (report, analysis) = try fixture(visits: 50)
    let short = HistoryText(style: TextStyle(width: 120), limit: 1, frames: analysis.frames).text(report)
    #expect(
      short.contains("▶   2") && short.contains("… 101 events left out: 100 taken, 100 released; --limit 0 shows all\n")
    )
    #expect(short.contains("  104  "))
    let all = HistoryText(style: TextStyle(width: 120), limit: nil, frames: analysis.frames).text(report)
    #expect(!all.contains("left out") && all.split(separator: "\n").count > 104)
  }

  @Test func everyFieldOfTheJSONIsDocumented() throws {
    let (report, _) = try fixture()
    let text = HistoryJSON.text(report, subject: "0x7f001000")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let sites = try #require(object["retainSites"] as? [[String: Any]])
    #expect(sites.first?["function"] as? String == "Registry.add(_:)" && sites.first?["notGivenUp"] as? Int == 1)
    let events = try #require((object["object"] as? [String: Any])?["events"] as? [[String: Any]])
    #expect(events.map { $0["strong"] as? Int } == [1, 2, 4, 2, 2, 1])
    #expect(events.map { $0["pairedWith"] as? [Int] } == [[6], [], [4], [3], [], [1]])

    let path = #filePath.components(separatedBy: "/Tests/")[0] + "/docs/report-schema.md"
    let documentation = try String(contentsOfFile: path, encoding: .utf8)
    var names: Set<String> = []
    func collect(_ value: Any) {
      if let object = value as? [String: Any] {
        for (name, value) in object {
          names.insert(name)
          collect(value)
        }
      } else if let array = value as? [Any] {
        array.forEach(collect)
      }
    }
    collect(object)
    #expect(names.count > 25)
    for name in names { #expect(documentation.contains("`\(name)`"), "\(name)") }
  }
}
