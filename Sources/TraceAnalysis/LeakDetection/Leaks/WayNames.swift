// Names for the places of numbers and weak references, in terms of the program's source.

import HeapAnalysis
import TraceSymbolication

extension FindingNaming {
  /// Returns the place of a reference: `Registry.observers`, `self captured by closure #1 in start()`, a variable.
  func place(of edge: EdgeIndex, from node: NodeID) -> String {
    if graph.isRoot(node) { return HolderNames.withoutImage(origin(node, target: graph.graph.target(of: edge)).name) }
    let label = graph.label(graph.graph.label(of: edge))
    let name = label?.name ?? ""
    let type = graph.type(of: node)
    switch type.kind {
    case .closure, .box:
      let captured = name.isEmpty ? "a variable" : name
      guard let holder = holder(of: node) else { return "\(captured) captured by a closure" }
      let function = closure(of: holder.edge, from: holder.node)?.closureName ?? "a closure"
      return "\(captured) captured by \(function)"
    case .array, .dictionary, .set: return place(ofCollection: node)
    default: return name.isEmpty || name.hasPrefix("[") ? type.name : "\(type.name).\(name)"
    }
  }

  /// Returns the place of numbers: the field or variable with the collection that contains them, or the object.
  func place(ofNumbersIn node: NodeID) -> String {
    if graph.isRoot(node) { return HolderNames.withoutImage(origin(node, target: nil).name) }
    switch graph.type(of: node).kind {
    case .array, .dictionary, .set: return place(ofCollection: node)
    default: return graph.type(of: node).name
    }
  }

  private func place(ofCollection node: NodeID) -> String {
    guard let holder = holder(of: node),
      graph.isRoot(holder.node) || graph.label(graph.graph.label(of: holder.edge)) != nil
    else { return graph.type(of: node).name }
    // A collection in a collection has no name of its own.
    if !graph.isRoot(holder.node), [.array, .dictionary, .set].contains(graph.type(of: holder.node).kind) {
      return graph.type(of: node).name
    }
    return place(of: holder.edge, from: holder.node)
  }

  /// Returns the first reference to a node: a strong one, or a root's.
  private func holder(of node: NodeID) -> (node: NodeID, edge: EdgeIndex)? {
    firstHolders.edge(to: node).map { (graph.graph.source(of: $0), $0) }
  }
}

/// The first strong reference to each node; a root's reference also counts. Memory: 4 bytes a node.
final class FirstHolders {
  private let edges: NodeTable<EdgeIndex>
  private static let none = EdgeIndex.max

  /// Linear in the edges.
  init(_ graph: ObjectGraph) {
    let heap = graph.graph
    edges = NodeTable(repeating: Self.none, count: heap.nodeCount)
    for source in 0..<NodeID(heap.nodeCount) {
      for edge in heap.edges(from: source)
      where graph.isRoot(source) || heap.kind(of: edge) == EdgeStrength.strong.rawValue {
        let target = Int(heap.target(of: edge))
        if edges.start[target] == Self.none { edges.start[target] = edge }
      }
    }
  }

  func edge(to node: NodeID) -> EdgeIndex? { edges[node] == Self.none ? nil : edges[node] }
}
