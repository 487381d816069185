// Which reachable objects should have been gone: what outlived its scope, and what accumulates. In numbers.

/// Objects of one allocation site, or of several that allocate alike, that outlived their scope and are held in one way.
struct OutlivingGroup {
  var verdict: Verdict
  /// The survivors, in order of birth.
  var survivors: [NodeID]
  /// The one that is shown.
  var sample: NodeID
  /// From the root's node to the sample; the first step is the root.
  var path: [LeakGroup.Step]
  /// Index in `path` of the object that holds what is each survivor's own: the edge that leaves it is the suspect.
  var suspect: Int
  var lifetime: SiteLifetime
  /// Frames that control leaves before nearly all siblings have ended; nil if they do not end.
  var homeDistance: UInt32?
  /// What would go with them.
  var retainedBytes: UInt64
  var retainedBlocks: UInt64
}

/// Judges reachable objects by what became of their siblings.
///
/// Two things count. Where siblings end: a survivor that is several times as old as they get, when control has left the scope in which they end, has
/// outlived it. And how their number grows: where nothing of a site ever ends, and it goes on being made for as long as the program works, it accumulates.
/// What is made once, what is made at the start, and what levels off, is neither.
struct OutlivingFinder {
  let graph: ObjectGraph
  let sites: [AllocationSite]
  let activations: Activations
  let stacks: StackTree
  /// Nodes that no root reaches, which have verdicts of their own.
  let unreachable: NodeSet
  /// Paths from the roots, and what hangs from what.
  let ownership: OwnershipTrees
  /// Who made a block: is there a function of the program's in its stack, and does something but the program's main function call it?
  let origin: (SiteID) -> AllocationOrigin

  /// Where the calls begin that lead to an allocation.
  struct AllocationOrigin {
    var isProgram: Bool
    /// A run loop, a queue, a task or a thread calls the program's outermost function, over and over.
    var isCalledBack: Bool
  }

  /// So many proven survivors make a finding where siblings end.
  private static let leastOutlived = 3
  /// And so many where each has a registration of its own.
  private static let leastRegistered = 3
  private static let leastCalledBack = 8
  private static let leastLooped = 24
  /// Siblings that have to have ended for their lifetimes to say something.
  private static let leastEnded: UInt64 = 4
  private static let limit = 200

  // MARK: Families

  /// Sites that allocate alike: the same type, from the same innermost frames.
  private struct Family {
    var lifetime = SiteLifetime()
    var survivors: [NodeID] = []
  }

  private struct FamilyKey: Hashable {
    var type: UInt32
    var operation: UInt8
    var frames: (UInt64, UInt64, UInt64)

    static func == (a: Self, b: Self) -> Bool { a.type == b.type && a.operation == b.operation && a.frames == b.frames }
    func hash(into hasher: inout Hasher) {
      hasher.combine(type)
      hasher.combine(operation)
      hasher.combine(frames.0)
      hasher.combine(frames.1)
      hasher.combine(frames.2)
    }
  }

  /// Of `depth` frames, at most three.
  private func key(of site: AllocationSite, depth: Int) -> FamilyKey {
    var stack = site.stack
    var left = depth
    func next() -> UInt64 {
      left -= 1
      if left < 0 { return 0 }
      defer { stack = stacks.parent(of: stack) }
      return stacks.frame(of: stack)?.key.encoded ?? 0
    }
    return FamilyKey(type: site.type, operation: site.operation.rawValue, frames: (next(), next(), next()))
  }

  /// Sites that agree in type and in so many innermost frames. `isTaken`: survivors that belong elsewhere.
  private func families(depth: Int, isTaken: (NodeID) -> Bool) -> [Family] {
    var numbers: [FamilyKey: Int] = [:]
    var families: [Family] = []
    var familyOfSite = [Int32](repeating: -1, count: sites.count)
    for (index, site) in sites.enumerated() where site.lifetime.births > 0 {
      let key = key(of: site, depth: depth)
      let number = numbers[key] ?? {
        numbers[key] = families.count
        families.append(Family())
        return families.count - 1
      }()
      families[number].lifetime += site.lifetime
      familyOfSite[index] = Int32(number)
    }
    for (index, block) in graph.heap.blocks.enumerated() {
      let node = NodeID(index)
      guard isCandidate(node), !unreachable.contains(node), !isTaken(node) else { continue }
      let family = familyOfSite[Int(block.site.rawValue)]
      if family >= 0 { families[Int(family)].survivors.append(node) }
    }
    return families.filter { $0.survivors.count > 0 }.map { family in
      var family = family
      family.survivors.sort { ordinal($0) < ordinal($1) }
      return family
    }
  }

  /// Objects of the program's classes, closures and tasks: what a person can be told of. The rest hangs from these.
  private func isCandidate(_ node: NodeID) -> Bool {
    if graph.deinitialised.contains(node) { return false }
    switch graph.type(of: node).kind {
    case .object, .closure, .box, .task: return true
    default: return false
    }
  }

  private func isProgramObject(_ node: NodeID) -> Bool {
    let type = graph.type(of: node)
    return type.kind == .object && !SystemCode.isSystemModule(type.module) && !type.module.isEmpty
  }

  /// An object of the program's classes; or a closure or task of the program's making, which a person can be told of where there is no object.
  private func isTold(_ node: NodeID) -> Bool { isProgramObject(node) || graph.type(of: node).kind != .object && origin(block(node).site).isProgram }

  private func block(_ node: NodeID) -> LiveBlock { graph.heap[BlockID(node)] }
  private func ordinal(_ node: NodeID) -> UInt64 { block(node).ordinal }

  // MARK: Verdicts

  private struct Suspicion {
    var verdict: Verdict
    var family: Family
    var homeDistance: UInt32?
    /// Whether it holds only for objects that something has registered each by itself.
    var needsRegistration = false
    /// Whether it holds only for objects that a sibling holds.
    var needsChain = false
    /// The program said so: whoever holds it is told.
    var isStated = false
    /// Survivors that it needs to be held in the same way.
    var least: Int
    /// All of the type that the same innermost frame made, whoever called: those that are held likewise belong to it.
    var kin: Family?
  }

  private func suspicion(_ family: Family) -> Suspicion? {
    let lifetime = family.lifetime
    guard lifetime.births > 1, let first = family.survivors.first else { return nil }
    if lifetime.deaths >= Self.leastEnded, lifetime.deaths * 8 >= lifetime.births { return outlived(family) }
    let count = family.survivors.count
    guard count >= Self.leastRegistered, spread(of: family) >= 0.1 else { return nil }
    let registered = Suspicion(verdict: .outlived, family: family, needsRegistration: true, least: Self.leastRegistered)
    guard growsSteadily(family) else { return registered }
    if isCalledBack(family, first) {
      return count >= Self.leastCalledBack ? Suspicion(verdict: .accumulating, family: family, least: Self.leastCalledBack) : registered
    }
    guard count >= Self.leastLooped, spread(of: family) >= 0.7, isUnused(family) else { return registered }
    return Suspicion(verdict: .accumulating, family: family, least: Self.leastLooped)
  }

  /// Made in many tasks or threads, or by what a run loop or a queue calls.
  private func isCalledBack(_ family: Family, _ first: NodeID) -> Bool {
    var strands: Set<StrandID> = []
    for node in family.survivors {
      strands.insert(block(node).strand)
      if strands.count >= 4 { return true }
    }
    return origin(block(first).site).isCalledBack
  }

  /// Where siblings end: whether enough survivors are proven to have outlived them, and they did not just come about at the start.
  private func outlived(_ family: Family) -> Suspicion? {
    let lifetime = family.lifetime
    guard let typical = lifetime.durations.bound(of: 0.9), lifetime.lastOrdinal > lifetime.firstOrdinal, let first = family.survivors.first else { return nil }
    let distance = lifetime.departures.distance(of: 0.9) ?? 0
    let lastMoment = max(lifetime.lastBirth, lifetime.lastDeath)
    let range = Double(lifetime.lastOrdinal - lifetime.firstOrdinal)
    // A scope that is left and entered again between one sibling and the next: not a loop that makes them all.
    let isTight = lifetime.gaps.share(within: distance) <= 0.5
    var proven: [NodeID] = []
    var left: [NodeID] = []
    for (index, node) in family.survivors.enumerated() {
      let block = block(node)
      if isInFlight(block, distance: distance, typical: typical, family) { continue }
      let hasLeft = departure(of: block) > distance
      if hasLeft { left.append(node) }
      // Younger ones have ended: nobody waits in a queue, or stands in for the last.
      let younger = Double(lifetime.births) * Double(lifetime.lastOrdinal - min(lifetime.lastOrdinal, block.ordinal)) / range
      guard younger - Double(family.survivors.count - index - 1) >= 2 else { continue }
      // Age counts up to the last that happened to a sibling: when no more are made, nobody takes the place of the last one.
      let isOld = typical < .max && lastMoment > block.birthTime && (lastMoment - block.birthTime) / 2 > typical
      if isOld || isTight && hasLeft { proven.append(node) }
    }
    if proven.count < Self.leastOutlived {
      // One screen that the next one holds: where all siblings end in a scope, and there are but a few others.
      guard lifetime.deaths >= 8, !left.isEmpty, left.count <= 3, lifetime.departures.share(within: distance) >= 0.95 else { return nil }
      var family = family
      family.survivors = left
      return Suspicion(verdict: .outlived, family: family, homeDistance: distance, needsChain: true, least: 1)
    }
    // Survivors of a cache that fills up are the first of their kind.
    let births = (Double(lifetime.ordinalSum) / Double(lifetime.births) - Double(lifetime.firstOrdinal)) / range
    let survivors = proven.reduce(0.0) { $0 + Double(ordinal($1) - lifetime.firstOrdinal) / range } / Double(proven.count)
    guard survivors >= 0.5 * births else { return nil }
    // What a loop keeps of many may be what it was looking for, if something is done with it.
    if !isCalledBack(family, first), !isUnused(family) {
      return Suspicion(verdict: .outlived, family: family, homeDistance: distance, needsRegistration: true, least: Self.leastRegistered)
    }
    return Suspicion(verdict: .outlived, family: family, homeDistance: distance, least: Self.leastOutlived)
  }

  /// Activations of those in which it was made that control has left since.
  private func departure(of block: LiveBlock) -> UInt32 {
    let depth = Int(sites[Int(block.site.rawValue)].depth)
    return UInt32(max(0, depth - activations.sharedDepth(block.strand, since: block.ordinal)))
  }

  /// The scope in which its siblings end is still running, and is a scope of its own: not a loop around them all.
  private func isInFlight(_ block: LiveBlock, distance: UInt32, typical: UInt64, _ family: Family) -> Bool {
    let depth = Int(sites[Int(block.site.rawValue)].depth)
    let shared = activations.sharedDepth(block.strand, since: block.ordinal)
    guard depth - shared <= Int(distance), shared > 0 else { return false }
    guard let began = activations.beginning(of: block.strand, frame: depth - Int(distance) - 1) else { return false }
    var oldest = block.birthTime
    var youngest = block.birthTime
    for node in family.survivors {
      let other = self.block(node)
      guard other.strand == block.strand, other.ordinal >= began else { continue }
      oldest = min(oldest, other.birthTime)
      youngest = max(youngest, other.birthTime)
    }
    return youngest - oldest <= typical
  }

  /// What part of the program's work since the first of them the births take up.
  private func spread(of family: Family) -> Double {
    guard let first = family.survivors.first.map(ordinal), let last = family.survivors.last.map(ordinal), activations.ordinal > first else { return 0 }
    return Double(last - first) / Double(activations.ordinal - first)
  }

  /// Births go on for much of the work from the first of them on, without long gaps.
  private func growsSteadily(_ family: Family) -> Bool {
    let ordinals = family.survivors.map(ordinal)
    guard let first = ordinals.first, let last = ordinals.last, last > first, spread(of: family) >= 0.4 else { return false }
    var quarters = [0, 0, 0, 0]
    for ordinal in ordinals { quarters[min(3, Int(4 * (ordinal - first) / (last - first + 1)))] += 1 }
    let least = ordinals.count >= 16 ? Double(ordinals.count) * 0.08 : 0
    return quarters.filter { Double($0) > least }.count >= (ordinals.count >= 8 ? 4 : 3)
  }

  /// Hardly any of them was touched once nothing happened to any of their kind any more: what a program collects, it goes through.
  private func isUnused(_ family: Family) -> Bool {
    let end = max(family.lifetime.lastOrdinal, family.lifetime.lastDeathOrdinal) / LiveBlock.useUnit + 1
    let used = family.survivors.count { UInt64(block($0).lastUse) > end }
    return used * 5 <= family.survivors.count
  }

  // MARK: Groups

  /// Which step of a path is a registration of what comes after it, given the last step that leads to many survivors.
  typealias RegistrationSearch = (_ steps: [LeakGroup.Step], _ shared: Int) -> (index: Int, kind: Finding.Registration)?

  /// All groups, those with the most retained bytes first. `registration` recognises timers, observers, tasks and the like. O(graph) once there is a suspicion; else linear in the blocks and sites.
  func groups(registration: RegistrationSearch) -> [OutlivingGroup] {
    var suspicions: [Suspicion] = []
    let taken = NodeSet(bound: graph.graph.nodeCount)
    // A loop may have been unrolled, or one class be made in many places: what says nothing of a place may say something of all.
    for depth in [3, 2, 1] {
      for family in families(depth: depth, isTaken: { taken.contains($0) }) {
        guard let first = family.survivors.first, depth == 3 || isProgramObject(first), let suspicion = suspicion(family) else { continue }
        guard isTold(first) else { continue }
        suspicions.append(suspicion)
        for node in suspicion.family.survivors { taken.insert(node) }
      }
    }
    guard !suspicions.isEmpty else { return [] }
    let kin = Dictionary(
      families(depth: 1) { taken.contains($0) }.compactMap { family in family.survivors.first.map { (key(of: site(of: $0), depth: 1), family) } },
      uniquingKeysWith: { first, _ in first })
    for index in suspicions.indices where isProgramObject(suspicions[index].family.survivors[0]) {
      suspicions[index].kin = kin[key(of: site(of: suspicions[index].family.survivors[0]), depth: 1)]
    }
    return groups(suspicions, registration)
  }

  private func site(of node: NodeID) -> AllocationSite { sites[Int(block(node).site.rawValue)] }

  /// Groups of objects that the program itself says should be gone: those of them that hang from others of them are left out.
  func groups(of nodes: [NodeID], registration: RegistrationSearch) -> [OutlivingGroup] {
    let wanted = Set(nodes)
    let families = families(depth: 1) { !wanted.contains($0) }
    return groups(
      families.compactMap { family in
        family.survivors.first.map(isTold) == true ? Suspicion(verdict: .outlived, family: family, isStated: true, least: 1) : nil
      }, registration)
  }

  private func groups(_ unsorted: [Suspicion], _ registration: RegistrationSearch) -> [OutlivingGroup] {
    guard !unsorted.isEmpty else { return [] }
    // Objects first: closures and tasks are told of where no object is.
    let suspicions = unsorted.sorted { isProgramObject($0.family.survivors[0]) && !isProgramObject($1.family.survivors[0]) }
    let ownership = ownership
    var familyOf: [NodeID: Int] = [:]
    for (index, suspicion) in suspicions.enumerated() { for node in suspicion.family.survivors { familyOf[node] = index } }
    var groups: [OutlivingGroup] = []
    var accepted: Set<Int> = []
    for (index, suspicion) in suspicions.enumerated() where groups.count < Self.limit {
      for var group in held(suspicion, paths: ownership.paths, registration: registration) {
        let members = Set(group.survivors)
        for node in group.survivors {
          if isDominated(node, by: { members.contains($0) }, ownership.dominators) { continue }
          group.retainedBytes &+= ownership.retainedSizes[node]
          group.retainedBlocks &+= ownership.retainedCounts[node]
        }
        groups.append(group)
        accepted.insert(index)
      }
    }
    // What hangs from survivors of another group is counted in them; what objects hang from is their holder.
    return groups.filter { group in
      let own = familyOf[group.sample]!
      let within = group.survivors.filter { node in
        isDominated(
          node, by: { other in familyOf[other].map { accepted.contains($0) && $0 != own && isProgramObject(other) } ?? false }, ownership.dominators)
      }
      if within.count * 2 > group.survivors.count { return false }
      if isProgramObject(group.sample) { return true }
      let members = Set(group.survivors)
      return !groups.contains { other in
        isProgramObject(other.sample) && other.survivors.contains { isDominated($0, by: { members.contains($0) }, ownership.dominators) }
      }
    }.map { straightened($0, among: groups, registration) }
      .sorted { ($0.retainedBytes, $0.survivors.count) > ($1.retainedBytes, $1.survivors.count) }
  }

  /// The same with a path that does not lead through other groups' objects, if there is one: what holds two causes is shown for each by itself.
  private func straightened(_ group: OutlivingGroup, among groups: [OutlivingGroup], _ registration: RegistrationSearch) -> OutlivingGroup {
    guard groups.count <= 16 else { return group }
    let others = groups.filter { $0.sample != group.sample }.flatMap(\.survivors)
    guard group.path.contains(where: { step in others.contains(step.node) }) else { return group }
    let subset = graph.graph.allNodes
    for node in others { subset.remove(node) }
    let paths = ownership.paths(within: subset)
    let members = Set(group.survivors)
    guard paths.reaches(group.sample),
      let holding = holding(group.sample, members, pathCounts(group.survivors.filter { paths.reaches($0) }, paths), paths, registration),
      holding.isRegistered || isKnownHolder(holding.steps, holding.suspect)
    else { return group }
    var group = group
    (group.path, group.suspect) = (holding.steps, holding.suspect)
    return group
  }

  private func isDominated(_ node: NodeID, by isHolder: (NodeID) -> Bool, _ dominators: DominatorTree) -> Bool {
    var current = dominators.immediateDominator[node]
    for _ in 0..<256 where current < DominatorTree.superRoot {
      if Int(current) < graph.blockCount, isHolder(current) { return true }
      current = dominators.immediateDominator[current]
    }
    return false
  }

  /// What groups the survivors of a family.
  private enum HolderKey: Hashable {
    /// A type of root or node, and the reference it holds by.
    case reference(holder: UInt64, label: UInt32, isChain: Bool)
    case registration(Finding.Registration)
  }

  /// The way to one survivor.
  private struct Holding {
    var key: HolderKey
    var steps: [LeakGroup.Step]
    var suspect: Int
    var isRegistered: Bool
  }

  /// So many survivors are looked at one by one; the others are taken to be held as the last of them that is held by the same root is.
  private static let detailLimit = 4000

  /// The survivors of a family by what holds them.
  private func held(_ suspicion: Suspicion, paths: RetainPaths, registration: RegistrationSearch) -> [OutlivingGroup] {
    let survivors = suspicion.family.survivors.filter { paths.reaches($0) }
    let kin = (suspicion.kin?.survivors ?? []).filter { paths.reaches($0) }
    let members = Set(survivors).union(kin)
    let counts = pathCounts(survivors + kin, paths)
    var order: [HolderKey] = []
    var groups: [HolderKey: [NodeID]] = [:]
    for (index, node) in survivors.enumerated() {
      let key: HolderKey
      if index < Self.detailLimit || order.isEmpty {
        guard let holding = holding(node, members, counts, paths, registration) else { continue }
        key = holding.key
      } else {
        key = order[0]
      }
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(node)
    }
    for node in kin.prefix(Self.detailLimit) {
      if let holding = holding(node, members, counts, paths, registration), groups[holding.key] != nil { groups[holding.key]!.append(node) }
    }
    for key in order { groups[key]!.sort { ordinal($0) < ordinal($1) } }
    // A few that a left-over word seems to hold besides are like the others.
    if let main = order.max(by: { groups[$0]!.count < groups[$1]!.count }), groups[main]!.count >= suspicion.least {
      for key in order where key != main && groups[key]!.count < suspicion.least && groups[key]!.count * 4 <= groups[main]!.count {
        groups[main]! += groups.removeValue(forKey: key)!
      }
      order.removeAll { groups[$0] == nil }
    }
    return order.compactMap { key in
      let nodes = groups[key]!
      let sample = nodes[min(nodes.count, Self.detailLimit) / 2]
      guard nodes.count >= suspicion.least, let holding = holding(sample, members, counts, paths, registration) else { return nil }
      // Trees and lists are made of siblings that hold each other.
      if case .reference(_, _, let isChain) = key, !suspicion.isStated, isChain != suspicion.needsChain { return nil }
      if suspicion.needsRegistration, !holding.isRegistered { return nil }
      let (steps, place) = (holding.steps, holding.suspect)
      if case .reference = key, !suspicion.isStated, !isKnownHolder(steps, place) { return nil }
      if suspicion.verdict == .accumulating, !holding.isRegistered, !isContainerOlder(steps, place, than: nodes) { return nil }
      return OutlivingGroup(
        verdict: holding.isRegistered ? .outlived : suspicion.verdict, survivors: nodes, sample: sample, path: steps, suspect: place,
        lifetime: Double(nodes.count) > Double(suspicion.family.lifetime.births) ? suspicion.kin?.lifetime ?? suspicion.family.lifetime : suspicion.family.lifetime,
        homeDistance: suspicion.homeDistance, retainedBytes: 0, retainedBlocks: 0)
    }
  }

  private func holding(
    _ node: NodeID, _ members: Set<NodeID>, _ counts: [NodeID: Int], _ paths: RetainPaths, _ registration: RegistrationSearch
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
      return Holding(key: .registration(kind), steps: steps, suspect: index, isRegistered: true)
    }
    let holder = steps[place].node
    // What holds many is told apart by itself, what holds one or two by its type.
    let kind =
      graph.isRoot(holder)
      ? UInt64(1) << 40 | LeakAnalysis.rootKey(graph.root(holder).kind)
      : (counts[holder] ?? 0) >= 3 && !isChain ? UInt64(2) << 40 | UInt64(holder) : UInt64(graph.nodeTypes[Int(holder)])
    let label = graph.graph.label(of: edge)
    return Holding(
      key: .reference(holder: kind, label: label < 1 << 31 ? label : 1 << 31, isChain: isChain), steps: steps, suspect: place, isRegistered: false)
  }

  /// Whether what holds is something that a person knows by name: an object, or a variable of the program. A local variable of a function that still runs
  /// holds what it is meant to hold; and what seems held by a library's own memory may be left-over words.
  private func isKnownHolder(_ steps: [LeakGroup.Step], _ suspect: Int) -> Bool {
    if steps[..<(suspect + 1)].contains(where: { !graph.isRoot($0.node) && isProgramObject($0.node) }) { return true }
    guard case .global(let image) = graph.root(steps[0].node).kind else { return false }
    return !SystemCode.isSystemImage(graph.roots.images[image].path)
  }

  /// Objects that were put together into something made later were collected on purpose; what grows had its holder before.
  private func isContainerOlder(_ steps: [LeakGroup.Step], _ suspect: Int, than survivors: [NodeID]) -> Bool {
    guard let first = survivors.first else { return false }
    return steps[..<(suspect + 1)].allSatisfy { step in
      guard !graph.isRoot(step.node), isProgramObject(step.node) else { return true }
      return ordinal(step.node) <= ordinal(first)
    }
  }

  /// For each node on the paths to survivors, how many of them it leads to.
  private func pathCounts(_ survivors: [NodeID], _ paths: RetainPaths) -> [NodeID: Int] {
    var counts: [NodeID: Int] = [:]
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
    // A parent's path is cheaper than a child's, so that children come first this way round.
    for node in survivors { counts[node]! += 1 }
    for node in order.sorted(by: { paths.costs[$0] > paths.costs[$1] }) {
      let parent = paths.parents[node]
      if parent != HeapGraph.noNode { counts[parent]! += counts[node]! }
    }
    return counts
  }

  /// The edge at which a survivor's own part of its path begins: from what leads to many of them. Or, where a sibling leads to it, the edge
  /// that leaves the sibling.
  private func suspectEdge(of node: NodeID, _ members: Set<NodeID>, _ counts: [NodeID: Int], _ paths: RetainPaths) -> (edge: EdgeIndex?, isChain: Bool) {
    var current = node
    var edge: EdgeIndex?
    while true {
      let parent = paths.parents[current]
      if parent == HeapGraph.noNode { return (edge, false) }
      edge = paths.parentEdges[current]
      if members.contains(parent) { return (edge, true) }
      if graph.isRoot(parent) { return (edge, false) }
      let count = counts[parent] ?? 0
      if count >= 3, count >= 2 * (counts[current] ?? 1) { return (edge, false) }
      current = parent
    }
  }
}

/// What holds what in a graph, worked out when it is first asked for. For one thread at a time.
final class OwnershipTrees {
  private let graph: ObjectGraph
  init(_ graph: ObjectGraph) { self.graph = graph }

  /// The cheapest paths from the roots.
  private(set) lazy var paths = paths(within: nil)

  func paths(within subset: NodeSet?) -> RetainPaths {
    RetainPaths(
      graph.graph, roots: graph.rootNodes, rootCosts: graph.rootNodes.map { LeakAnalysis.rootCost(graph.root($0).kind) }, kinds: ObjectGraph.owning,
      costs: LeakFinder.costs, within: subset)
  }

  private(set) lazy var dominators = DominatorTree(graph.graph, roots: graph.rootNodes, kinds: ObjectGraph.owning)
  private(set) lazy var retainedSizes: NodeTable<UInt64> = {
    var sizes = [UInt64](repeating: 0, count: graph.graph.nodeCount)
    for (index, block) in graph.heap.blocks.enumerated() { sizes[index] = block.size }
    return dominators.retainedSizes(sizes)
  }()
  private(set) lazy var retainedCounts = dominators.retainedCounts()
}
