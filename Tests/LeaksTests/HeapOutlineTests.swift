import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading

struct HeapOutlineTests {
  private func heap() -> HeapBuilder {
    let heap = HeapBuilder()
    heap.type("App.Cache", fields: [HeapBuilder.field("first", 0), HeapBuilder.field("shared", 1)])
    heap.type("App.Index", fields: [HeapBuilder.field("shared", 0)])
    heap.type("App.Node", fields: [HeapBuilder.field("next", 0), HeapBuilder.field("value", 1)])
    heap.type("App.Value", fields: [])
    return heap
  }

  private func type(_ name: String, in outline: HeapOutline) throws -> HeapOutline.TypeTotal {
    try #require(outline.types.first { outline.kinds[$0.kind].name == name })
  }

  /// Returns the names from the outermost group to this one.
  private func path(_ group: Int, in outline: HeapOutline) -> [String] {
    var names: [String] = []
    var group = group
    while group >= 0 {
      names.insert(outline.kinds[outline.groups[group].kind].name, at: 0)
      group = outline.groups[group].parent
    }
    return names
  }

  @Test func objectsOfOneHolderAreOneGroup() throws {
    let heap = heap()
    let cache = heap.object("App.Cache", size: 48)
    heap.global(cache)
    let nodes = (0..<10).map { _ in heap.object("App.Node", size: 32) }
    let values = (0..<10).map { _ in heap.object("App.Value", size: 100) }
    heap.set(cache, 0, nodes[0])
    for index in 0..<10 {
      if index > 0 { heap.set(nodes[index - 1], 0, nodes[index]) }
      heap.set(nodes[index], 1, values[index])
    }
    let outline = try heap.analysis().outline()

    // A list is one group, and the objects that its members hold are one group.
    let paths = outline.groups.indices.map { path($0, in: outline) }
    #expect(
      paths == [
        ["globals of app"], ["globals of app", "Cache"], ["globals of app", "Cache", "Node"],
        ["globals of app", "Cache", "Node", "Value"],
      ])
    #expect(outline.groups.map(\.blocks) == [0, 1, 10, 10])
    #expect(outline.groups.map(\.bytes) == [0, 48, 320, 1_000])
    #expect(try type("Node", in: outline).retainedBytes == 1_320)
    #expect(try type("Cache", in: outline).retainedBytes == 1_368)
    #expect(outline.types.map { outline.kinds[$0.kind].name } == ["Cache", "Node", "Value"])
  }

  @Test func objectWithTwoHoldersBelongsToNeither() throws {
    let heap = heap()
    let (cache, index, value) = (
      heap.object("App.Cache", size: 48), heap.object("App.Index", size: 48), heap.object("App.Value", size: 100)
    )
    heap.global(cache)
    heap.global(index)
    heap.set(cache, 1, value)
    heap.set(index, 0, value)
    let outline = try heap.analysis().outline()
    #expect(try type("Cache", in: outline).retainedBytes == 48)
    #expect(try type("Index", in: outline).retainedBytes == 48)
    // The program's globals hold both, so the globals retain all values.
    let value1 = try #require(outline.groups.indices.first { path($0, in: outline).last == "Value" })
    #expect(path(value1, in: outline) == ["globals of app", "Value"])
    let holders = try type("Value", in: outline).holders
    #expect(
      Set(holders.map { "\(outline.kinds[$0.kind].name).\($0.field) \($0.references)" })
        == ["Cache.shared 1", "Index.shared 1"])
  }

  @Test func leakedObjectsHaveNoHolder() throws {
    let heap = heap()
    for _ in 0..<3 {
      let (a, b) = (heap.object("App.Node", size: 32), heap.object("App.Node", size: 32))
      heap.set(a, 0, b)
      heap.set(b, 0, a)
      heap.set(a, 1, heap.object("App.Value", size: 100))
    }
    let outline = try heap.analysis().outline()
    let paths = outline.groups.indices.map { path($0, in: outline) }
    // Nothing is kept by the program's globals.
    #expect(
      paths == [
        ["globals of app"], ["held by nothing"], ["held by nothing", "Node"], ["held by nothing", "Node", "Value"],
      ])
    #expect(outline.groups.map(\.blocks) == [0, 0, 6, 3])
    #expect(try type("Value", in: outline).holders.map(\.references) == [3])
  }

  @Test func everyBlockIsInOneGroup() throws {
    let heap = heap()
    var previous: HeapBuilder.Object?
    // The types alternate, so the groups are as deep as the list is long.
    for index in 0..<2_000 {
      let object = heap.object(index % 2 == 0 ? "App.Node" : "App.Index", size: 32)
      if let previous { heap.set(previous, 0, object) } else { heap.global(object) }
      previous = object
    }
    let outline = try heap.analysis().outline()
    #expect(outline.groups.reduce(0) { $0 + $1.blocks } == 2_000)
    #expect(outline.groups.reduce(0) { $0 + $1.bytes } == 64_000)
    #expect(outline.groups.indices.allSatisfy { outline.groups[$0].parent < $0 })
    #expect(outline.groups.count < 200)
    #expect(try type("Node", in: outline).retainedBytes == 64_000)
    #expect(try type("Index", in: outline).retainedBytes == 64_000 - 32)
  }
}
