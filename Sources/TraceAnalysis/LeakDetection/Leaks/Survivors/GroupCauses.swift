// Joins groups of survivors that have one cause.

import HeapAnalysis

/// Chooses one of several groups that have the same cause. For one thread at a time.
struct GroupCauses {
  private let finder: SurvivorFinder
  private let naming: FindingNaming
  private let holders: HolderNames
  private var graph: ObjectGraph { finder.graph }
  private var rules: SurvivorRules { finder.rules }

  init(_ finder: SurvivorFinder, naming: FindingNaming, holders: HolderNames) {
    (self.finder, self.naming, self.holders) = (finder, naming, holders)
  }

  /// Returns one group for each cause. Groups have one cause if the same place holds about as many objects of each. All
  /// objects that one entry of a registry keeps are such a case. O(groups²), and linear in their survivors.
  func causes(_ groups: [SurvivorGroup]) -> [SurvivorGroup] {
    var kept: [SurvivorGroup] = []
    var passing: [NodeID: SurvivorFinder.PathCounts] = [:]
    /// Returns the number of survivors whose paths lead through a node.
    func count(of group: SurvivorGroup, through node: NodeID) -> Int {
      let counts =
        passing[group.sample]
        ?? finder.pathCounts(
          group.survivors.filter { finder.ownership.paths.reaches($0) }, finder.ownership.paths)
      passing[group.sample] = counts
      return counts[node] ?? 0
    }
    for group in groups.sorted(by: { order($0) < order($1) }) {
      let place = group.path[group.suspect].node
      let isKnown = kept.contains { other in
        if resume(other, keepersOf: group) { return true }
        // If a collection has closures and tasks whose entries keep objects of the program, the objects are the cause.
        if rank(group) == 2, rank(other) == 0, 2 * count(of: other, through: place) >= group.survivors.count {
          return true
        }
        guard areAsMany(other.survivors.count, group.survivors.count) else { return false }
        if other.path[other.suspect].node == place { return true }
        // Each timer or task keeps objects of both groups.
        if areRegisteredTogether(other, group) { return true }
        // Each event loop has a registry, and the samples of two groups may be in two registries. So compare the
        // numbers of objects that this registry holds.
        guard holders.registration(group.path, after: 0)?.index == group.suspect else { return false }
        let own = count(of: group, through: place)
        return own >= rules.minRegistered && areAsMany(own, count(of: other, through: place))
      }
      if isKnown { finder.log?.notePart(ofAnotherFinding: group) } else { kept.append(group) }
    }
    return kept
  }

  /// Returns the order of groups that one entry keeps; the report names the first. The number of objects, and the
  /// memory that each keeps, differ from run to run, so they do not decide. The larger class comes first, then names
  /// decide.
  private func order(_ group: SurvivorGroup) -> (Int, Int, String) {
    (
      rank(group), -Int(clamping: graph.heap[BlockID(group.sample)].size),
      graph.type(of: group.sample).qualifiedName
    )
  }

  private func areRegisteredTogether(_ a: SurvivorGroup, _ b: SurvivorGroup) -> Bool {
    let fewer = min(a.registrations.count, b.registrations.count)
    return fewer >= rules.minRegistered
      && Double(a.registrations.intersection(b.registrations).count) >= rules.ownedShare * Double(fewer)
  }

  /// Returns whether the program's objects of one group resume tasks that keep the objects of the other group, one
  /// object each. Then the objects of the other group wait for the program's objects.
  private func resume(_ own: SurvivorGroup, keepersOf group: SurvivorGroup) -> Bool {
    guard rank(own) == 0, rank(group) > 0, group.survivors.count >= rules.minRegistered,
      group.survivors.count < own.survivors.count || areAsMany(own.survivors.count, group.survivors.count)
    else { return false }
    let tasks = tasks(resumedBy: own)
    let least = Int(rules.ownedShare * Double(min(group.survivors.count, SurvivorFinder.detailLimit)))
    guard tasks.count >= max(1, least) else { return false }
    return tasks.intersection(group.registrations).count >= least || count(of: group, nearestTo: tasks) >= least
  }

  /// Returns the tasks that wait for a continuation which the survivors of a group keep.
  private func tasks(resumedBy own: SurvivorGroup) -> Set<NodeID> {
    var found: Set<NodeID> = []
    for survivor in own.survivors.prefix(SurvivorFinder.detailLimit) {
      var layer = [survivor]
      for _ in 0..<Self.stepsToTask where layer.count <= Self.nodesToTask {
        layer = layer.flatMap { node in
          graph.graph.edges(from: node).map { graph.graph.target(of: $0) }
        }
        .filter { !graph.isRoot($0) }
        found.formUnion(layer.filter { graph.taskStates[$0] == .waiting(.continuation) })
      }
    }
    return found
  }

  /// Returns the number of tasks that are the nearest task of some survivor. Many tasks may lead to an object that they
  /// share, and from there to all survivors. Then one of the tasks is nearest to most survivors. Linear in the graph.
  private func count(of group: SurvivorGroup, nearestTo tasks: Set<NodeID>) -> Int {
    var nearest = Dictionary(uniqueKeysWithValues: tasks.map { ($0, $0) })
    var layer = tasks.sorted()
    for _ in 0..<Self.stepsFromTask {
      var next: [NodeID] = []
      for node in layer {
        for edge in graph.graph.edges(from: node) {
          let target = graph.graph.target(of: edge)
          guard !graph.isRoot(target), nearest[target] == nil else { continue }
          nearest[target] = nearest[node]
          next.append(target)
        }
      }
      layer = next
    }
    return Set(group.survivors.compactMap { nearest[$0] }).count
  }

  /// Maximum number of steps from an object through its continuation to the task, and of nodes examined in a step.
  private static let stepsToTask = 3
  private static let nodesToTask = 64
  /// Maximum number of steps from a task through its frames and the objects of packages to a connection.
  private static let stepsFromTask = 12

  private func areAsMany(_ a: Int, _ b: Int) -> Bool {
    Double(abs(a - b)) <= rules.evenShare * Double(max(a, b))
  }

  /// Returns the rank of a group: the program's own objects come before objects of packages, and all objects before
  /// closures and tasks.
  private func rank(_ group: SurvivorGroup) -> Int {
    graph.type(of: group.sample).kind != .object ? 2 : naming.isOwn(group.sample) ? 0 : 1
  }
}
