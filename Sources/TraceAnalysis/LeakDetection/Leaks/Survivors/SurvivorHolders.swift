// Finds the holders of survivors: the paths to the survivors, and the point where a path that many share divides.

import HeapAnalysis
import PlatformRules
import TraceSymbolication

extension SurvivorFinder {
  /// A holder. Roots are identified by their kind, a holder of many survivors by itself, and a holder of one or two by
  /// its type.
  enum HolderID: Hashable {
    case variables(image: Int)
    case root(UInt64)
    case node(NodeID)
    case type(UInt32)
  }

  /// The key that groups the survivors of a family.
  enum HolderKey: Hashable {
    /// A type of root or node, and the reference that holds the survivors.
    case reference(holder: HolderID, label: UInt32, isChain: Bool)
    /// A kind of registration, and the types of the program's objects on the path from it to a survivor. For example,
    /// the parts of a server may each have a queue that a task of their own keeps. Their keys differ in these types.
    case registration(Finding.Registration, through: [UInt32])
  }

  /// The path to one survivor, with its holder.
  struct Holding {
    var key: HolderKey
    var steps: [LeakGroup.Step]
    var suspect: Int
    var isRegistered: Bool
  }

  /// Maximum number of survivors that are examined one by one. The others are assumed to be held like the first one.
  static let detailLimit = 4000

  /// Returns the survivors of a family, grouped by their holder.
  func held(_ suspicion: Suspicion, paths: RetainPaths, registration: RegistrationSearch) -> [SurvivorGroup] {
    let survivors = suspicion.family.survivors.filter { paths.reaches($0) }
    let own = Set(survivors)
    let kin = (suspicion.kin?.survivors ?? []).filter { paths.reaches($0) && !own.contains($0) }
    let members = own.union(kin)
    let counts = pathCounts(survivors + kin, paths)
    var order: [HolderKey] = []
    var groups: [HolderKey: [NodeID]] = [:]
    for (index, node) in survivors.enumerated() {
      let key: HolderKey
      if index < Self.detailLimit || order.isEmpty {
        guard let found = holderKey(node, members, counts, paths, registration) else { continue }
        key = found
      } else {
        key = order[0]
      }
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(node)
    }
    for node in kin.prefix(Self.detailLimit) {
      if let key = holderKey(node, members, counts, paths, registration), groups[key] != nil {
        groups[key]!.append(node)
      }
    }
    if suspicion.verdict == .accumulating { joinHolders(&groups, &order, survivors.count) }
    func path(_ node: NodeID) -> [LeakGroup.Step]? { holding(node, members, counts, paths, registration)?.steps }
    if suspicion.verdict == .outlived, !isAlone(groups, suspicion) { joinLasting(&groups, &order, path) }
    for key in order { groups[key]!.sort { ordinal($0) < ordinal($1) } }
    let samples = groups.mapValues { $0[min($0.count, Self.detailLimit) / 2] }
    // A stale word may seem to hold a few survivors. These belong to the main group.
    if let main = order.max(by: { groups[$0]!.count < groups[$1]!.count }), groups[main]!.count >= suspicion.least {
      for key in order
      where key != main && mayBeLeftOver(key) && groups[key]!.count < suspicion.least
        && Double(groups[key]!.count) <= rules.maxLeftOverShare * Double(groups[main]!.count)
      {
        groups[main]! += groups.removeValue(forKey: key)!
      }
      order.removeAll { groups[$0] == nil }
    }
    return order.compactMap { key in
      guard var nodes = groups[key], var sample = samples[key] else { return nil }
      // If siblings end, tasks in their first sleep will end as well. Judge the others without them.
      let settled = suspicion.isStated || suspicion.evidence.proven.isEmpty ? nodes : withoutWorkUnderWay(nodes)
      if settled.count < nodes.count, settled.count >= suspicion.least {
        (nodes, sample) = (settled, settled[min(settled.count, Self.detailLimit) / 2])
      }
      guard
        holds(.heldAlike, nodes.count >= suspicion.least, "\(nodes.count) of \(suspicion.least)"),
        var holding = holding(sample, members, counts, paths, registration)
      else { return nil }
      if suspicion.verdict == .outlived { markLastingField(&holding) }
      // Trees and lists consist of siblings that hold each other.
      if case .reference(_, _, let isChain) = key, !suspicion.isStated, suspicion.chaining != .perhaps,
        isChain != (suspicion.chaining == .always)
      {
        note(.heldBySibling, .excludes, "\(nodes.count) instances")
        return nil
      }
      // Each of several objects may have a short list. A list that grows gets long.
      if case .reference(_, _, true) = key, suspicion.chaining == .perhaps, suspicion.verdict == .outlived,
        !holds(
          .chain, nodes.count >= rules.minLooped * max(1, survivors.count - nodes.count),
          "\(nodes.count) instances in \(survivors.count - nodes.count) lists")
      {
        return nil
      }
      // A single object that something has registered must be assumed to be in use.
      if case .registration = key, suspicion.chaining == .always {
        note(.registered, .excludes, "\(nodes.count) instances")
        return nil
      }
      // The program may use the survivors of other holders, but not these.
      let areLeftUnused = nodes.count < survivors.count && lateUse(of: nodes, in: suspicion.family) == .none
      if suspicion.needsService,
        !holds(.madeByMain, isServed(holding.steps, holding.suspect), "\(nodes.count) instances")
      {
        return nil
      }
      if suspicion.needsUnused,
        !holds(.unusedAtTheEnd, areLeftUnused || isSwept(holding, nodes), "\(nodes.count) instances")
      {
        return nil
      }
      if suspicion.needsRegistration, !holds(.registered, holding.isRegistered, "\(nodes.count) instances") {
        return nil
      }
      // Another suspicion judges registered objects.
      if suspicion.needsHolder, holding.isRegistered { return nil }
      // The threads of a pool hold objects while they wait for work.
      if case .registration(.thread, _) = key, !suspicion.isStated, suspicion.evidence.proven.isEmpty,
        !holds(.moreThanAPool, threadCount(nodes, paths) >= rules.minThreads, "\(threadCount(nodes, paths)) threads")
      {
        return nil
      }
      var isUnread = false
      if case .registration(.taskGroup, _) = key, !suspicion.isStated {
        // Whenever a program ends, a few results wait to be read.
        isUnread = true
        guard !suspicion.needsRegistration || suspicion.ownKinds.contains(.taskGroup),
          holds(.unread, nodes.count >= rules.minLooped, "\(nodes.count) of \(rules.minLooped)")
        else { return nil }
      }
      var isBeyondReach = isUnread
      var letGo: SourceFrame?
      var isCancelled = false
      if case .registration(let kind, _) = key, kind != .taskGroup {
        let mayBeFew =
          kind != .task || suspicion.isStated || !suspicion.evidence.proven.isEmpty
          || nodes.count >= rules.minPendingTasks
        if !suspicion.ownKinds.isEmpty || !mayBeFew
          || kind == .task && !suspicion.isStated && suspicion.evidence.proven.isEmpty
            && areAtWork(registrations(of: nodes, members, counts, paths, registration))
        {
          let own: [NodeID]
          if !suspicion.needsLettingGo,
            let found = ownOnes(kind, nodes, suspicion, members, counts, paths, registration)
          {
            own = found
          } else if kind == .task,
            let found = lettingGo(of: nodes, suspicion, members, counts, paths, registration)
          {
            (own, letGo, isCancelled) = (found.own, found.place, found.place == nil)
          } else {
            return nil
          }
          isBeyondReach = letGo == nil && !isCancelled
          let others = min(nodes.count, Self.detailLimit) - own.count
          if Double(others) > max(1, (1 - rules.ownedShare) * Double(nodes.count)) {
            nodes = own.sorted { (ordinal($0), $0) < (ordinal($1), $1) }
            sample = nodes[nodes.count / 2]
            guard let found = self.holding(sample, members, counts, paths, registration) else { return nil }
            holding = found
          }
        }
      } else if !suspicion.ownKinds.isEmpty, !isUnread {
        note(.registered, .excludes, "\(nodes.count) instances")
        return nil
      }
      guard var evidence = suspicion.evidence.of(nodes, least: suspicion.least) else {
        note(.olderThanSiblings, .excludes, "too few of \(nodes.count) are held in the same way")
        return nil
      }
      if areLeftUnused, evidence.isUsedInTheEnd {
        let points = -rules.points[.unusedAtTheEnd].weakens
        (evidence.isUsedInTheEnd, evidence.points) = (false, evidence.points + points)
        note(.unusedAtTheEnd, .supports, "\(nodes.count) instances", points: points)
      }
      if !suspicion.isStated {
        weighHolder(
          holding, of: nodes, sample, suspicion,
          isMinority: suspicion.verdict == .accumulating
            && Double(nodes.count) < rules.minShareOfFamily * Double(survivors.count), in: &evidence)
        if settled.count < nodes.count { weigh(.workUnderWay, false, "\(nodes.count) instances", in: &evidence) }
        // The parts of a connection are as old as it is, whatever the age of their siblings.
        if evidence.proven.isEmpty || !areConnectionsOld {
          weighConnections(
            of: nodes,
            keptBy: { self.registration(of: $0, members, counts, paths, registration).flatMap(self.task) },
            in: &evidence)
        }
        if isYounger(nodes, than: groups.values) {
          weigh(.youngerThanOthers, false, "\(nodes.count) instances", in: &evidence)
        }
        log?.sum(evidence.sum)
        guard evidence.sum >= rules.minPoints else { return nil }
      }
      if suspicion.isLeftBehind, !holding.isRegistered { letGo = placeOfLettingGo(nodes) }
      let (steps, place) = (holding.steps, holding.suspect)
      var group = SurvivorGroup(
        verdict: isUnread ? .accumulating : holding.isRegistered ? .outlived : suspicion.verdict, survivors: nodes,
        sample: sample,
        path: steps,
        suspect: place,
        lifetime: UInt64(nodes.count) > suspicion.family.lifetime.births
          ? suspicion.kin?.lifetime ?? suspicion.family.lifetime : suspicion.family.lifetime,
        sites: suspicion.family.sites, homeDistance: suspicion.homeDistance, evidence: evidence, retainedBytes: 0,
        retainedBlocks: 0)
      (group.isBeyondReach, group.letGo, group.isCancelled) = (isBeyondReach, letGo, isCancelled)
      if holding.isRegistered { group.registrations = registrations(of: nodes, members, counts, paths, registration) }
      return group
    }
  }

  /// Joins the groups of holders of one type with the same field, if no holder has most of the survivors. For example,
  /// a log in each room grows with the number of messages, in whichever rooms they are.
  private func joinHolders(_ groups: inout [HolderKey: [NodeID]], _ order: inout [HolderKey], _ survivors: Int) {
    guard !order.contains(where: { Double(groups[$0]!.count) >= rules.minShareOfFamily * Double(survivors) }) else {
      return
    }
    var joined: [HolderKey: [HolderKey]] = [:]
    for key in order {
      guard case .reference(.node(let node), let label, let isChain) = key else { continue }
      let type = HolderID.type(graph.nodeTypes[Int(node)])
      joined[.reference(holder: type, label: label, isChain: isChain), default: []].append(key)
    }
    for keys in joined.values where keys.count >= rules.severalSurvivors {
      let largest = keys.max { groups[$0]!.count < groups[$1]!.count }!
      for key in keys where key != largest { groups[largest]! += groups.removeValue(forKey: key)! }
    }
    order.removeAll { groups[$0] == nil }
  }

  /// Returns whether some group has enough old survivors of its own. Then healthy siblings in other holders must not hide
  /// them.
  private func isAlone(_ groups: [HolderKey: [NodeID]], _ suspicion: Suspicion) -> Bool {
    groups.contains { key, nodes in
      guard case .reference(_, _, false) = key, nodes.count >= suspicion.least else { return false }
      return suspicion.evidence.of(nodes.sorted { ordinal($0) < ordinal($1) }, least: suspicion.least) != nil
    }
  }

  /// Returns whether objects were made after nearly all of a larger group. Then they may become part of that group
  /// later. For example, open connections end up as closed ones, and a list still has the closed ones.
  private func isYounger(_ nodes: [NodeID], than groups: some Sequence<[NodeID]>) -> Bool {
    guard let first = nodes.first.map(ordinal) else { return false }
    return groups.contains { other in
      other.count > nodes.count
        && ordinal(other[Int(rules.earlierGeneration * Double(other.count - 1))]) < first
    }
  }

  /// Returns the survivors without those that are under way. If most of the remaining survivors sleep as well, for the
  /// second time or the hundredth, sleeping is their normal state. Then this returns all survivors.
  private func withoutWorkUnderWay(_ survivors: [NodeID]) -> [NodeID] {
    let settled = survivors.filter { !waiting.isUnderWay($0) }
    let sleeping = settled.count(where: waiting.isAsleep)
    return Double(sleeping) >= rules.minAsleep * Double(max(1, settled.count)) ? survivors : settled
  }

  /// Returns whether most of some tasks do not wait: a thread runs them, or they wait only for a thread.
  private func areAtWork(_ tasks: Set<NodeID>) -> Bool {
    // A task without a state runs only if the states were read.
    guard graph.taskRelations.isKnown else { return false }
    let busy = tasks.count { graph.taskStates[$0] == nil || waiting.isAboutToGoOn($0) }
    return busy * 2 > tasks.count
  }

  /// Returns whether the holder is neither a field nor a variable of the program, so that the word may be stale.
  private func mayBeLeftOver(_ key: HolderKey) -> Bool {
    switch key {
    case .registration: true
    case .reference(.variables, _, _): false
    case .reference(_, let label, _): label >= 1 << 31
    }
  }

  /// Returns the key that groups a survivor. If a sibling holds the survivor, the rest of the path does not matter: in
  /// a list it is as long as the list.
  func holderKey(
    _ node: NodeID, _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> HolderKey? {
    let (edge, isChain) = suspectEdge(of: node, members, counts, paths)
    if isChain { return edge.map { referenceKey($0, isChain: true, counts) } }
    return holding(node, members, counts, paths, registration)?.key
  }

  private func referenceKey(_ edge: EdgeIndex, isChain: Bool, _ counts: PathCounts) -> HolderKey {
    let holder = graph.graph.source(of: edge)
    let kind: HolderID
    if !graph.isRoot(holder) {
      kind =
        (counts[holder] ?? 0) >= rules.severalSurvivors && !isChain
        ? .node(holder) : .type(graph.nodeTypes[Int(holder)])
    } else if case .global(let image) = graph.root(holder).kind {
      kind = .variables(image: image)
    } else {
      kind = .root(LeakAnalysis.rootKey(graph.root(holder).kind))
    }
    // The first and the last element of a library's list lead to the others.
    let first = graph.graph.target(of: edge)
    let isList = graph.graph.edges(from: first).contains(where: isLink)
    // Each variable of the program is a separate holder, even if one image contains all of them.
    let label = isList && !isChain ? 1 << 31 : graph.graph.label(of: edge)
    return .reference(holder: kind, label: label < 1 << 31 || graph.isRoot(holder) ? label : 1 << 31, isChain: isChain)
  }

  func holding(
    _ node: NodeID, _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> Holding? {
    let (edge, isChain) = suspectEdge(of: node, members, counts, paths)
    guard let edge, let path = paths.path(to: node) else { return nil }
    var steps: [LeakGroup.Step] = [.init(node: path.root, edge: nil)]
    for step in path.steps {
      steps[steps.count - 1].edge = step.edge
      steps.append(.init(node: step.node, edge: nil))
    }
    let place = steps.firstIndex { $0.edge == edge } ?? 0
    if !isChain, let (index, kind) = registration(steps, place) {
      // An uncounted reference does not keep the object, so the object has another holder.
      if steps[index...].contains(where: {
        $0.edge.map { graph.graph.kind(of: $0) == EdgeStrength.unmanaged.rawValue } ?? false
      }) {
        return nil
      }
      let through = steps[(index + 1)...].dropLast().filter { isProgramObject($0.node) }.map {
        graph.nodeTypes[Int($0.node)]
      }
      return Holding(key: .registration(kind, through: through), steps: steps, suspect: index, isRegistered: true)
    }
    let key = referenceKey(edge, isChain: isChain, counts)
    return Holding(key: key, steps: steps, suspect: place, isRegistered: false)
  }

  /// Returns whether people know the holder by name: an object, or a variable of the program. A local variable of a
  /// running function is meant to hold its object. A library's own memory may hold the object only by stale words.
  func isKnownHolder(_ steps: [LeakGroup.Step], _ suspect: Int) -> Bool {
    if steps[..<(suspect + 1)].contains(where: { !graph.isRoot($0.node) && isProgramObject($0.node) }) { return true }
    guard case .global(let image) = graph.root(steps[0].node).kind else { return false }
    return !SystemCode.isSystemImage(graph.roots.images[image].path)
  }

  /// Returns the registrations that hold survivors; for a task, the task itself.
  private func registrations(
    of survivors: [NodeID], _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> Set<NodeID> {
    Set(
      survivors.prefix(Self.detailLimit).compactMap { self.registration(of: $0, members, counts, paths, registration) })
  }

  /// Returns the registration that holds a survivor; nil if none does. For a task, the task itself.
  private func registration(
    of survivor: NodeID, _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths,
    _ registration: RegistrationSearch
  ) -> NodeID? {
    guard let holding = holding(survivor, members, counts, paths, registration), holding.isRegistered else {
      return nil
    }
    let place = holding.steps[holding.suspect].node
    return graph.taskOfSlab[place] ?? place
  }

  /// Returns a node if it is a task.
  private func task(_ node: NodeID) -> NodeID? {
    !graph.isRoot(node) && graph.type(of: node).kind == .task ? node : nil
  }

  /// Returns the number of threads that keep any of the survivors.
  private func threadCount(_ survivors: [NodeID], _ paths: RetainPaths) -> Int {
    Set(survivors.prefix(Self.detailLimit).compactMap { paths.path(to: $0)?.root }).count
  }

  /// For each node on the paths to survivors: the number of survivors behind it, and the number of its edges that lead
  /// to them.
  struct PathCounts {
    fileprivate var survivors: [NodeID: Int] = [:]
    fileprivate var branches: [NodeID: Int] = [:]
    fileprivate var rules: SurvivorRules

    subscript(node: NodeID) -> Int? { survivors[node] }

    /// Returns whether a node is an element of a list: it leads to one or two survivors directly, and to the others
    /// through the next link. Chance decides its place in the list.
    fileprivate func isLink(_ node: NodeID, to next: NodeID) -> Bool {
      guard let all = survivors[node], branches[node] == 2, let beyond = survivors[next] else { return false }
      return min(beyond, all - beyond) <= rules.ownOfLink
    }

    /// Returns whether several survivors lie behind `node`, and `next` leads to half of them at most.
    fileprivate func divides(_ node: NodeID, to next: NodeID) -> Bool {
      guard let all = survivors[node], all >= rules.severalSurvivors, all >= 2 * (survivors[next] ?? 1) else {
        return false
      }
      return !isLink(node, to: next)
    }
  }

  /// Returns, for each node on the paths to survivors, the number of survivors that it leads to.
  func pathCounts(_ survivors: [NodeID], _ paths: RetainPaths) -> PathCounts {
    var counts: [NodeID: Int] = [:]
    var branches: [NodeID: Int] = [:]
    var order: [NodeID] = []
    for node in survivors {
      var current = node
      var fresh: [NodeID] = []
      while current != HeapGraph.noNode, counts[current] == nil {
        counts[current] = 0
        fresh.append(current)
        current = paths.parents[current]
      }
      order += fresh.reversed()
    }
    // A parent's path is cheaper than its child's path, so this order visits children first.
    for node in survivors { counts[node, default: 0] += 1 }
    for node in order.sorted(by: { paths.costs[$0] > paths.costs[$1] }) {
      let parent = paths.parents[node]
      guard parent != HeapGraph.noNode else { continue }
      counts[parent, default: 0] += counts[node] ?? 0
      branches[parent, default: 0] += 1
    }
    return PathCounts(survivors: counts, branches: branches, rules: rules)
  }

  /// Returns the edge where a survivor's own part of its path begins. This edge leaves a node that leads to many
  /// survivors. If a sibling leads to the survivor, the edge leaves the sibling. In a list of a library, siblings are
  /// elements, and the edge leaves what keeps the list.
  func suspectEdge(of node: NodeID, _ members: Set<NodeID>, _ counts: PathCounts, _ paths: RetainPaths) -> (
    edge: EdgeIndex?, isChain: Bool
  ) {
    var current = node
    var edge: EdgeIndex?
    while true {
      let parent = paths.parents[current]
      if parent == HeapGraph.noNode { return (edge, false) }
      edge = paths.parentEdges[current]
      if members.contains(parent), !isLink(paths.parentEdges[current]) { return (edge, true) }
      if graph.isRoot(parent) { return (edge, false) }
      if counts.divides(parent, to: current), !members.contains(parent), !isOneOfMany(parent, counts, paths) {
        return (edge, false)
      }
      current = parent
    }
  }

  private static let links = RuleBook.shipped.table(.link, by: .field)

  /// Returns whether a reference leads from one element of a library's list to the next.
  private func isLink(_ edge: EdgeIndex) -> Bool {
    graph.label(graph.graph.label(of: edge)).map { Self.links.matches($0.name) } ?? false
  }

  /// Returns whether a collection is one of many in a larger collection, as in `[Room: [Message]]`. Then each of them
  /// is an element, and the larger collection grows.
  private func isOneOfMany(_ node: NodeID, _ counts: PathCounts, _ paths: RetainPaths) -> Bool {
    guard !graph.isRoot(node), graph.type(of: node).kind.isCollection else { return false }
    let parent = paths.parents[node]
    guard parent != HeapGraph.noNode, !graph.isRoot(parent), graph.type(of: parent).kind.isCollection else {
      return false
    }
    return counts.divides(parent, to: node)
  }
}
