// Weak references to objects that have been freed.

import Testing
@testable import TraceReading
import TraceTestSupport

@testable import HeapAnalysis

@Suite struct SideTableTests {
  private typealias Heap = HeapBuilder

  /// Returns the addresses that a block refers to in the graph of a heap.
  private func targets(_ heap: HeapBuilder, from object: HeapBuilder.Object) throws -> Set<UInt64> {
    let graph = try heap.analysis().graph
    let node = try #require(graph.heap.block(containing: object.address)).rawValue
    return Set(graph.graph.edges(from: node).map { graph.heap[BlockID(graph.graph.target(of: $0))].address })
  }

  private func kind(_ heap: HeapBuilder, of object: HeapBuilder.Object) throws -> NodeKind {
    let graph = try heap.analysis().graph
    return graph.type(of: try #require(graph.heap.block(containing: object.address)).rawValue).kind
  }

  /// Makes a box with a weak reference to a freed object, and the tenant that has the object's memory now.
  private func boxOfTheDead(_ heap: HeapBuilder) -> (
    box: HeapBuilder.Object, table: HeapBuilder.Object, tenant: HeapBuilder.Object
  ) {
    heap.type("App.Box", fields: [Heap.field("value", 0, .weak)])
    heap.type("App.Tenant", fields: [Heap.field("other", 0)])
    let tenant = heap.object("App.Tenant")
    let box = heap.object("App.Box")
    let table = heap.block(.posixMemalign, at: 0x5000_4000_0000, size: 32)
    heap.words[table.address] = tenant.address
    heap.words[box.address + 16] = table.address
    return (box, table, tenant)
  }

  @Test(arguments: [nil, SideTable.freedCounts] as [UInt64?]) func sideTableOfADeadObjectHoldsNothing(counts: UInt64?)
    throws
  {
    // Earlier recorders did not write the counts of a side table.
    let heap = HeapBuilder()
    let (box, table, _) = boxOfTheDead(heap)
    heap.words[table.address + 16] = counts
    #expect(try kind(heap, of: table) == .sideTable)
    #expect(try targets(heap, from: table).isEmpty)
    #expect(try targets(heap, from: box) == [table.address])
  }

  @Test func deadObjectsSideTableHoldsNothingIfTheNewObjectHasItsOwn() throws {
    let heap = HeapBuilder()
    let (box, table, tenant) = boxOfTheDead(heap)
    let own = heap.sideTable(of: tenant)
    #expect(try targets(heap, from: box) == [table.address])
    #expect(try targets(heap, from: tenant) == [own.address])
  }

  @Test func sideTableIsRecognizedByShapeIfOnlyScannedWordsPointToIt() throws {
    let heap = HeapBuilder()
    heap.type("App.Tenant", fields: [])
    let tenant = heap.object("App.Tenant")
    let block = heap.malloc(64)
    let table = heap.block(.posixMemalign, at: 0x5000_4000_0000, size: 32)
    heap.words[table.address] = tenant.address
    heap.set(block, 0, table)
    // The block belongs to C code, and has a pointer.
    #expect(try targets(heap, from: table) == [tenant.address])
    heap.words[table.address + 16] = SideTable.freedCounts
    #expect(try kind(heap, of: table) == .sideTable)
    #expect(try targets(heap, from: table).isEmpty)
    #expect(try targets(heap, from: block) == [table.address])
  }

  @Test func blockOfAnotherSizeIsNotASideTable() throws {
    let heap = HeapBuilder()
    heap.type("App.Box", fields: [Heap.field("value", 0, .weak)])
    heap.type("App.Tenant", fields: [])
    let tenant = heap.object("App.Tenant")
    let box = heap.object("App.Box")
    let block = heap.malloc(40)
    heap.words[block.address] = tenant.address
    heap.words[block.address + 16] = SideTable.freedCounts
    heap.set(box, 0, block)
    #expect(try kind(heap, of: block) == .malloc)
    #expect(try targets(heap, from: block) == [tenant.address])
  }

  @Test func cycleReusingWeaklyHeldMemoryIsReportedDespiteStaleBoxes() throws {
    let heap = HeapBuilder()
    let (box, _, tenant) = boxOfTheDead(heap)
    heap.global(box)
    let other = heap.object("App.Tenant")
    heap.set(tenant, 0, other)
    heap.set(other, 0, tenant)
    #expect(try heap.findings().map(\.verdict) == [.retainCycle])
  }
}
