import Foundation
import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceExports
@testable import TraceReading

/// Heap images in V8's format.
struct HeapSnapshotFileTests {
  private struct Document: Decodable {
    struct Header: Decodable {
      var nodeCount: Int
      var edgeCount: Int
    }
    var snapshot: Header
    var nodes: [UInt64]
    var edges: [Int]
    var strings: [String]

    /// The names and sizes of the nodes, in order.
    var named: [String] {
      stride(from: 0, to: nodes.count, by: 7).map { "\(strings[Int(nodes[$0 + 1])]) \(nodes[$0 + 3])" }
    }

    /// The references as indices of both nodes, with type and name.
    var references: [String] {
      var edge = 0
      return stride(from: 0, to: nodes.count, by: 7).flatMap { node in
        (0..<Int(nodes[node + 4])).map { _ in
          defer { edge += 3 }
          let name = edges[edge] == 1 ? "[\(edges[edge + 1])]" : strings[edges[edge + 1]]
          return "\(node / 7) \(edges[edge]) \(name) \(edges[edge + 2] / 7)"
        }
      }
    }
  }

  private func document(_ heap: HeapBuilder) throws -> Document {
    let bytes = HeapSnapshotFile.bytes(try heap.analysis().graph, AllocationAnalysis(try heap.reader()))
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Document.self, from: Data(bytes))
  }

  /// Makes a cycle of two objects, a third object that one of them keeps, and an object that a global variable holds.
  /// The last object has a weak reference to the first.
  private func heap(type: String = "App.Item", field: String = "other") -> HeapBuilder {
    let heap = HeapBuilder()
    heap.type(
      type,
      fields: [
        HeapBuilder.field(field, 0, type: type), HeapBuilder.field("kept", 1, type: type),
        HeapBuilder.field("held", 2, .unowned, type: type),
      ])
    let (first, second, kept) = (heap.object(type), heap.object(type), heap.object(type, size: 80))
    heap.set(first, 0, second)
    heap.set(second, 0, first)
    heap.set(second, 1, kept)
    let used = heap.object(type, size: 64)
    heap.set(used, 2, first)
    heap.global(used)
    return heap
  }

  @Test func nodesAreBlocksAndRoots() throws {
    let document = try document(heap())
    #expect(
      document.named.prefix(6) == [
        "(root) 0", "(no root leads here) 0", "App.Item 48", "App.Item 48", "App.Item 80", "App.Item 64",
      ])
    #expect(document.named.dropFirst(6).contains("globals of app 0"))
    #expect(document.snapshot.nodeCount == document.named.count)
    #expect(document.snapshot.edgeCount * 3 == document.edges.count)
  }

  @Test func edgesHaveTheNamesOfFields() throws {
    let references = try document(heap()).references
    let ofBlocks = references.filter { (2...5).contains(Int($0.prefix { $0 != " " }) ?? 0) }
    #expect(ofBlocks == ["2 2 other 3", "3 2 other 2", "3 2 kept 4", "5 6 held 2"])
  }

  @Test("An unreachable cycle gets one root edge, and a used block gets none") func lost() throws {
    let references = try document(heap()).references
    #expect(references.filter { $0.hasPrefix("1 ") } == ["1 1 [0] 2"])
  }

  @Test func unreachableChainIsRootedAtItsFirstBlock() throws {
    let heap = HeapBuilder()
    heap.type("App.Item", fields: [HeapBuilder.field("next", 0, type: "App.Item")])
    let (last, first) = (heap.object("App.Item"), heap.object("App.Item"))
    heap.set(first, 0, last)
    #expect(try document(heap).references.filter { $0.hasPrefix("1 ") } == ["1 1 [0] 3"])
  }

  @Test("A cycle held by another cycle gets no root edge") func keptCycle() throws {
    let heap = HeapBuilder()
    heap.type("App.Item", fields: (0..<2).map { HeapBuilder.field("field\($0)", $0, type: "App.Item") })
    let (kept, other, keeper, partner) = (
      heap.object("App.Item"), heap.object("App.Item"), heap.object("App.Item"), heap.object("App.Item")
    )
    heap.set(kept, 0, other)
    heap.set(other, 0, kept)
    heap.set(keeper, 0, partner)
    heap.set(partner, 0, keeper)
    heap.set(partner, 1, kept)
    let first = try document(heap).references.filter { $0.hasPrefix("1 ") }
    #expect(first == ["1 1 [0] 4"])
  }

  @Test("DevTools stores a size in 32 bits") func largeBlocks() throws {
    let heap = HeapBuilder()
    _ = heap.malloc(5 << 30)
    #expect(try document(heap).named.contains("malloc \(UInt32.max)"))
  }

  @Test func namesAreEscaped() throws {
    let name = "App.\u{1B}[2J\u{202E}\"</script>\\" + String(repeating: "x", count: 4000)
    let document = try document(heap(type: name, field: "a\u{2066}\n"))
    let shown = try #require(document.strings.first { $0.hasPrefix("App.") })
    #expect(shown.hasPrefix(#"App.\u{1b}[2J\u{202e}"</script>\"#))
    #expect(document.strings.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E } })
    #expect(document.references.contains { $0.contains(#"a\u{2066}\u{a}"#) })
  }
}
