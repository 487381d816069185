// Finds the holders of closures and collections that refer to an object that is gone.

import HeapAnalysis

/// Finds the holders of closures with an unowned reference to a deinitialised object: a closure's function is known
/// from its holder, not from its context. Finds the holders of collections with a dangling reference, too: their field
/// has a name.
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
        // The first in the order of addresses, as other paths are.
        if holders[target] == nil { holders[target] = LeakGroup.Step(node: node, edge: edge) }
      }
    }
  }

  /// The reference has the function of a closure.
  private func isOfClosure(_ edge: EdgeIndex) -> Bool {
    guard case .closure? = graph.label(graph.graph.label(of: edge))?.role else { return false }
    return true
  }

  /// A group's steps, beginning with the holder of its closure or collection.
  func withHolder(_ group: LeakGroup) -> [LeakGroup.Step] {
    guard group.verdict == .deinitialised || group.dangling != nil, let first = group.steps.first,
      let holder = holders[first.node]
    else {
      return group.steps
    }
    return [holder] + group.steps
  }
}
