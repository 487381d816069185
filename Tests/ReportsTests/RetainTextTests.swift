import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceReports
@testable import TraceSymbolication

/// The answer of `leaktrace why`, as text and as JSON.
@Suite struct RetainTextTests {
  private func list(_ count: Int) throws -> (RetainAnswer, TraceSnapshot, [HeapBuilder.Object]) {
    let heap = HeapBuilder()
    heap.type("App.Node", fields: [HeapBuilder.field("next", 0)])
    let nodes = (0..<count).map { _ in heap.object("App.Node") }
    for (a, b) in zip(nodes, nodes.dropFirst()) { heap.set(a, 0, b) }
    heap.global(nodes[0])
    let analysis = try heap.analysis()
    return (analysis.explain(.type(NamePattern("Node")), limit: 5), analysis.model.snapshot, nodes)
  }

  /// Returns the words of a text, separated by single spaces.
  private func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

  @Test func chainShowsItsFirstLinkLengthAndAddresses() throws {
    let (answer, _, _) = try list(100)
    let text = words(RetainText(style: TextStyle(width: 100)).text(answer, subject: "Node", remarks: []))
    #expect(
      text.hasPrefix(
        "Node: 100 live objects, held in 1 way a variable of app 100 objects, 4.69 KiB retained Node 0x500000000000 "))
    #expect(text.contains("└ .next strong ──▶ Node 0x500000010000 "))
    #expect(
      text.hasSuffix(
        "A chain: the longest path to one of these objects has 100 steps. Objects: 0x500000000000, 0x500000010000, 0x500000020000, 0x500000030000, "
          + "0x500000040000, 0x500000050000, 0x500000060000, 0x500000070000, 92 more"))
  }

  @Test func singleObjectShowsOnlyItsPath() throws {
    let (answer, _, _) = try list(1)
    let text = words(RetainText(style: TextStyle(width: 80)).text(answer, subject: "Node", remarks: ["a remark"]))
    #expect(
      text
        == "Node: 1 live object, held in 1 way note: a remark a variable of app 1 object, 48 B retained Node 0x500000000000 allocated in main() App.swift:0"
    )
  }

  @Test func jsonHasEachWayWithItsPathAndAddresses() throws {
    let (answer, snapshot, nodes) = try list(3)
    let text = RetainJSON.text(answer, subject: "Node", snapshot: snapshot, remarks: ["a remark"])
    let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(document["schema"] as? String == "leaktrace.why" && document["schemaVersion"] as? Int == 1)
    #expect(document["subject"] as? String == "Node" && document["snapshotNumber"] as? Int == 1)
    #expect(
      document["objects"] as? Int == 3 && document["wayCount"] as? Int == 1
        && document["remarks"] as? [String] == ["a remark"])
    let way = try #require((document["ways"] as? [[String: Any]])?.first)
    #expect((way["root"] as? [String: String]) == ["kind": "global", "name": "a variable of app"])
    #expect(way["objects"] as? Int == 3 && way["longestPath"] as? Int == 3 && way["retainedBytes"] as? Int == 144)
    #expect(way["addresses"] as? [String] == nodes.map { "0x" + String($0.address, radix: 16) })
    let path = try #require(way["path"] as? [[String: Any]])
    #expect(path.map { $0["address"] as? String } == nodes.prefix(2).map { "0x" + String($0.address, radix: 16) })
    #expect((path[0]["edge"] as? [String: Any])?["name"] as? String == "next")
  }
}
