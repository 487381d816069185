// Recognises objects that hold one another in a row.

import HeapAnalysis

extension SurvivorFinder {
  /// Returns whether most objects of a family hold one another in a row. One example is a history whose entries each
  /// keep the previous entry.
  func isChain(_ family: Family) -> Bool { isChain(family.survivors) }

  func isChain(_ survivors: [NodeID]) -> Bool {
    let members = Set(survivors)
    var links = 0
    var pairs: [NodeID] = []
    for node in survivors {
      let own = siblings(heldBy: node, members).count
      // Trees and meshes are structures on purpose, and no chains.
      if own > 2 { return false }
      if own == 2 { pairs.append(node) }
      if own > 0 { links += 1 }
    }
    return Double(links) >= rules.chainShare * Double(survivors.count) && areLinkedBothWays(pairs, survivors, members)
  }

  /// Returns whether objects that hold two siblings are links of a row: the two are the next and the previous link. Then
  /// at least one of the two holds the object, and the object has no other neighbours.
  private func areLinkedBothWays(_ pairs: [NodeID], _ survivors: [NodeID], _ members: Set<NodeID>) -> Bool {
    if pairs.isEmpty { return true }
    var holders = Dictionary(uniqueKeysWithValues: pairs.map { ($0, Set<NodeID>()) })
    for node in survivors {
      for other in siblings(heldBy: node, members) { holders[other]?.insert(node) }
    }
    return holders.allSatisfy { node, holders in
      let held = siblings(heldBy: node, members)
      return held.union(holders).count == 2 && !held.isDisjoint(with: holders)
    }
  }

  /// Returns the siblings that an object holds, directly or through objects of other classes, such as wrappers.
  private func siblings(heldBy node: NodeID, _ members: Set<NodeID>) -> Set<NodeID> {
    var found: Set<NodeID> = []
    var seen: Set<NodeID> = [node]
    var layer = [node]
    for _ in 0...Self.betweenLinks where found.isEmpty && !layer.isEmpty {
      var next: [NodeID] = []
      for holder in layer {
        for edge in graph.graph.edges(from: holder)
        where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
          let target = graph.graph.target(of: edge)
          guard !graph.isRoot(target), seen.insert(target).inserted, seen.count <= Self.nodesBetweenLinks else {
            continue
          }
          if members.contains(target) {
            found.insert(target)
          } else if isCandidate(target), graph.type(of: target).kind != .task {
            next.append(target)
          }
        }
      }
      layer = next
    }
    return found
  }

  /// Maximum number of objects in a row between two links of a chain, and of all objects that are searched for a link.
  private static let betweenLinks = 3
  private static let nodesBetweenLinks = 24

  /// Returns whether siblings may hold the members of a family, if some of the siblings ended. A list holds its
  /// elements as an array does.
  func chaining(of family: Family) -> Chaining { isChain(family) ? .perhaps : .never }

  /// Returns a suspicion of a chain that grows by a link with each piece of work. If a program builds a list on
  /// purpose, there is little work between two links.
  func chain(_ family: Family) -> Suspicion? {
    guard let first = family.survivors.first.map(ordinal), let last = family.survivors.last.map(ordinal), last > first
    else { return nil }
    let count = family.survivors.count
    guard holds(.chain, count >= rules.minLooped, "\(count) of \(rules.minLooped) links"),
      holds(
        .madeThroughout, spread(of: family) >= rules.minLoopedSpread,
        "\(percent(spread(of: family))) of the work, of \(percent(rules.minLoopedSpread))"),
      holds(
        .chain, Double(last - first) >= rules.minWorkOfLink * Double(count),
        "\((last - first) / UInt64(count)) events for each link, of \(Int(rules.minWorkOfLink))")
    else { return nil }
    return Suspicion(
      verdict: .accumulating, family: family, chaining: .always, least: rules.minLooped, evidence: Evidence(rules))
  }
}
