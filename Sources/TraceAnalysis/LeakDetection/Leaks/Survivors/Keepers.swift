// Finds the objects that keep survivors, one keeper for each.

import HeapAnalysis
import TraceReading

extension SurvivorFinder {
  /// Returns the group of the objects that keep the survivors, if each survivor has a keeper of its own. For example,
  /// objects that a registry's entry keeps are reported as the entry. A registration only holds objects, and is not
  /// reported itself. Returns nil if the keepers are a structure that the program builds: a tree, or a list. Also
  /// returns nil if the program made the keepers first, and then gave an object to each: their number limits the objects.
  func lifted(_ group: SurvivorGroup, of suspicion: Suspicion, _ registration: RegistrationSearch)
    -> SurvivorGroup?
  {
    var group = group
    let isRegistered = registration(group.path, 0)?.index == group.suspect
    for _ in 0..<Self.liftLimit {
      let owners = group.survivors.compactMap { owner(of: $0) }
      guard let own = owner(of: group.sample), let place = group.path.firstIndex(where: { $0.node == own }),
        place > (isRegistered ? group.suspect : 0)
      else { return group }
      let type = graph.nodeTypes[Int(own)]
      // Siblings that hold one another in a row are a chain, and no owners.
      guard type != graph.nodeTypes[Int(group.sample)] else { return group }
      let unique = Set(owners.filter { graph.nodeTypes[Int($0)] == type })
      guard Double(unique.count) >= rules.ownedShare * Double(group.survivors.count), unique.count >= 2 else {
        return group
      }
      let keepers = unique.sorted { ordinal($0) < ordinal($1) }
      if unique.count(where: { owner(of: $0).map { graph.nodeTypes[Int($0)] == type } ?? false }) * 2 > unique.count {
        var family = Family()
        family.survivors = keepers
        guard isChain(family), suspicion.chaining == .perhaps || chain(family) != nil else { return nil }
      }
      if !isRegistered, areMadeBefore(keepers, group.survivors) { return nil }
      group.survivors = keepers
      group.sample = own
      group.path = Array(group.path[...place])
      group.path[place].edge = nil
      group.suspect = min(group.suspect, place - 1)
      group.sites = Set(group.survivors.map { block($0).site.rawValue }).sorted()
      group.lifetime = group.sites.reduce(into: SiteLifetime()) { $0 += sites[Int($1)].lifetime }
      // The program still works with the keepers.
      let used = group.survivors.count { isInUse($0, beyond: group.evidence.longestWork, in: Family()) }
      if used * 2 > group.survivors.count {
        weigh(.holderUnused, false, "\(group.survivors.count) instances", in: &group.evidence)
      }
    }
    return group
  }

  private static let liftLimit = 8

  /// Returns whether most keepers are older than all objects that they keep.
  private func areMadeBefore(_ keepers: [NodeID], _ kept: [NodeID]) -> Bool {
    guard let first = kept.first.map(ordinal) else { return false }
    return keepers.count { ordinal($0) < first } * 2 > keepers.count
  }

  /// Returns the program's nearest object on the path to a survivor; nil if there is none within `steps` steps.
  func owner(of node: NodeID, steps: Int = .max) -> NodeID? {
    var current = ownership.paths.parents[node]
    var rest = steps
    while current != HeapGraph.noNode, !graph.isRoot(current), rest > 0 {
      if isProgramObject(current) { return current }
      rest -= 1
      // A task keeps objects for itself, so the search ends here.
      if graph.type(of: current).kind == .task { return nil }
      current = ownership.paths.parents[current]
    }
    return nil
  }
}
