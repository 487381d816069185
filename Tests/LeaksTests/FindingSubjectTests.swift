// Findings whose path ends at a library's object name the program's objects behind it.

import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceReports
@testable import Wording

@Suite struct FindingSubjectTests {
  private typealias Names = PackageProgram

  /// Returns the finding about lost subscriptions of a package. Each has a closure, which may capture something. `other`:
  /// the number of an earlier subscription, to whose captured object a stale word of the closure leads.
  private func lost(
    _ count: Int, of made: [UInt64] = [Names.open, Names.sink], leads other: (Int) -> Int? = { _ in nil },
    capture: (HeapBuilder, Int) -> HeapBuilder.Object?
  ) throws -> Finding {
    let heap = HeapBuilder()
    heap.type("Feeds.Subscription", fields: [HeapBuilder.field("receive", 0)])
    heap.type("closure", kind: .closureContext, fields: nil)
    heap.type("Shop.Order")
    heap.type("Shop.Desk")
    var captures: [HeapBuilder.Object?] = []
    for index in 0..<count {
      let subscription = heap.object("Feeds.Subscription", stack: [0x1000_1010] + made)
      let closure = heap.object("closure", stack: [0x1000_1010, Names.open])
      heap.set(subscription, 0, closure)
      captures.append(capture(heap, index))
      if let captured = captures[index] { heap.set(closure, 0, captured) }
      if let captured = other(index).flatMap({ captures[$0] }) { heap.set(closure, 1, captured) }
    }
    let findings = try heap.analysis(naming: Names()).findings().filter {
      $0.path.first?.qualifiedType == "Feeds.Subscription"
    }
    #expect(findings.count == 1)
    return try #require(findings.first)
  }

  private func title(_ finding: Finding) -> String { FindingTitle.subject(finding) }

  @Test func libraryObjectIsNamedByTheProgramObjectEachInstanceKeeps() throws {
    let finding = try lost(5) { heap, _ in heap.object("Shop.Order", stack: [0x1000_1010, Names.open]) }
    #expect(finding.subject?.type == "Order" && finding.subject?.count == 5)
    #expect(finding.subject?.allocation?.function == "Desk.open(_:)")
    #expect(title(finding) == "Order from Desk.open(_:)")
    #expect(FindingText.text(finding, style: TextStyle()).contains("Each is kept by a Subscription."))
  }

  @Test func objectSharedByAllInstancesIsNotTheSubject() throws {
    var desk: HeapBuilder.Object?
    let finding = try lost(5) { heap, _ in
      desk = desk ?? heap.object("Shop.Desk", stack: [0x1000_1010, Names.open])
      return desk
    }
    #expect(finding.subject == nil)
    #expect(title(finding) == "Subscription from Desk.open(_:)")
  }

  @Test func staleWordToTheObjectOfAnotherInstanceHidesNoSubject() throws {
    let finding = try lost(8, leads: { $0 > 0 ? $0 - 1 : nil }) { heap, _ in
      heap.object("Shop.Order", stack: [0x1000_1010, Names.open])
    }
    #expect(finding.subject?.type == "Order" && finding.subject?.count == 8)
  }

  /// Each order has two or three subscriptions, so few of these have one for themselves.
  @Test(arguments: [2, 3]) func objectSharedByFewInstancesIsNotTheSubject(sharing: Int) throws {
    var order: HeapBuilder.Object?
    let finding = try lost(12) { heap, index in
      if index % sharing == 0 { order = heap.object("Shop.Order", stack: [0x1000_1010, Names.open]) }
      return order
    }
    #expect(finding.subject == nil)
  }

  @Test(arguments: [1, 2, 5]) func subjectIsLeakedWithMostInstances(reachable: Int) throws {
    let finding = try lost(8) { heap, index in
      let order = heap.object("Shop.Order", stack: [0x1000_1010, Names.open])
      if index >= 8 - reachable { heap.global(order) }
      return order
    }
    #expect(finding.subject?.count == (reachable == 1 ? 7 : nil))
  }

  @Test func objectKeptBySomeInstancesIsNotTheSubject() throws {
    let finding = try lost(6) { heap, index in
      index % 2 == 0 ? heap.object("Shop.Order", stack: [0x1000_1010, Names.open]) : nil
    }
    #expect(finding.subject == nil)
  }

  @Test func libraryClassInstantiatedByTheProgramKeepsItsName() throws {
    let finding = try lost(5, of: [Names.open]) { heap, _ in
      heap.object("Shop.Order", stack: [0x1000_1010, Names.open])
    }
    #expect(title(finding) == "Subscription, keeping Order")
  }

  /// The first object by address belongs to the leak, but not to the shortest cycle. Both keep the same objects.
  @Test func cycleOfLibraryObjectsIsNamedByItsContents() throws {
    let heap = HeapBuilder()
    heap.type(
      "Feeds.Subscription",
      fields: [HeapBuilder.field("next", 0), HeapBuilder.field("first", 1), HeapBuilder.field("order", 2)])
    heap.type("Shop.Order")
    let links = (0..<3).map { _ in heap.object("Feeds.Subscription", stack: [0x1000_1010, Names.open, Names.sink]) }
    for (source, target) in [(0, 1), (1, 2), (2, 1)] { heap.set(links[source], 0, links[target]) }
    heap.set(links[2], 1, links[0])
    heap.set(links[1], 2, heap.object("Shop.Order", stack: [0x1000_1010, Names.open]))
    let finding = try #require(heap.analysis(naming: Names()).findings().first)
    #expect(finding.verdict == .retainCycle && finding.path.count == 2)
    #expect(finding.subject?.type == "Order" && finding.subject?.count == 1)
  }

  @Test func programObjectIsItsOwnSubject() throws {
    let heap = HeapBuilder()
    heap.type("Shop.Order", fields: [HeapBuilder.field("desk", 0)])
    heap.type("Shop.Desk")
    let order = heap.object("Shop.Order")
    heap.set(order, 0, heap.object("Shop.Desk"))
    let finding = try #require(heap.analysis(naming: Names()).findings().first)
    #expect(finding.subject == nil && title(finding) == "Order")
  }

  /// Returns the finding about subscriptions that outlive their scope, while most others end. Each is held by an
  /// element of the given type.
  private func outlived(_ element: String, _ captures: Bool) throws -> Finding {
    let server = RequestServer()
    let heap = server.heap
    heap.type("Shop.Market", fields: [HeapBuilder.field("visits", 0)])
    heap.type("Swift._ContiguousArrayStorage<\(element)>", fields: nil)
    heap.type("Feeds.Storage", fields: [HeapBuilder.field("order", 0)])
    heap.type("Shop.Order")
    let market = heap.object("Shop.Market", stack: [0x1000_1010])
    let list = heap.object("Swift._ContiguousArrayStorage<\(element)>", size: 4096, stack: [0x1000_1010])
    heap.global(market)
    heap.set(market, 0, list)
    for index in 0..<100 {
      heap.visit(server.outer)
      heap.time += 10_000
      let stack = server.inner + [Names.open]
      let storage = heap.object("Feeds.Storage", stack: stack + [Names.sink])
      let order = captures ? heap.object("Shop.Order", stack: stack) : nil
      if let order { heap.set(storage, 0, order) }
      if index % 10 == 5 {
        server.put(storage, in: list)
      } else {
        if let order { heap.free(order, stack: server.inner) }
        heap.free(storage, stack: server.inner)
      }
      heap.visit(server.outer)
    }
    let findings = try heap.analysis(naming: Names()).findings().filter { $0.evidence.retention != nil }
    #expect(findings.count == 1)
    return try #require(findings.first)
  }

  @Test func elementOfAProgramTypeIsTheSubject() throws {
    let finding = try outlived("Shop.Visit", false)
    #expect(finding.subject?.type == "Visit" && finding.subject?.isValue == true)
    #expect(title(finding) == "Visit from Desk.open(_:)")
    #expect(finding.evidence.retention?.holder == "Market.visits")
  }

  @Test func unnamedElementIsNotTheSubject() throws {
    let finding = try outlived("(Swift.Int) -> ()", false)
    #expect(finding.subject == nil && title(finding) == "Storage from Desk.open(_:)")
  }

  @Test func programObjectIsNamedInsteadOfItsValue() throws {
    #expect(try title(outlived("Shop.Visit", true)).hasPrefix("Order"))
  }

  @Test func blocksOfSeveralSizesShowTheirRange() throws {
    let heap = HeapBuilder()
    for (site, size) in [(0x1000_1007 as UInt64, 16 as UInt64), (0x1000_1008, 2048)] {
      _ = heap.malloc(size, stack: [site])
    }
    let finding = try #require(heap.findings([0x1000_1007: "fill()", 0x1000_1008: "fill()"]).first)
    #expect(title(finding) == "16 B to 2.00 KiB of malloc")
  }
}
