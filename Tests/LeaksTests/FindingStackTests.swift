import Foundation
import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import LeakGates
@testable import TraceReading
@testable import TraceReports

/// A finding's stacks: the stacks of its allocations, and of the references that were not released.
@Suite struct FindingStackTests {
  private static let functions: [UInt64: String] = [
    0x1000_1000: "main()", 0x1000_2000: "Store.load()", 0x1000_2001: "Store.load()", 0x1000_3000: "Registry.add(_:)",
    0x1000_3001: "Registry.remove(_:)", 0x1000_4000: "system swift_retain",
  ]

  private func report(_ heap: HeapBuilder) throws -> LeakReport {
    let analysis = try heap.analysis(Self.functions)
    let reader = try heap.reader()
    let snapshot = try #require(reader.snapshots.last)
    var report = LeakReport(analysis)
    report.findStacks(reader, AllocationAnalysis(reader, snapshot: snapshot), naming: FunctionTable(Self.functions))
    return report
  }

  /// Makes three lost objects at one line of a function, and one at another line. Each object is retained twice, and
  /// released once.
  private func lost() -> (HeapBuilder, HeapBuilder.Object) {
    let heap = HeapBuilder()
    heap.type("App.Item", fields: [])
    let loaded = (0..<3).map { _ in heap.object("App.Item", stack: [0x1000_1000, 0x1000_2000]) }
    let reloaded = heap.object("App.Item", stack: [0x1000_1000, 0x1000_2001])
    for item in loaded + [reloaded] {
      heap.retain(item, stack: [0x1000_1000, 0x1000_3000, 0x1000_4000])
      heap.retain(item, stack: [0x1000_1000, 0x1000_3001])
      heap.time += 8
      heap.trace.event(.release, item.address, stack: heap.trace.stack([0x1000_1000, 0x1000_3001]), time: heap.time)
      heap.time += 8
      heap.trace.event(.release, item.address, stack: heap.trace.stack([0x1000_1000, 0x1000_2000]), time: heap.time)
    }
    return (heap, loaded[0])
  }

  @Test func stacksCountTheInstancesTheyAllocated() throws {
    let report = try report(lost().0)
    let finding = try #require(report.findings.first)
    #expect(report.findings.count == 1 && finding.verdict == .lost && finding.instances == 4)
    #expect(finding.origins.stacks.map(\.instances) == [3, 1])
    let stacks = try #require(report.stacks[finding.fingerprint])
    #expect(stacks.allocations.map(\.instances) == [3, 1])
    #expect(
      stacks.allocations.map { $0.stack.frames.map(\.source.function) } == [
        ["Store.load()", "main()"], ["Store.load()", "main()"],
      ])
    #expect(stacks.allocations.map { $0.stack.frames.first?.source.line } == [0, 1])
    #expect(stacks.allocations.allSatisfy { $0.stack.userFrame == 0 && $0.stack.end == .complete })
  }

  @Test func unbalancedRetainHasItsStack() throws {
    let (heap, shown) = lost()
    let report = try report(heap)
    let object = try #require(report.stacks.values.first?.objects.first)
    #expect(object.type == "Item" && object.address.rawValue == shown.address)
    let references = try #require(object.references)
    #expect(references.map(\.operation) == [.retain] && references.map(\.count) == [1])
    #expect(
      references[0].stack.frames.map(\.source.function) == ["swift_retain", "Registry.add(_:)", "main()"]
        && references[0].stack.userFrame == 1)
  }

  @Test func textShowsStacksOnlyOnRequest() throws {
    let report = try report(lost().0)
    func text(_ stacks: TextStyle.Stacks) -> String {
      LeakText.text(report, style: TextStyle(width: 120, stacks: stacks))
    }
    let full = text(.full)
    #expect(
      full.contains("Allocated, 3 instances:") && full.contains("Allocated, 1 instance:")
        && full.contains("Not released, Item 0x500000000000: 1 reference of swift_retain:"), "\(full)")
    #expect(full.contains("Registry.add(_:)  /src/App.swift:0"))
    #expect(!text(.folded).contains("Not released, Item"))
  }

  @Test func jsonIncludesStacks() throws {
    let report = try report(lost().0)
    let text = JSONValue.object(FindingJSON.fields(report)).text
    let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let finding = try #require((document["findings"] as? [[String: Any]])?.first)
    let stacks = try #require(finding["stacks"] as? [[String: Any]])
    #expect(
      stacks.map { $0["instances"] as? Int } == [3, 1] && stacks.map { ($0["frames"] as? [Any])?.count } == [2, 2])
    let object = try #require((finding["unreleased"] as? [[String: Any]])?.first)
    #expect(object["address"] as? String == "0x500000000000")
    let references = try #require(object["references"] as? [[String: Any]])
    #expect(
      references.map { $0["operation"] as? String } == ["swift_retain"] && references.map { $0["count"] as? Int } == [1]
    )
    #expect((finding["tests"] as? [Any])?.isEmpty == true)
  }

  @Test func objectsOfACycleListTheirReferences() throws {
    let heap = HeapBuilder()
    heap.type("App.Parent", fields: [HeapBuilder.field("child", 0)])
    heap.type("App.Child", fields: [HeapBuilder.field("parent", 0)])
    let (parent, child) = (heap.object("App.Parent"), heap.object("App.Child"))
    heap.set(parent, 0, child)
    heap.set(child, 0, parent)
    heap.retain(parent, stack: [0x1000_1000, 0x1000_3000])
    let report = try report(heap)
    let objects = try #require(report.stacks.values.first?.objects)
    #expect(Set(objects.map(\.type)) == ["Parent", "Child"])
    // The references are the initial ones, and the one that was retained.
    #expect(objects.map { $0.references?.count } == objects.map { $0.type == "Parent" ? 2 : 1 })
  }

  @Test func sharesOfOneStackOrTestAreSummedWithoutOverflow() {
    typealias Test = Finding.TestShare
    #expect(
      Finding.joined([Test(name: "b", instances: 2), Test(name: "a", instances: .max), Test(name: "a", instances: 5)])
        == [Test(name: "a", instances: .max), Test(name: "b", instances: 2)])
    let many = (0..<100).map { Finding.StackShare(stack: StackID(UInt32($0)), instances: $0) }
    #expect(Finding.joined(many).map(\.instances) == (68..<100).reversed())
  }
}
