// A heap image in the form that the file formats of other tools need.

import HeapAnalysis
import TextWriting
import TraceReading

/// The nodes and references of a heap image with their names, and the first unkept blocks. An unkept block is one that
/// no root keeps.
///
/// Readers of such files compute retained sizes only from roots. So the files put unkept blocks below an extra node
/// that is not in the graph. Names have no control characters and no text-direction marks.
struct ExportedHeap {
  let objects: ObjectGraph
  /// Distinct names of the blocks, as in reports: types and allocating functions.
  let typeNames: [String]
  /// One block of each group of unkept blocks, if no block outside the group keeps the group. All other unkept blocks
  /// are reachable from these.
  let unkept: [NodeID]

  /// The name of the extra node above `unkept`.
  static let unkeptName = "(no root leads here)"

  /// Indices into `typeNames`, by allocation site.
  private let typeOfSite: [UInt32]
  /// The names of fields, by label; nil for a label without a name.
  private let labelNames: [String?]

  /// The graph must come from `trace`. Linear in blocks and references.
  init(_ objects: ObjectGraph, _ trace: AllocationAnalysis) {
    self.objects = objects
    var names: [String] = []
    var numbers: [String: UInt32] = [:]
    var typeOfSite = [UInt32](repeating: .max, count: trace.sites.count)
    for block in objects.heap.blocks where typeOfSite[Int(block.site.rawValue)] == .max {
      let name = PlainText.escaped(trace.typeName(of: trace.sites[Int(block.site.rawValue)]))
      let number = numbers[name] ?? UInt32(names.count)
      if number == names.count {
        numbers[name] = number
        names.append(name)
      }
      typeOfSite[Int(block.site.rawValue)] = number
    }
    typeNames = names
    self.typeOfSite = typeOfSite
    labelNames = objects.labels.map(Self.name)
    unkept = Self.firstUnkept(of: objects)
  }

  private static func name(_ label: EdgeLabel) -> String? {
    if !label.name.isEmpty { return PlainText.escaped(label.name) }
    guard let payload = label.caseName, !payload.isEmpty else { return nil }
    return PlainText.escaped("case \(payload)")
  }

  /// Returns one block of each source component of the unkept blocks. Nothing outside a source component refers to it,
  /// and each of its blocks keeps the whole component.
  private static func firstUnkept(of objects: ObjectGraph) -> [NodeID] {
    let unreached = objects.graph.reachable(from: objects.rootNodes, kinds: ObjectGraph.owning).complement
    guard !unreached.isEmpty else { return [] }
    let components = StronglyConnectedComponents(objects.graph, kinds: ObjectGraph.owning, within: unreached)
    let members = ComponentMembers(components)
    return components.sources().members.map { members.node(0, of: $0) }.sorted()
  }

  /// Returns an index into `typeNames`. Traps if the node is a root.
  func type(of block: NodeID) -> Int { Int(typeOfSite[Int(objects.heap[BlockID(block)].site.rawValue)]) }

  /// Returns a root's name. Traps if the node is a block.
  func rootName(_ node: NodeID) -> String { PlainText.escaped(objects.rootName(node)) }

  /// True if a reference keeps its target.
  func isOwning(_ edge: EdgeIndex) -> Bool {
    ObjectGraph.owning.contains(EdgeKinds(kind: objects.graph.kind(of: edge)))
  }

  func strength(of edge: EdgeIndex) -> EdgeStrength {
    EdgeStrength(rawValue: objects.graph.kind(of: edge)) ?? .conservative
  }

  /// Returns the field that holds a reference. Nil for words of memory whose layout is unknown, and for variables
  /// without a known name.
  func fieldName(of edge: EdgeIndex) -> String? {
    let label = objects.graph.label(of: edge)
    return labelNames.indices.contains(Int(label)) ? labelNames[Int(label)] : nil
  }
}
