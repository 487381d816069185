// Finds the holders of closures and collections that have a reference to an object that has ended.

import HeapAnalysis

/// Finds the holders of closures that have an unowned reference to a deinitialised object. Only the holder of a closure
/// shows the closure's function; the context does not. Also finds the holders of collections that have a dangling
/// reference, since the holder's field has a name.
struct UnownedCaptures {
  private let graph: ObjectGraph
  private var holders: [NodeID: LeakGroup.Step] = [:]

  /// O(edges) if there are such closures.
  init(_ graph: ObjectGraph, _ groups: [LeakGroup]) {
    self.graph = graph
    let wanted = Set(
      groups.lazy.filter { $0.verdict == .deinitialised && $0.steps.count > 1 }.map { $0.steps[0].node }.filter {
        graph.type(of: $0).kind == .closure
      })
    let collections = Set(
      groups.lazy.filter { $0.dangling != nil && $0.steps.count == 1 }.map { $0.steps[0].node }.filter {
        graph.type(of: $0).kind.isCollection
      })
    guard !wanted.isEmpty || !collections.isEmpty else { return }
    for node in 0..<NodeID(graph.blockCount) {
      for edge in graph.graph.edges(from: node) {
        let target = graph.graph.target(of: edge)
        guard collections.contains(target) || wanted.contains(target) && isOfClosure(edge) else { continue }
        // Choose the first holder in the order of addresses, as for other paths.
        if holders[target] == nil { holders[target] = LeakGroup.Step(node: node, edge: edge) }
      }
    }
  }

  /// Returns whether a reference also has a closure's function.
  private func isOfClosure(_ edge: EdgeIndex) -> Bool {
    guard case .closure? = graph.label(graph.graph.label(of: edge))?.role else { return false }
    return true
  }

  /// Returns a group's steps, beginning with the holder of its closure or collection.
  func withHolder(_ group: LeakGroup) -> [LeakGroup.Step] {
    guard group.verdict == .deinitialised || group.dangling != nil, let first = group.steps.first,
      let holder = holders[first.node]
    else {
      return group.steps
    }
    return [holder] + group.steps
  }
}
