// Heap images for the Memory panel of Chrome's DevTools.

import HeapAnalysis
import TextWriting
import TraceReading

/// A file in V8's heap snapshot format. Blocks and roots are nodes, and references are edges.
///
/// Sources: V8, src/profiler/heap-snapshot-generator.h; Microsoft Edge's documentation, "The heap snapshot file
/// format".
package struct HeapSnapshotFile {
  /// Returns the file of a heap image's graph, in UTF-8. The graph must come from `trace`. Blocks that no root keeps
  /// are children of an extra node, so that DevTools gives them retained sizes. Linear in blocks and references.
  package static func bytes(_ objects: ObjectGraph, _ trace: AllocationAnalysis) -> [UInt8] {
    var file = HeapSnapshotFile(ExportedHeap(objects, trace))
    return file.written()
  }

  /// Blocks get the types `object` and `native`, because DevTools lists these by name. DevTools joins all closures and
  /// all arrays, and adds an array's size to its owner's size.
  private enum NodeType: Int, CaseIterable {
    case hidden, array, string, object, code, closure, regexp, number, native, synthetic
  }

  private enum EdgeType: Int, CaseIterable {
    case context, element, property, `internal`, hidden, shortcut, weak
  }

  /// An edge. In the file, `name_or_index` is an index for elements, and the number of a string for all other edges.
  private struct Edge {
    var type: EdgeType
    var nameOrIndex: Int
  }

  /// Types of V8's own objects. No block has them, but DevTools looks them up by name. They follow the other types.
  private static let otherNodeTypes = ["concatenated string", "sliced string", "symbol", "bigint", "object shape"]
  /// The fields of a node. The format defines their order and names.
  private static let nodeFields = ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"]
  private static let edgeFields = ["type", "name_or_index", "to_node"]
  /// The synthetic root and the extra node above unkept blocks precede the graph's nodes.
  private static let firstNode = 2
  /// DevTools reads sizes modulo 2³², so larger sizes are cut to this limit.
  private static let maxSize = UInt64(UInt32.max)

  private let heap: ExportedHeap
  private let objects: ObjectGraph
  private let graph: HeapGraph
  private var strings: [String] = []
  private var numbers: [String: Int] = [:]
  private var bytes: [UInt8] = []

  private init(_ heap: ExportedHeap) {
    self.heap = heap
    objects = heap.objects
    graph = objects.graph
  }

  private mutating func written() -> [UInt8] {
    let typeNames = heap.typeNames.map { number(of: $0) }
    let (roots, unkept) = (objects.rootNodes, heap.unkept)
    writeHeader(edgeCount: graph.edgeCount + roots.count + 1 + unkept.count)
    begin("nodes")
    writeNode(.synthetic, name: number(of: "(root)"), index: 0, size: 0, edges: roots.count + 1)
    writeNode(.synthetic, name: number(of: ExportedHeap.unkeptName), index: 1, size: 0, edges: unkept.count)
    for node in 0..<NodeID(graph.nodeCount) {
      let isRoot = objects.isRoot(node)
      writeNode(
        !isRoot && objects.type(of: node).kind.isCounted ? .object : .native,
        name: isRoot ? number(of: heap.rootName(node)) : typeNames[heap.type(of: node)],
        index: Int(node) + Self.firstNode, size: isRoot ? 0 : objects.heap[BlockID(node)].size,
        edges: graph.edges(from: node).count)
    }
    end()
    begin("edges")
    for (index, node) in roots.enumerated() {
      write(Edge(type: .element, nameOrIndex: index), to: Int(node) + Self.firstNode)
    }
    write(Edge(type: .element, nameOrIndex: roots.count), to: 1)
    for (index, node) in unkept.enumerated() {
      write(Edge(type: .element, nameOrIndex: index), to: Int(node) + Self.firstNode)
    }
    for node in 0..<NodeID(graph.nodeCount) {
      for (index, edge) in graph.edges(from: node).enumerated() {
        write(
          described(edge, at: index, isOfRoot: objects.isRoot(node)), to: Int(graph.target(of: edge)) + Self.firstNode)
      }
    }
    end()
    // DevTools expects all of these arrays.
    for part in ["trace_function_infos", "trace_tree", "samples", "locations"] {
      begin(part)
      end()
    }
    writeStrings()
    return bytes
  }

  /// Describes an edge for the file. `index`: the edge's index among its node's edges.
  private mutating func described(_ edge: EdgeIndex, at index: Int, isOfRoot: Bool) -> Edge {
    guard !isOfRoot else { return Edge(type: .element, nameOrIndex: index) }
    let (name, strength) = (heap.fieldName(of: edge), heap.strength(of: edge))
    if !heap.isOwning(edge) { return Edge(type: .weak, nameOrIndex: number(of: name ?? strength.key)) }
    if strength == .bookkeeping { return Edge(type: .internal, nameOrIndex: number(of: "side table")) }
    if let name { return Edge(type: .property, nameOrIndex: number(of: name)) }
    let label = graph.label(of: edge)
    let offset = EdgeLabelID(label).scannedOffset.map { Int($0) } ?? objects.label(label)?.offset ?? 0
    return Edge(type: .element, nameOrIndex: max(offset, 0))
  }

  /// Returns the number of a string in the file.
  private mutating func number(of text: String) -> Int {
    if let known = numbers[text] { return known }
    numbers[text] = strings.count
    strings.append(text)
    return strings.count - 1
  }

  // MARK: JSON

  private mutating func writeHeader(edgeCount: Int) {
    func texts(_ values: [String]) -> JSONValue { .array(values.map { .string($0) }) }
    func names<Type: CaseIterable>(_ type: Type.Type) -> [String] { type.allCases.map { "\($0)" } }
    let meta = JSONValue.object([
      ("node_fields", texts(Self.nodeFields)),
      (
        "node_types",
        .array(
          [texts(names(NodeType.self) + Self.otherNodeTypes), .string("string")]
            + [JSONValue](repeating: .string("number"), count: Self.nodeFields.count - 2))
      ),
      ("edge_fields", texts(Self.edgeFields)),
      ("edge_types", .array([texts(names(EdgeType.self)), .string("string_or_number"), .string("node")])),
      ("trace_function_info_fields", texts(["function_id", "name", "script_name", "script_id", "line", "column"])),
      ("trace_node_fields", texts(["id", "function_info_index", "count", "size", "children"])),
      ("sample_fields", texts(["timestamp_us", "last_assigned_id"])),
      ("location_fields", texts(["object_index", "script_id", "line", "column"])),
    ])
    let header = JSONValue.object([
      ("meta", meta), ("node_count", .number(UInt64(graph.nodeCount + Self.firstNode))),
      ("edge_count", .number(UInt64(edgeCount))), ("trace_function_count", .number(0)),
    ])
    bytes += Array("{\"snapshot\":\(header.compactText)".utf8)
  }

  private mutating func begin(_ part: String) { bytes += Array(",\n\"\(part)\":[".utf8) }
  private mutating func end() {
    if bytes.last == UInt8(ascii: ",") { bytes.removeLast() }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func write(_ value: Int) {
    bytes.append(contentsOf: String(value).utf8)
    bytes.append(UInt8(ascii: ","))
  }

  /// `index`: the node's index in the file. The node's number is odd, as V8's own numbers are.
  private mutating func writeNode(_ type: NodeType, name: Int, index: Int, size: UInt64, edges: Int) {
    write(type.rawValue)
    write(name)
    write(index * 2 + 1)
    write(Int(min(size, Self.maxSize)))
    write(edges)
    // No allocation stack, and no detached document node.
    write(0)
    write(0)
  }

  private mutating func write(_ edge: Edge, to target: Int) {
    write(edge.type.rawValue)
    write(edge.nameOrIndex)
    write(target * Self.nodeFields.count)
  }

  private mutating func writeStrings() {
    begin("strings")
    for text in strings {
      bytes.append(contentsOf: JSONValue.string(text).compactText.utf8)
      bytes.append(UInt8(ascii: ","))
    }
    end()
    bytes += Array("}\n".utf8)
  }
}
