// Recognises objects that hold one another in a row.

import HeapAnalysis

extension OutlivingFinder {
  /// Most of the objects hold one another in a row, as in a history whose entries each keep the entry before.
  func isChain(_ family: Family) -> Bool { isChain(family.survivors) }

  func isChain(_ survivors: [NodeID]) -> Bool {
    let members = Set(survivors)
    var links = 0
    for node in survivors {
      let own = siblings(heldBy: node, members)
      // Trees and meshes are structures on purpose.
      if own > 1 { return false }
      links += own
    }
    return Double(links) >= rules.chainShare * Double(survivors.count)
  }

  /// The siblings that an object holds: itself, or through objects of other classes, as a wrapper in a wrapper of
  /// another class does.
  private func siblings(heldBy node: NodeID, _ members: Set<NodeID>) -> Int {
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
    return found.count
  }

  /// Objects in a row between two links of a chain, and objects that are looked at for them.
  private static let betweenLinks = 3
  private static let nodesBetweenLinks = 24

  /// Whether siblings may hold the members of a family, if some of them ended. A list has its elements as an array has.
  func chaining(of family: Family) -> Chaining { isChain(family) ? .perhaps : .never }

  /// A chain that grows by a link with each piece of work. A list that a program builds takes little else than its links.
  func chain(_ family: Family) -> Suspicion? {
    guard let first = family.survivors.first.map(ordinal), let last = family.survivors.last.map(ordinal), last > first
    else { return nil }
    let count = family.survivors.count
    guard holds(.chain, count >= rules.leastLooped, "\(count) of \(rules.leastLooped) links"),
      holds(
        .madeThroughout, spread(of: family) >= rules.leastLoopedSpread,
        "\(percent(spread(of: family))) of the work, of \(percent(rules.leastLoopedSpread))"),
      holds(
        .chain, Double(last - first) >= rules.leastWorkOfLink * Double(count),
        "\((last - first) / UInt64(count)) events for each link, of \(Int(rules.leastWorkOfLink))")
    else { return nil }
    return Suspicion(
      verdict: .accumulating, family: family, chaining: .always, least: rules.leastLooped, evidence: Evidence(rules))
  }
}
