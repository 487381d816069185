// Collections that grew are reported as facts, whether or not they are suspected.

import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import LeakGates
@testable import TraceReading
@testable import TraceReports

@Suite struct GrownCollectionTests {
  private let heap = HeapBuilder()

  init() {
    heap.type("App.Message")
    heap.type("App.Room", fields: [HeapBuilder.field("log", 0)])
    heap.type("Swift._ContiguousArrayStorage<App.Message>")
    let message = ReferenceField(offset: 0, name: "", strength: .strong, kind: .object, typeName: "App.Message")
    heap.layout(
      of: "Swift._ContiguousArrayStorage<App.Message>",
      ObjectLayout(
        typeName: "", size: 32, references: [], opaque: [],
        tail: .array(
          start: 32, countOffset: 16,
          element: ValueLayout(
            typeName: "", size: 8, stride: 8, alignment: 8, references: [message], opaque: []))))
  }

  /// Makes rooms with a log each. The messages are added to the logs in turn.
  private func rooms(_ count: Int, messages: Int) {
    let rooms = (0..<count).map { _ in heap.object("App.Room") }
    let logs = rooms.map { room in
      let log = heap.object("Swift._ContiguousArrayStorage<App.Message>", size: UInt64(32 + 8 * messages))
      heap.set(room, 0, log)
      heap.words[log.address + 16] = UInt64(messages)
      heap.global(room)
      return log
    }
    for number in 0..<messages { for log in logs { heap.set(log, 2 + number, heap.object("App.Message")) } }
  }

  private func grown() throws -> [GrownCollection] { try heap.analysis().grownCollections() }

  @Test func elementsOfAFieldAreSummedOverItsObjects() throws {
    rooms(3, messages: 80)
    // The log of this room was emptied, but kept its memory.
    let room = heap.object("App.Room")
    heap.set(room, 0, heap.object("Swift._ContiguousArrayStorage<App.Message>", size: 320))
    heap.global(room)
    let row = try #require(try grown().first)
    #expect(row.holder == "Room.log" && row.holders == 3 && row.type == "Message" && row.elements == 240)
    #expect(row.bytes.rawValue == 240 * 48)
    #expect(row.quarters == row.quarters.sorted() && row.quarters.last == 240 && (row.quarters.first ?? 0) < 120)
  }

  @Test func reportWithoutFindingsStartsWithTheLargestGrownCollection() throws {
    // These are too few messages for a suspicion.
    rooms(2, messages: 11)
    let report = LeakReport(try heap.analysis())
    #expect(report.programFindings.isEmpty && report.conclusion == .growing)
    let line = FindingText.conclusion(report).sentence
    #expect(line.hasPrefix("Leaks: none found, but Room.log grew during the run, among "), "\(line)")
  }

  @Test func sharedCollectionCountsOnce() throws {
    let log = heap.object("Swift._ContiguousArrayStorage<App.Message>", size: UInt64(32 + 8 * 40))
    for _ in 0..<5 {
      let room = heap.object("App.Room")
      heap.set(room, 0, log)
      heap.global(room)
    }
    heap.words[log.address + 16] = 40
    for number in 0..<40 { heap.set(log, 2 + number, heap.object("App.Message")) }
    let row = try #require(try grown().first)
    #expect(row.elements == 40 && row.holders == 1)
  }

  @Test func libraryObjectsAmongProgramObjectsAreNotElements() throws {
    heap.type("Swift.__StringStorage")
    let log = heap.object("Swift._ContiguousArrayStorage<App.Message>", size: UInt64(32 + 8 * 80))
    let room = heap.object("App.Room")
    heap.set(room, 0, log)
    heap.global(room)
    heap.words[log.address + 16] = 80
    for number in 0..<80 {
      heap.set(log, 2 + number, heap.object(number % 2 == 0 ? "App.Message" : "Swift.__StringStorage"))
    }
    let row = try #require(try grown().first)
    #expect(row.type == "Message" && row.elements == 40)
  }

  /// Each event keeps the previous event, directly or through an envelope.
  @Test(arguments: [false, true]) func chainOfObjectsIsReportedAsGrowth(hasEnvelopes: Bool) throws {
    heap.type("App.Envelope", fields: [HeapBuilder.field("event", 0)])
    heap.type("App.Event", fields: [HeapBuilder.field("previous", 0)])
    var last = heap.object("App.Event")
    for _ in 0..<80 {
      let event = heap.object("App.Event")
      if hasEnvelopes {
        let envelope = heap.object("App.Envelope")
        heap.set(envelope, 0, last)
        heap.set(event, 0, envelope)
      } else {
        heap.set(event, 0, last)
      }
      last = event
    }
    heap.global(last)
    let rows = try grown()
    #expect(rows.count == 1)
    let row = try #require(rows.first)
    #expect(["Event.previous", "Envelope.event"].contains(row.holder))
    #expect((80...81).contains(row.elements) && ["Event", "Envelope"].contains(row.type))
  }

  /// Owners and parts that refer to each other are not a chain.
  @Test func pairsAreNotAChain() throws {
    heap.type("App.Owner", fields: [HeapBuilder.field("part", 0)])
    heap.type("App.Part", fields: [HeapBuilder.field("owner", 0)])
    for _ in 0..<30 {
      let (owner, part) = (heap.object("App.Owner"), heap.object("App.Part"))
      heap.set(owner, 0, part)
      heap.set(part, 0, owner)
      heap.global(owner)
    }
    #expect(try grown().isEmpty)
  }

  /// The program makes the elements in the first two thirds of the run, and uses all of them in the last third.
  @Test func elementsMadeOverMostOfTheRunAreReported() throws {
    rooms(1, messages: 60)
    for _ in 0..<30 { heap.global(heap.malloc(16)) }
    let row = try #require(try grown().first)
    #expect(row.elements == 60 && row.quarters[2] == 60)
  }

  @Test func elementsMadeAtTheStartAreNotReported() throws {
    rooms(1, messages: 30)
    for _ in 0..<120 { heap.global(heap.malloc(16)) }
    #expect(try grown().isEmpty)
  }

  @Test func libraryObjectWithElementsIsACollectionOfItsHolder() throws {
    heap.type("Foundation.Box", fields: (0..<20).map { HeapBuilder.field("element\($0)", $0) })
    let box = heap.object("Foundation.Box", size: 16 + 8 * 20)
    let room = heap.object("App.Room")
    heap.set(room, 0, box)
    heap.global(room)
    for number in 0..<20 { heap.set(box, number, heap.object("App.Message")) }
    let row = try #require(try grown().first)
    #expect(row.holder == "Room.log" && row.elements == 20 && row.type == "Message")
  }

  enum Course: CaseIterable { case steady, ofTheStart, madeAnew, few }

  /// A collection whose elements have no memory of their own is recognised by its reallocations.
  @Test(arguments: Course.allCases) func valuesAreReportedIfTheirCollectionGrowsLate(course: Course) throws {
    heap.type("Swift._ContiguousArrayStorage<App.Reading>")
    let room = heap.object("App.Room")
    heap.global(room)
    let site: [UInt64] = [0x1000_1080]
    var storage: HeapBuilder.Object?
    func enlarge(to count: Int) {
      if let storage { heap.free(storage) }
      let new = heap.object("Swift._ContiguousArrayStorage<App.Reading>", size: UInt64(32 + 48 * count), stack: site)
      heap.words[new.address + 16] = UInt64(count)
      heap.set(room, 0, new)
      storage = new
    }
    let count = course == .few ? 64 : 512
    for number in 1...count {
      // The program also does other work.
      if course != .ofTheStart { heap.free(heap.malloc(16)) }
      if course == .madeAnew || number.nonzeroBitCount == 1 { enlarge(to: number) }
    }
    if course == .ofTheStart { for _ in 0..<count { heap.free(heap.malloc(16)) } }
    let rows = try grown()
    guard course == .steady else {
      #expect(rows.isEmpty)
      return
    }
    let row = try #require(rows.first)
    #expect(row.holder == "Room.log" && row.holders == 1 && row.type == "Reading" && row.elements == 512)
    #expect(row.quarters.last == 512 && (100...156).contains(row.quarters[0]) && (200...312).contains(row.quarters[1]))
  }

  /// A cache with a limit has 40 rooms at a time, each with a log that is never enlarged.
  @Test func valuesOfReplacedHoldersAreNotReported() throws {
    heap.type("Swift._ContiguousArrayStorage<App.Reading>")
    var rooms: [(room: HeapBuilder.Object, log: HeapBuilder.Object)] = []
    for _ in 0..<400 {
      if rooms.count == 40 {
        let oldest = rooms.removeFirst()
        heap.free(oldest.log)
        heap.free(oldest.room)
      }
      let room = heap.object("App.Room", stack: [0x1000_1040])
      let log = heap.object("Swift._ContiguousArrayStorage<App.Reading>", size: 640, stack: [0x1000_1080])
      heap.words[log.address + 16] = 64
      heap.set(room, 0, log)
      rooms.append((room, log))
    }
    for (room, _) in rooms { heap.global(room) }
    #expect(try grown().isEmpty)
  }

  @Test func fewElementsAreNotReported() throws {
    rooms(3, messages: 5)
    #expect(try grown().isEmpty)
  }

  @Test func ringBufferIsNotReported() throws {
    let room = heap.object("App.Room")
    let log = heap.object("Swift._ContiguousArrayStorage<App.Message>", size: 32 + 8 * 20)
    heap.set(room, 0, log)
    heap.global(room)
    heap.words[log.address + 16] = 20
    var ring: [HeapBuilder.Object] = []
    for number in 0..<400 {
      let message = heap.object("App.Message")
      if ring.count == 20 { heap.free(ring.removeFirst()) }
      ring.append(message)
      heap.set(log, 2 + number % 20, message)
    }
    #expect(try grown().isEmpty)
  }

  @Test func collectionsFilledAtTheStartAreNotReported() throws {
    rooms(2, messages: 20)
    for _ in 0..<1000 { _ = heap.object("App.Message") }
    #expect(try grown().isEmpty)
  }
}
