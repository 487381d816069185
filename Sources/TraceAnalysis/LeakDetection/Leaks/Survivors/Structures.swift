// Structures that were built in one go: their parts live on together, or not at all.

import HeapAnalysis

/// Determines which survivors of a family are parts of a structure: a tree and its nodes, an order and its lines.
///
/// A part is kept by an object of the program that was made with it: within the time that siblings live, and with
/// hardly another sibling made in between. To keep twelve nodes of one tree is one decision. To keep twelve trees is
/// twelve decisions.
///
/// Two cases are judged wrongly. If several threads build structures at the same time, each part counts by itself. If
/// objects are all left one after the other, they may be taken for a structure. This happens if each is held by the
/// previous one, and all are left in less time than one of them usually lives. For one thread at a time.
struct Structures {
  private let finder: SurvivorFinder
  private let family: SurvivorFinder.Family
  private let limit: UInt64
  /// By survivor: the outermost object that was made with it.
  private var wholes: [NodeID: NodeID] = [:]

  /// `limit`: the longest ordinary life of a sibling, in events of the process. Linear in the family's survivors and
  /// the paths to their owners.
  init(of family: SurvivorFinder.Family, within limit: UInt64, _ finder: SurvivorFinder) {
    (self.finder, self.family, self.limit) = (finder, family, limit)
    var parts: [NodeID: [NodeID]] = [:]
    for node in family.survivors {
      if let whole = outermost(of: node) { parts[whole, default: []].append(node) }
    }
    for (whole, nodes) in parts where isBuiltAtOnce(whole, nodes) {
      for node in nodes { wholes[node] = whole }
    }
  }

  /// Returns the structure that a survivor is a part of; the survivor itself if there is none.
  func whole(of node: NodeID) -> NodeID { wholes[node] ?? node }

  /// Returns whether a survivor is a part of a structure, and an object of its own type holds it there. Then only the
  /// holder is judged.
  func isPartOfItsKind(_ node: NodeID) -> Bool {
    guard wholes[node] != nil, let owner = finder.owner(of: node, steps: Self.stepLimit) else { return false }
    return finder.graph.nodeTypes[Int(owner)] == finder.graph.nodeTypes[Int(node)]
  }

  /// Maximum number of owners above each other. Deeper structures count as several.
  private static let depthLimit = 256
  /// Maximum number of blocks between an object and its owner: collections, boxes and closures.
  private static let stepLimit = 16

  /// Returns the outermost object of the program on the path to a node, by owners that were each made within an
  /// ordinary life of the node; nil if there is none.
  private func outermost(of node: NodeID) -> NodeID? {
    let own = finder.ordinal(node)
    var found: NodeID?
    var current = node
    for _ in 0..<Self.depthLimit {
      guard let owner = finder.owner(of: current, steps: Self.stepLimit) else { break }
      let ordinal = finder.ordinal(owner)
      guard max(own, ordinal) - min(own, ordinal) <= limit else { break }
      found = owner
      current = owner
    }
    return found
  }

  /// Returns whether hardly another sibling was made while the parts were made.
  private func isBuiltAtOnce(_ whole: NodeID, _ parts: [NodeID]) -> Bool {
    let ordinals = (parts + [whole]).map(finder.ordinal)
    guard let first = ordinals.min(), let last = ordinals.max(), last - first <= limit else { return false }
    let lifetime = family.lifetime
    let range = Double(max(1, lifetime.lastOrdinal - lifetime.firstOrdinal))
    let expected = Double(lifetime.births) * Double(last - first) / range
    return Double(parts.count) >= finder.rules.ownOfStructure * expected
  }
}
