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

  private func key(of site: AllocationSite) -> FamilyKey {
    var stack = site.stack
    func next() -> UInt64 {
      defer { stack = stacks.parent(of: stack) }
      return stacks.frame(of: stack)?.key.encoded ?? 0
    }
    return FamilyKey(type: site.type, operation: site.operation.rawValue, frames: (next(), next(), next()))
  }

  private func families() -> [Family] {
    var numbers: [FamilyKey: Int] = [:]
    var families: [Family] = []
    var familyOfSite = [Int32](repeating: -1, count: sites.count)
    for (index, site) in sites.enumerated() where site.lifetime.births > 0 {
      let key = key(of: site)
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
      guard isCandidate(node), !unreachable.contains(node) else { continue }
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

  private func block(_ node: NodeID) -> LiveBlock { graph.heap[BlockID(node)] }
  private func ordinal(_ node: NodeID) -> UInt64 { block(node).ordinal }

  // MARK: Verdicts

  private struct Suspicion {
    var verdict: Verdict
    var family: Family
    var homeDistance: UInt32?
    /// Whether it holds only for objects that something has registered each by itself.
    var needsRegistration = false
    /// Whether siblings that hold each other speak against it: trees and lists are made of such.
    var excludesChains = false
  }

  private func suspicion(_ family: Family, workEnd: UInt64) -> Suspicion? {
    let lifetime = family.lifetime
    guard lifetime.births > 1, let first = family.survivors.first else { return nil }
    if lifetime.deaths >= Self.leastEnded, lifetime.deaths * 8 >= lifetime.births {
      return outlived(family) ? Suspicion(verdict: .outlived, family: family, homeDistance: lifetime.departures.distance(of: 0.9)) : nil
    }
    guard lifetime.deaths * 8 < lifetime.births || lifetime.deaths < Self.leastEnded else { return nil }
    guard growsSteadily(family, workEnd: workEnd) else { return nil }
    let origin = origin(block(first).site)
    let count = family.survivors.count
    if count < Self.leastRegistered { return nil }
    if origin.isCalledBack, count >= Self.leastCalledBack { return Suspicion(verdict: .accumulating, family: family, excludesChains: true) }
    if !origin.isCalledBack, count >= Self.leastLooped, isUnused(family) { return Suspicion(verdict: .accumulating, family: family, excludesChains: true) }
    return Suspicion(verdict: .outlived, family: family, needsRegistration: true)
  }

  /// Whether enough survivors are older than siblings get, younger ones having ended, and they did not just come about at the start.
  private func outlived(_ family: Family) -> Bool {
    let lifetime = family.lifetime
    guard let typical = lifetime.durations.bound(of: 0.9), typical < .max, lifetime.lastOrdinal > lifetime.firstOrdinal else { return false }
    let distance = lifetime.departures.distance(of: 0.9) ?? 0
    // Age counts up to the last birth: when no more are made, nobody takes the place of the last one.
    var proven: [NodeID] = []
    for (index, node) in family.survivors.enumerated() {
      let block = block(node)
      guard lifetime.lastBirth > block.birthTime, lifetime.lastBirth - block.birthTime > typical &* 2 else { continue }
      let younger = Double(lifetime.births) * Double(lifetime.lastOrdinal - min(lifetime.lastOrdinal, block.ordinal)) / Double(lifetime.lastOrdinal - lifetime.firstOrdinal)
      guard younger - Double(family.survivors.count - index - 1) >= 2 else { continue }
      proven.append(node)
    }
    proven = proven.filter { !isInFlight($0, distance: distance, typical: typical, among: proven) }
    guard proven.count >= Self.leastOutlived else { return false }
    // Survivors of a cache that fills up are the first of their kind.
    let range = Double(lifetime.lastOrdinal - lifetime.firstOrdinal)
    let births = (Double(lifetime.ordinalSum) / Double(lifetime.births) - Double(lifetime.firstOrdinal)) / range
    let survivors = proven.reduce(0.0) { $0 + Double(ordinal($1) - lifetime.firstOrdinal) / range } / Double(proven.count)
    return survivors >= 0.5 * births
  }

  /// The scope in which its siblings end is still running, and is a scope of its own: not a loop around them all.
  private func isInFlight(_ node: NodeID, distance: UInt32, typical: UInt64, among others: [NodeID]) -> Bool {
    let block = block(node)
    let depth = Int(sites[Int(block.site.rawValue)].depth)
    let shared = activations.sharedDepth(block.strand, since: block.ordinal)
    guard depth - shared <= Int(distance), shared > 0 else { return false }
    guard let began = activations.beginning(of: block.strand, frame: depth - Int(distance) - 1) else { return false }
    let within = others.filter { self.block($0).strand == block.strand && ordinal($0) >= began }
    let oldest = within.map { self.block($0).birthTime }.min() ?? block.birthTime
    let youngest = within.map { self.block($0).birthTime }.max() ?? block.birthTime
    return youngest - oldest <= typical
  }

  /// Births are spread over the program's work from the first of them on.
  private func growsSteadily(_ family: Family, workEnd: UInt64) -> Bool {
    let lifetime = family.lifetime
    let ordinals = family.survivors.map(ordinal)
    guard let first = ordinals.first, let last = ordinals.last, last > first, workEnd > first else { return false }
    if Double(last - first) < 0.4 * Double(workEnd - first) { return false }
    if Double(ordinals.count) < 0.8 * Double(lifetime.births - lifetime.deaths) { return false }
    // No quarter of that time without its share.
    var quarters = [0, 0, 0, 0]
    for ordinal in ordinals { quarters[min(3, Int(4 * (ordinal - first) / (last - first + 1)))] += 1 }
    let least = ordinals.count >= 16 ? Double(ordinals.count) * 0.08 : 0
    return quarters.filter { Double($0) > least }.count >= (ordinals.count >= 8 ? 4 : 3)
  }

  /// Hardly any of them was touched once its successors had come.
  private func isUnused(_ family: Family) -> Bool {
    let blocks = family.survivors.map(block)
    guard let last = blocks.last, let first = blocks.first else { return false }
    let interval = (last.birthTime - first.birthTime) / UInt64(max(1, blocks.count - 1))
    let grace = interval &* 8 / LiveBlock.useUnit + 2
    let used = blocks.filter { UInt64($0.lastUse) > $0.birthTime / LiveBlock.useUnit + grace }
    return used.count * 5 <= blocks.count
  }

  // MARK: Groups

  /// All groups, those with the most retained bytes first. `registration` says which object of a path, whose survivor's own part begins
  /// after an index, is a registration (a timer, an observer, a task) of what it holds. O(graph) once there is a suspicion; else linear in the blocks and sites.
  func groups(registration: ([LeakGroup.Step], Int) -> Int?) -> [OutlivingGroup] {
    let workEnd = sites.reduce(UInt64(0)) { max($0, $1.lifetime.lastOrdinal) }
    var suspicions: [Suspicion] = []
    for family in families() {
      guard let first = family.survivors.first, let suspicion = suspicion(family, workEnd: workEnd) else { continue }
      guard isProgramObject(first) || origin(block(first).site).isProgram else { continue }
      suspicions.append(suspicion)
    }
    guard !suspicions.isEmpty else { return [] }
    // Objects first: closures and tasks are told of where no object is.
    suspicions.sort { isProgramObject($0.family.survivors[0]) && !isProgramObject($1.family.survivors[0]) }
    let roots = graph.rootNodes
    let rootCosts = roots.map { LeakAnalysis.rootCost(graph.root($0).kind) }
    let paths = RetainPaths(graph.graph, roots: roots, rootCosts: rootCosts, kinds: ObjectGraph.owning, costs: LeakFinder.costs)
    let dominators = DominatorTree(graph.graph, roots: roots, kinds: ObjectGraph.owning)
    var sizes = [UInt64](repeating: 0, count: graph.graph.nodeCount)
    for (index, block) in graph.heap.blocks.enumerated() { sizes[index] = block.size }
    let retained = dominators.retainedSizes(sizes)
    let counts = dominators.retainedCounts()

    var familyOf: [NodeID: Int] = [:]
    for (index, suspicion) in suspicions.enumerated() { for node in suspicion.family.survivors { familyOf[node] = index } }
    var groups: [OutlivingGroup] = []
    var accepted: Set<Int> = []
    for (index, suspicion) in suspicions.enumerated() where groups.count < Self.limit {
      let found = held(suspicion, paths: paths, registration: registration)
      for var group in found {
        let members = Set(group.survivors)
        for node in group.survivors {
          if isDominated(node, by: { members.contains($0) }, dominators) { continue }
          group.retainedBytes &+= retained[node]
          group.retainedBlocks &+= counts[node]
        }
        groups.append(group)
        accepted.insert(index)
      }
    }
    // What hangs from survivors of another group is counted in them; what objects hang from is their holder.
    return groups.filter { group in
      let own = familyOf[group.sample]!
      let within = group.survivors.filter { node in
        isDominated(node, by: { other in familyOf[other].map { accepted.contains($0) && $0 != own && isProgramObject(other) } ?? false }, dominators)
      }
      if within.count * 2 > group.survivors.count { return false }
      if isProgramObject(group.sample) { return true }
      let members = Set(group.survivors)
      return !groups.contains { other in
        isProgramObject(other.sample) && other.survivors.contains { isDominated($0, by: { members.contains($0) }, dominators) }
      }
    }.sorted { ($0.retainedBytes, $0.survivors.count) > ($1.retainedBytes, $1.survivors.count) }
  }

  private func isDominated(_ node: NodeID, by isHolder: (NodeID) -> Bool, _ dominators: DominatorTree) -> Bool {
    var current = dominators.immediateDominator[node]
    for _ in 0..<256 where current < DominatorTree.superRoot {
      if Int(current) < graph.blockCount, isHolder(current) { return true }
      current = dominators.immediateDominator[current]
    }
    return false
  }

  /// The survivors of a family by what holds them.
  private func held(_ suspicion: Suspicion, paths: RetainPaths, registration: ([LeakGroup.Step], Int) -> Int?) -> [OutlivingGroup] {
    struct Key: Hashable {
      var holder: UInt64
      var label: UInt32
      var isChain: Bool
    }
    let survivors = suspicion.family.survivors.filter { paths.reaches($0) }
    let members = Set(survivors)
    let counts = pathCounts(survivors, paths)
    var order: [Key] = []
    var groups: [Key: [NodeID]] = [:]
    for node in survivors {
      let (edge, isChain) = suspectEdge(of: node, members, counts, paths)
      guard let edge else { continue }
      let holder = graph.graph.source(of: edge)
      let kind = graph.isRoot(holder) ? UInt64(1) << 40 | LeakAnalysis.rootKey(graph.root(holder).kind) : UInt64(graph.nodeTypes[Int(holder)])
      let label = graph.graph.label(of: edge)
      let key = Key(holder: kind, label: label < 1 << 31 ? label : 1 << 31, isChain: isChain)
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(node)
    }
    return order.compactMap { key in
      let nodes = groups[key]!
      if key.isChain, suspicion.excludesChains { return nil }
      let sample = nodes[nodes.count / 2]
      guard let path = paths.path(to: sample), let suspect = suspectEdge(of: sample, members, counts, paths).edge else { return nil }
      var steps: [LeakGroup.Step] = [.init(node: path.root, edge: nil)]
      for step in path.steps {
        steps[steps.count - 1].edge = step.edge
        steps.append(.init(node: step.node, edge: nil))
      }
      var place = steps.firstIndex { $0.edge == suspect } ?? 0
      if let found = registration(steps, place) {
        place = found
      } else if suspicion.needsRegistration {
        return nil
      }
      // A local variable of a function that still runs holds what it is meant to hold.
      if place == 0, case .stack = graph.root(path.root).kind { return nil }
      if suspicion.verdict == .accumulating, !isContainerOlder(steps, place, than: nodes) { return nil }
      if nodes.count < Self.leastRegistered { return nil }
      return OutlivingGroup(
        verdict: suspicion.verdict, survivors: nodes, sample: sample, path: steps, suspect: place, lifetime: suspicion.family.lifetime,
        homeDistance: suspicion.homeDistance, retainedBytes: 0, retainedBlocks: 0)
    }
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
