// One cause is one finding, however many places it occurs at, and the finding is equal in each run.

import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceReports
@testable import TraceSymbolication
@testable import Wording

@Suite struct FindingPlaceTests {
  private typealias Heap = HeapBuilder

  /// Makes channels in cycles with their pipelines, which a package's initialiser creates: `count` channels from each
  /// of the sites.
  private func channels(_ heap: HeapBuilder, _ sites: [(site: UInt64, count: Int)]) -> [HeapBuilder.Object] {
    heap.type("Net.Channel", fields: [Heap.field("pipeline", 0)])
    heap.type("Net.Pipeline", fields: [Heap.field("channel", 0)])
    return sites.flatMap { site, count in
      (0..<count).map { _ in
        let channel = heap.object("Net.Channel", stack: [site])
        let pipeline = heap.object("Net.Pipeline", stack: [site, 0x1000_1F00])
        heap.set(channel, 0, pipeline)
        heap.set(pipeline, 0, channel)
        return channel
      }
    }
  }

  private let functions: [UInt64: String] = [
    0x1000_1010: "testReading()", 0x1000_1020: "testWriting()", 0x1000_1F00: "Channel.init()",
  ]

  @Test func cyclesFromOneFunctionAreOneFindingThatListsPlaces() throws {
    let heap = HeapBuilder()
    _ = channels(heap, [(0x1000_1010, 2), (0x1000_1020, 5)])
    let findings = try heap.findings(functions)
    #expect(findings.map(\.instances) == [7])
    let finding = try #require(findings.first)
    #expect(finding.places.map(\.allocation?.function) == ["testWriting()", "testReading()"])
    #expect(finding.places.map(\.instances) == [5, 2])
    #expect(finding.places.map(\.retainedBytes.rawValue) == [480, 192])
    #expect(finding.path.first?.allocation?.function == "testWriting()")
    let text = FindingText.text(finding, style: TextStyle())
    #expect(text.contains("In 2 places:") && text.contains("testReading()"))
  }

  @Test func fingerprintSurvivesAFixOfOnePlace() throws {
    let before = HeapBuilder()
    _ = channels(before, [(0x1000_1010, 2), (0x1000_1020, 5)])
    let after = HeapBuilder()
    _ = channels(after, [(0x1000_1010, 2)])
    #expect(try before.findings(functions).map(\.fingerprint) == after.findings(functions).map(\.fingerprint))
  }

  @Test func staleWordThatShortensACycleKeepsTheFingerprint() throws {
    func fingerprints(leftOver: Bool) throws -> [String] {
      let heap = HeapBuilder()
      heap.type("App.Screen", fields: [Heap.field("model", 0), Heap.field("buffer", 1, .unmanaged)])
      heap.type("App.Model", fields: [Heap.field("feed", 0)])
      heap.type("App.Feed", fields: [Heap.field("cache", 0)])
      heap.type("App.Cache", fields: [Heap.field("screen", 0)])
      let objects = ["Screen", "Model", "Feed", "Cache"].map { heap.object("App.\($0)") }
      for (index, object) in objects.enumerated() { heap.set(object, 0, objects[(index + 1) % 4]) }
      let buffer = heap.malloc(64)
      heap.set(objects[0], 1, buffer)
      if leftOver { heap.words[buffer.address] = objects[0].address }
      return try heap.findings().map(\.fingerprint)
    }
    let expected = try fingerprints(leftOver: false)
    #expect(expected.count == 1)
    #expect(try fingerprints(leftOver: true) == expected)
  }

  @Test func linesOfOneFunctionAreListedWithTheirCounts() throws {
    let heap = HeapBuilder()
    for (site, size) in [
      (0x1000_1007 as UInt64, 10 as UInt64), (0x1000_1008, 2000), (0x1000_1009, 30), (0x1000_100A, 400_000),
    ] { _ = heap.malloc(size, stack: [site]) }
    let findings = try heap.findings([
      0x1000_1007: "fill()", 0x1000_1008: "fill()", 0x1000_1009: "fill()", 0x1000_100A: "fill()",
    ])
    #expect(findings.map(\.instances) == [4])
    let finding = try #require(findings.first)
    #expect(finding.places.map(\.allocation?.line) == [10, 8, 9, 7])
    #expect(finding.places.map(\.retainedBytes.rawValue) == [400_000, 2000, 30, 10])
    // A title with the size at one line would be wrong for the other lines.
    #expect(FindingTitle.subject(finding) == "10 B to 391 KiB of malloc")
  }

  @Test func retainedObjectsOfOneInstanceAreNotAttributedToOthers() throws {
    let heap = HeapBuilder()
    heap.type("App.Album", fields: [Heap.field("photo", 0)])
    heap.type("App.Photo", fields: [])
    for isFilled in [true, false] {
      let album = heap.object("App.Album")
      if isFilled { heap.set(album, 0, heap.object("App.Photo")) }
    }
    let finding = try #require(try heap.findings().first)
    #expect(finding.instances == 2 && !finding.held.isEqualForEach)
    #expect(!FindingText.text(finding, style: TextStyle()).contains("Each also keeps"))
  }

  @Test func tasksOfOnePlaceWithDifferentAwaitsAreTwoFindings() throws {
    let heap = HeapBuilder()
    for resume in [0x1000_3000 as UInt64, 0x1000_3000, 0x1000_3100] {
      let task = heap.malloc(512, stack: [0x1000_1050])
      heap.words[task.address] = HeapBuilder.taskMetadata
      heap.words[task.address + 0x38] = resume
    }
    let findings = try heap.findings([
      0x1000_1050: "start()", 0x1000_3000: "waitForAnswer()", 0x1000_3100: "waitForRetry()",
    ])
    #expect(findings.map(\.verdict) == [.suspended, .suspended])
    #expect(
      Set(findings.map { "\($0.path[0].function?.function ?? "") \($0.instances)" }) == [
        "waitForAnswer() 2", "waitForRetry() 1",
      ])
  }

  @Test func listElementsShareOneWay() throws {
    let heap = HeapBuilder()
    heap.type("App.Entry", fields: [])
    var next: HeapBuilder.Object?
    for _ in 0..<40 {
      let cell = heap.malloc(32)
      heap.words[cell.address + 8] = heap.object("App.Entry").address
      if let next { heap.words[cell.address] = next.address }
      next = cell
    }
    heap.global(try #require(next))
    let answer = try heap.analysis().explain(.type(NamePattern("Entry")), limit: 10)
    #expect(answer.ways == 1 && answer.groups.map(\.instances) == [40])
  }

  @Test func digestStoresEachPlaceSeparately() throws {
    let heap = HeapBuilder()
    _ = channels(heap, [(0x1000_1010, 2), (0x1000_1020, 5)])
    let finding = try #require(try heap.findings(functions).first)
    let parts = finding.byPlace
    #expect(parts.map(\.instances) == [5, 2] && parts.map(\.places.count) == [1, 1])
    #expect(parts.map { $0.path.first?.allocation?.function } == ["testWriting()", "testReading()"])
    #expect(Set(parts.map(\.fingerprint)) == [finding.fingerprint])
  }
}
