// Weighs the holders of survivors.

import HeapAnalysis
import TraceReading

extension SurvivorFinder {
  /// Adds the points of the rules about the holder of survivors.
  func weighHolder(
    _ holding: Holding, of nodes: [NodeID], _ sample: NodeID, _ suspicion: Suspicion, isMinority: Bool,
    in evidence: inout Evidence
  ) {
    let (steps, place, figures) = (holding.steps, holding.suspect, "\(nodes.count) instances")
    switch holding.key {
    case .registration(let kind, _):
      evidence = evidence.ofRegistrations
      note(.registered, .supports, figures)
      // The age of such tasks is not known: some may be work under way.
      if kind == .task, suspicion.family.lifetime.births == 0 {
        weigh(
          .many, nodes.count >= rules.minPendingTasks, "\(nodes.count) of \(rules.minPendingTasks)", in: &evidence)
      }
      // Scheduled work is freed when it has run. Cancelled work is freed no earlier. If the work keeps no object of the
      // program alive, for example because of a weak self, it is no leak.
      if kind == .dispatchWork, !keepOwnObjects(nodes) { weigh(.keepsNothing, false, figures, in: &evidence) }
    case .reference:
      weigh(.knownHolder, isKnownHolder(steps, place), figures, in: &evidence)
      guard suspicion.verdict == .accumulating else {
        if areMadeToKeep(steps, place) { weigh(.madeToKeep, false, figures, in: &evidence) }
        return
      }
      weigh(.holderIsOlder, isContainerOlder(steps, place, than: nodes), figures, in: &evidence)
      weighReading(of: steps[place].node, nodes, suspicion, in: &evidence)
      if evidence.isStrong { weigh(.referredTo, !areReferredTo(nodes), figures, in: &evidence) }
      weighWhole(of: steps, place, nodes, suspicion, in: &evidence)
      // A list of closures is a registry of callbacks. Fewer objects make a strong suspicion there than in a list of
      // results.
      let isCaptured = isCaptured(steps, place)
      if suspicion.needsCallback, !isServed(steps, place) {
        weigh(.capturedByCallback, isCaptured, "made by the main function", in: &evidence)
      } else if isCaptured, !isMinority, isProgramObject(sample), nodes.count >= rules.minLooped {
        weigh(.capturedByCallback, true, figures, in: &evidence)
      }
      // The growth of a family says little about the few objects that are held in another way than most.
      if isMinority { weigh(.heldAlike, false, figures, in: &evidence) }
    }
  }

  /// Returns whether the holder keeps a survivor by an object of another class, and no such object ever ended. For
  /// example, a named version keeps a revision of a document, and other revisions end.
  private func areMadeToKeep(_ steps: [LeakGroup.Step], _ suspect: Int) -> Bool {
    guard suspect + 2 < steps.count, let survivor = steps.last?.node else { return false }
    let keeper = steps[suspect + 1].node
    guard !graph.isRoot(keeper), isProgramObject(keeper), graph.nodeTypes[Int(keeper)] != graph.nodeTypes[Int(survivor)]
    else { return false }
    let lifetime = sites[Int(block(keeper).site.rawValue)].lifetime
    return lifetime.deaths == 0 && lifetime.births >= UInt64(rules.minOutlived)
  }

  /// Whether some open connections are older than any connection that ended. Then they may have lost their peers.
  var areConnectionsOld: Bool {
    let old = connections.all.count { connection in
      let (block, now) = (block(connection), activations.ordinal)
      let lifetime = sites[Int(block.site.rawValue)].lifetime
      let age = Double(now - min(now, block.ordinal))
      return lifetime.deaths > 0 && age > rules.ageFactor * Double(lifetime.longestWork)
    }
    return old >= rules.minOutlived
  }

  /// Weakens a suspicion if each open connection has its part of the objects: one or two, or more that were made
  /// together. For example, each has a task and some handlers. What a connection collects is not made together.
  /// - Parameter task: returns the task that keeps an object.
  func weighConnections(of nodes: [NodeID], keptBy task: (NodeID) -> NodeID?, in evidence: inout Evidence) {
    let parts = connections.groups(of: nodes, keptBy: task).filter { part in
      guard part.count >= rules.severalSurvivors else { return true }
      let births = part.map(ordinal)
      let (first, last) = (births.min() ?? 0, births.max() ?? 0)
      return Double(last - first) <= rules.maxSpanOfPart * Double(activations.ordinal - min(first, activations.ordinal))
    }
    let count = parts.reduce(0) { $0 + $1.count }
    guard parts.count >= rules.minRegistered, Double(count) >= rules.ownedShare * Double(nodes.count) else { return }
    weigh(.openConnections, false, "\(count) instances, \(parts.count) connections", in: &evidence)
  }

  /// Weakens a suspicion if the same holder has siblings from other sites, and these ended while the objects were made.
  /// For example, a window that moves keeps its size. Linear in the nodes near the holder.
  private func weighWhole(
    of steps: [LeakGroup.Step], _ suspect: Int, _ nodes: [NodeID], _ suspicion: Suspicion, in evidence: inout Evidence
  ) {
    guard evidence.isStrong else { return }
    let holder = steps[...suspect].last { !graph.isRoot($0.node) && isProgramObject($0.node) } ?? steps[suspect]
    guard !graph.isRoot(holder.node) else { return }
    let family = suspicion.family
    let kept = kept(by: holder.node)
    func places(ofType type: UInt32) -> Set<UInt32> {
      Set(kept.filter { graph.nodeTypes[Int($0)] == type }.map { block($0).site.rawValue })
    }
    /// Adds the points for the number of objects from all of some places.
    func weigh(_ places: Set<UInt32>) {
      let whole = Population(
        places.sorted().map { sites[Int($0)].liveCurve }, from: family.lifetime.firstOrdinal,
        to: max(family.lifetime.lastOrdinal, family.lifetime.firstOrdinal))
      let (before, after) = (Double(whole.live(at: 0)), Double(whole.live(at: 1)))
      let hasGrown = after - before >= rules.minAdded * Double(family.survivors.count)
      self.weigh(.populationGrew, hasGrown, "from \(Int(before)) to \(Int(after)) with siblings", in: &evidence)
    }
    func haveEnded(_ places: Set<UInt32>) -> Bool { places.contains { sites[Int($0)].lifetime.deaths > 0 } }
    let (own, type) = (Set(family.sites), graph.nodeTypes[Int(nodes[0])])
    let others = places(ofType: type).subtracting(own)
    if haveEnded(others) { return weigh(own.union(others)) }
    // Each of the objects may be a part of an element. Then the elements count.
    guard suspect + 1 < steps.count, graph.type(of: steps[suspect + 1].node).kind == .object else { return }
    let element = graph.nodeTypes[Int(steps[suspect + 1].node)]
    guard element != type, kept.count(where: { graph.nodeTypes[Int($0)] == element }) >= nodes.count else { return }
    let elements = places(ofType: element)
    if haveEnded(elements) { weigh(elements) }
  }

  /// Returns the nodes that a holder keeps by a few references.
  private func kept(by holder: NodeID) -> Set<NodeID> {
    var kept: Set<NodeID> = []
    var layer = [holder]
    for _ in 0..<Self.holderDistance {
      layer = layer.flatMap(graph.owned).filter { kept.insert($0).inserted }
    }
    return kept
  }

  /// Maximum number of references from a holder to a node that it keeps. A nested collection takes one for each level.
  private static let holderDistance = 4

  /// Adds the points for the way that the program iterated over a collection.
  private func weighReading(
    of storage: NodeID, _ nodes: [NodeID], _ suspicion: Suspicion, in evidence: inout Evidence
  ) {
    guard var use = use(of: storage, nodes) else { return }
    if use != .readInTheEnd, evidence.isStrong, isReadElsewhere(nodes, than: storage) { use = .readInTheEnd }
    switch use {
    case .readInTheEnd:
      // Unoptimised code retains each element that it reads. If the elements have no late use, the program read only
      // the collection's count.
      let areRetained = !isOptimised() && nodes.count { block($0).useAges > 1 } * 2 > nodes.count
      guard !areCalled(suspicion.family, nodes[0]), !areRetained || lateUse(of: suspicion.family) != .none else {
        return
      }
      weigh(.noResult, false, use.rawValue, in: &evidence)
    case .swept:
      if evidence.isUsedInTheEnd { weigh(.swept, true, use.rawValue, in: &evidence) }
    case .unread, .used: break
    }
  }

  /// Returns whether the program iterated over another collection of the objects once all of them were there. A table
  /// and a list may have the same objects. Linear in the nodes and the edges of large collections.
  private func isReadElsewhere(_ nodes: [NodeID], than storage: NodeID) -> Bool {
    let members = Set(nodes)
    let least = Int(rules.ownedShare * Double(nodes.count))
    return (0..<NodeID(graph.blockCount)).contains { other in
      let edges = graph.graph.edges(from: other)
      return edges.count >= least && other != storage && graph.type(of: other).kind.isCollection
        && use(of: other, nodes) == .readInTheEnd
        && Set(edges.lazy.map(graph.graph.target(of:)).filter(members.contains)).count >= least
    }
  }

  /// Returns whether the program iterated now and then over the collection that holds the objects.
  func isSwept(_ holding: Holding, _ nodes: [NodeID]) -> Bool {
    use(of: holding.steps[holding.suspect].node, nodes) == .swept
  }

  /// Returns whether most of the instances have unowned references from objects that they do not keep themselves. Such
  /// references are valid only as long as something else keeps the instances. Linear in the unowned references to the
  /// instances.
  private func areReferredTo(_ nodes: [NodeID]) -> Bool {
    let referred = nodes.count { target in
      (ownership.unownedReferences[target] ?? []).contains { node in
        !unreachable.contains(node) && !ownership.isOnlyHeld(node, through: target)
      }
    }
    return referred * 2 > nodes.count
  }

  /// Returns how the program iterated over a collection of these nodes, which are in order of birth; nil for other
  /// holders.
  private func use(of storage: NodeID, _ nodes: [NodeID]) -> CollectionUse? {
    guard !graph.isRoot(storage), graph.type(of: storage).kind.isCollection, let last = nodes.last else { return nil }
    return CollectionUse(of: block(storage), last: ordinal(last))
  }

  /// Returns whether an object of the program holds the objects, rather than a variable of the main function.
  func isServed(_ steps: [LeakGroup.Step], _ suspect: Int) -> Bool {
    steps[...suspect].contains { !graph.isRoot($0.node) && isProgramObject($0.node) }
  }

  /// Returns whether a closure on the path captured the object.
  private func isCaptured(_ steps: [LeakGroup.Step], _ suspect: Int) -> Bool {
    steps[suspect..<steps.count].contains { step in
      if !graph.isRoot(step.node), graph.type(of: step.node).kind == .closure { return true }
      return step.edge.map(isClosure) ?? false
    }
  }

  /// Returns whether an edge is a reference to a closure: to its captures, or to the only object that it captured.
  func isClosure(_ edge: EdgeIndex) -> Bool {
    guard let label = graph.label(graph.graph.label(of: edge)), case .closure = label.role else { return false }
    return true
  }

  /// Returns whether the holder is older than the objects. If objects are put together into something that is made
  /// later, they were collected on purpose. Growing objects had their holder before. The holder need not be older than
  /// all of them: the first object may ask for a registry that is made on its first use.
  func isContainerOlder(_ steps: [LeakGroup.Step], _ suspect: Int, than survivors: [NodeID]) -> Bool {
    guard !survivors.isEmpty, !isPutTogether(steps[suspect].node, of: survivors) else { return false }
    let first = survivors[survivors.count / rules.minLooped]
    // The links of a chain hold one another, and each is younger than the link that it holds. So links are no
    // containers.
    let type = graph.nodeTypes[Int(first)]
    let container = steps[...suspect].prefix { graph.isRoot($0.node) || graph.nodeTypes[Int($0.node)] != type }
    // The path to an owner may begin at younger objects. For example, the path to a service may begin at any
    // connection.
    let owner = container.last { !graph.isRoot($0.node) && isProgramObject($0.node) }
    return owner.map { ordinal($0.node) <= ordinal(first) } ?? true
  }

  /// Returns whether a collection was made when all its elements were there. A growing collection moves when it
  /// doubles, and has free room then.
  private func isPutTogether(_ storage: NodeID, of survivors: [NodeID]) -> Bool {
    guard !graph.isRoot(storage), graph.type(of: storage).kind.isCollection, let last = survivors.last,
      ordinal(storage) > ordinal(last)
    else { return false }
    return Double(block(storage).size) < rules.roomOfGrown
      * Double(survivors.count * MemoryLayout<UInt64>.size)
  }
}
