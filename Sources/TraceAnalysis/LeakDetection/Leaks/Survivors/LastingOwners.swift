// Finds lasting objects whose collections hold survivors.

import HeapAnalysis

extension SurvivorFinder {
  /// A field that several lasting objects have. Each of them may hold a few of the survivors in it.
  struct LastingField: Hashable {
    var owner: UInt32
    var label: UInt32
  }

  /// Returns the field that has the innermost collection on a path, and the place of this collection. Nil if objects
  /// like the owner have ended: then the owner itself may be the forgotten object. `start`: the owner comes after this
  /// place. Linear in the path.
  func lastingField(_ steps: [LeakGroup.Step], after start: Int) -> (field: LastingField, collection: Int)? {
    guard
      let collection = steps.indices.dropLast().last(where: {
        !graph.isRoot(steps[$0].node) && graph.type(of: steps[$0].node).kind.isCollection
      }),
      let owner = steps[..<collection].lastIndex(where: {
        graph.isRoot($0.node) || !graph.type(of: $0.node).kind.isCollection
      }), owner > start, !graph.isRoot(steps[owner].node), isProgramObject(steps[owner].node),
      sites[Int(block(steps[owner].node).site.rawValue)].lifetime.deaths == 0, let edge = steps[owner].edge,
      graph.graph.label(of: edge) < 1 << 31
    else { return nil }
    let field = LastingField(owner: graph.nodeTypes[Int(steps[owner].node)], label: graph.graph.label(of: edge))
    return (field, collection)
  }

  /// Moves the mark of a path from a collection of lasting objects to the collection that such an object has. The
  /// program must remove the survivors there.
  func markLastingField(_ holding: inout Holding) {
    guard !holding.isRegistered, !graph.isRoot(holding.steps[holding.suspect].node),
      let (_, collection) = lastingField(holding.steps, after: holding.suspect)
    else { return }
    holding.suspect = collection
  }

  /// Joins the groups that lasting objects of one type hold in the same field. Linear in the groups and their paths.
  func joinLasting(
    _ groups: inout [HolderKey: [NodeID]], _ order: inout [HolderKey], _ path: (NodeID) -> [LeakGroup.Step]?
  ) {
    var joined: [LastingField: [HolderKey]] = [:]
    for key in order {
      guard case .reference(_, _, false) = key, let steps = groups[key]?.first.flatMap(path),
        let (field, _) = lastingField(steps, after: 0)
      else { continue }
      joined[field, default: []].append(key)
    }
    for keys in joined.values where keys.count >= rules.severalSurvivors {
      for key in keys.dropFirst() { groups[keys[0]]! += groups.removeValue(forKey: key)! }
    }
    order.removeAll { groups[$0] == nil }
  }
}
