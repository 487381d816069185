import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceExports
@testable import TraceReading

/// Heap images in Perfetto's format.
struct PerfettoTraceTests {
  /// A heap graph read from a trace in Perfetto's format.
  private struct Graph {
    struct Object {
      var type: String
      var size: UInt64
      /// The fields, with the numbers of the objects that they refer to.
      var references: [(field: String, target: UInt64)]
    }
    var objects: [UInt64: Object] = [:]
    var roots: [UInt64: [UInt64]] = [:]
    var packets: [ProtobufMessage] = []
    var types: [String] = []
    var fields: [String] = []

    init(_ bytes: [UInt8]) throws {
      let all = try ProtobufMessage(bytes).messages(1)
      packets = try all.flatMap { try $0.messages(56) }
      #expect(all.allSatisfy { $0.number(10) == 1 && $0.number(8) == all[0].number(8) })
      for (index, packet) in packets.enumerated() {
        #expect(packet.number(6) == UInt64(index))
        #expect(packet.number(5) == (index + 1 < packets.count ? 1 : 0))
        #expect(packet.number(1) == packets[0].number(1))
        for root in try packet.messages(7) { roots[root.number(2), default: []] += try root.numbers(1) }
      }
      types = try names(9, text: 3)
      fields = try names(4, text: 2)
      for object in try packets.flatMap({ try $0.messages(2) }) {
        let (names, targets) = (try object.numbers(4), try object.numbers(5))
        #expect(names.count == targets.count)
        objects[object.number(1)] = Object(
          type: types[Int(object.number(2)) - 1], size: object.number(3),
          references: zip(names, targets).map { (fields[Int($0.0) - 1], $0.1) })
      }
    }

    /// Returns names that are numbered from 1.
    private func names(_ field: Int, text: Int) throws -> [String] {
      let entries = try packets.flatMap { try $0.messages(field) }
      #expect(entries.map { $0.number(1) } == Array(1..<UInt64(entries.count) + 1))
      return entries.flatMap { $0.strings(text) }
    }

    var rooted: [UInt64] { roots.values.flatMap { $0 }.sorted() }

    func reached(without absent: UInt64? = nil, from start: [UInt64]? = nil) -> Set<UInt64> {
      var work = (start ?? rooted).filter { $0 != absent }
      var reached = Set(work)
      while let next = work.popLast() {
        for (_, target) in objects[next]!.references where target != absent && reached.insert(target).inserted {
          work.append(target)
        }
      }
      return reached
    }

    /// Returns the total size of the objects that cannot be reached without `object`, including `object` itself.
    func retained(_ object: UInt64) -> UInt64 {
      reached().subtracting(reached(without: object)).reduce(0) { $0 + objects[$1]!.size }
    }
  }

  private func graph(_ heap: HeapBuilder, packetSize: Int = 1 << 20) throws -> (read: Graph, objects: ObjectGraph) {
    let objects = try heap.analysis().graph
    return (
      try Graph(PerfettoTrace.bytes(objects, AllocationAnalysis(try heap.reader()), packetSize: packetSize)), objects
    )
  }

  /// Makes objects that refer to each other. Some references are unowned. Global variables hold some of the objects.
  private func randomHeap(_ seed: UInt64) -> HeapBuilder {
    var random = SeededRandom(seed: seed)
    let heap = HeapBuilder()
    for type in 0..<3 {
      heap.type(
        "App.Type\(type)",
        fields: (0..<4).map { HeapBuilder.field("field\($0)", $0, $0 == 3 ? .unowned : .strong, type: "App.Type0") })
    }
    let objects = (0..<40).map { _ in
      heap.object("App.Type\(random.next() % 3)", size: 48 + 16 * (random.next() % 4))
    }
    for object in objects {
      for field in 0..<4 where random.oneIn(2) { heap.set(object, field, objects.randomElement(using: &random)!) }
      if random.oneIn(10) { heap.global(object) }
    }
    return heap
  }

  @Test func objectsIncludeBlocksRootsAndUnreachableBlocks() throws {
    let heap = HeapBuilder()
    heap.type("App.Item", fields: [HeapBuilder.field("next", 0, type: "App.Item")])
    let (used, first, last) = (heap.object("App.Item"), heap.object("App.Item", size: 64), heap.object("App.Item"))
    heap.global(used)
    heap.set(first, 0, last)
    let (read, objects) = try graph(heap)
    #expect(read.objects.count == objects.graph.nodeCount + 1)
    #expect((1...3).map { read.objects[$0]?.type } == ["App.Item", "App.Item", "App.Item"])
    #expect((1...3).map { read.objects[$0]?.size } == [48, 64, 48])
    #expect(read.objects[2]?.references.map(\.field) == ["next"])
    #expect(read.objects[2]?.references.map(\.target) == [3])
    let global = try #require(read.roots[1]?.first { read.objects[$0]?.type == "globals of app" })
    #expect(read.objects[global]?.references.map(\.target) == [1])
    // The text before the first space would be the field's type. It is empty here.
    #expect(read.objects[global]?.references.map(\.field) == [" scanned word"])
    let lost = try #require(read.roots[0]?.first { read.objects[$0]?.type == "(no root leads here)" })
    #expect(read.objects[lost]?.references.map(\.target) == [2])
  }

  @Test("Weak and unowned references are left out") func weakReferences() throws {
    let heap = HeapBuilder()
    heap.type(
      "App.Item",
      fields: [
        HeapBuilder.field("owner", 0, .unowned, type: "App.Item"), HeapBuilder.field("kept", 1, type: "App.Item"),
      ])
    let (first, second) = (heap.object("App.Item"), heap.object("App.Item"))
    heap.set(first, 0, second)
    heap.set(second, 1, first)
    heap.global(second)
    let (read, _) = try graph(heap)
    #expect(read.objects[1]?.references.isEmpty == true)
    #expect(read.objects[2]?.references.map(\.field) == ["kept"])
  }

  @Test("Retained sizes match leaktrace's dominators", arguments: 1...20) func retainedSizes(seed: UInt64) throws {
    let (read, objects) = try graph(randomHeap(seed))
    #expect(read.reached() == Set(read.objects.keys))
    let sizes = (0..<NodeID(objects.graph.nodeCount)).map { objects.isRoot($0) ? 0 : objects.heap[BlockID($0)].size }
    let lost = try #require(read.roots[0]?.first { read.objects[$0]?.type == "(no root leads here)" })
    let first = read.objects[lost]!.references.map(\.target)
    let tree = DominatorTree(
      objects.graph, roots: objects.rootNodes + first.map { NodeID($0 - 1) }, kinds: ObjectGraph.owning)
    let retained = tree.retainedSizes(sizes)
    for node in objects.graph.allNodes.members { #expect(read.retained(UInt64(node) + 1) == retained[node], "\(node)") }
    // All objects that no root keeps are reachable from `lost`.
    let unused = objects.graph.reachable(from: objects.rootNodes, kinds: ObjectGraph.owning).complement
    #expect(read.retained(lost) == unused.members.reduce(0) { $0 + sizes[Int($1)] })
    // There is one edge into each group, and no edge to a group that another group keeps.
    for (index, target) in first.enumerated() {
      var others = first
      others.remove(at: index)
      #expect(!read.reached(from: others).contains(target))
    }
  }

  @Test("Full packets are split and still form one graph") func packets() throws {
    let heap = randomHeap(7)
    let (whole, _) = try graph(heap)
    let (split, _) = try graph(heap, packetSize: 40)
    #expect(whole.packets.count == 1 && split.packets.count > 10)
    #expect(whole.objects.count == split.objects.count && whole.roots == split.roots)
    for (number, object) in whole.objects {
      #expect(split.objects[number]?.type == object.type && split.objects[number]?.size == object.size)
      #expect(split.objects[number]?.references.map(\.target) == object.references.map(\.target))
    }
  }

  @Test func namesAreEscaped() throws {
    let heap = HeapBuilder()
    let name = "App.\u{1B}[2J\u{202E}" + String(repeating: "x", count: 4000)
    heap.type(name, fields: [HeapBuilder.field("a\u{2066}\n", 0, type: name)])
    heap.set(heap.object(name), 0, heap.object(name))
    let (read, _) = try graph(heap)
    #expect(read.types.contains { $0.hasPrefix(#"App.\u{1b}[2J\u{202e}xxx"#) })
    #expect(read.fields.contains(#"a\u{2066}\u{a}"#))
  }

  @Test("A heap without blocks exports only its roots") func empty() throws {
    let (read, objects) = try graph(HeapBuilder())
    #expect(read.objects.count == objects.rootNodes.count + 1)
    #expect(read.rooted.count == read.objects.count)
  }
}
