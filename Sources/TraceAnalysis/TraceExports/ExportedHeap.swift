// A heap image as the files have it that other tools open.

import HeapAnalysis
import TraceReading

/// The nodes and references of a heap image with their names, and where what no root keeps begins.
///
/// Readers of such files work out retained sizes from roots alone. Leaked blocks therefore hang from a node of their
/// own, which is none of the graph's. Names have no control characters and no marks that turn the direction of text.
struct ExportedHeap {
  let objects: ObjectGraph
  /// Names of blocks, each once: types and allocating functions, as reports name them.
  let typeNames: [String]
  /// One block of each group that no root keeps, and nothing outside of it: what no root keeps is reached from these.
  let unkept: [NodeID]

  /// The node above `unkept`.
  static let unkeptName = "(no root leads here)"

  /// By allocation site: index into `typeNames`.
  private let typeOfSite: [UInt32]
  /// By label: the name of the field; nil if it has none.
  private let labelNames: [String?]

  /// `trace` must be the analysis that the graph was made with. Linear in blocks and references.
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

  /// Nothing leads from outside to a component that is the source of others, and each of its blocks keeps all of it.
  private static func firstUnkept(of objects: ObjectGraph) -> [NodeID] {
    let unreached = objects.graph.reachable(from: objects.rootNodes, kinds: ObjectGraph.owning).complement
    guard !unreached.isEmpty else { return [] }
    let components = StronglyConnectedComponents(objects.graph, kinds: ObjectGraph.owning, within: unreached)
    let members = ComponentMembers(components)
    return components.sources().members.map { members.node(0, of: $0) }.sorted()
  }

  /// Index into `typeNames`. Traps if the node is a root.
  func type(of block: NodeID) -> Int { Int(typeOfSite[Int(objects.heap[BlockID(block)].site.rawValue)]) }

  /// Traps if the node is a block.
  func rootName(_ node: NodeID) -> String { PlainText.escaped(objects.rootName(node)) }

  /// Tells whether a reference keeps its target.
  func isOwning(_ edge: EdgeIndex) -> Bool {
    ObjectGraph.owning.contains(EdgeKinds(kind: objects.graph.kind(of: edge)))
  }

  func strength(of edge: EdgeIndex) -> EdgeStrength {
    EdgeStrength(rawValue: objects.graph.kind(of: edge)) ?? .conservative
  }

  /// The field that holds a reference; nil for words of memory whose layout is not known, and for variables that no name
  /// is known of.
  func fieldName(of edge: EdgeIndex) -> String? {
    let label = objects.graph.label(of: edge)
    return labelNames.indices.contains(Int(label)) ? labelNames[Int(label)] : nil
  }
}
