// Finds reachable objects that should have been gone: objects that outlived their scope, and objects that accumulate.
// The results have no names yet.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Objects that outlived their scope and are held in one way. They come from one allocation site, or from several sites
/// with the same type and innermost frames.
struct SurvivorGroup {
  var verdict: Verdict
  /// The indices of the suspicions that the group comes from; several if they have one cause. The survivors belong to
  /// the families of these suspicions, or to their kin that no other suspicion covers.
  var suspicions: Set<Int> = []
  /// The candidates of the log that the group comes from; several if they have one cause.
  var candidates: [Int] = []
  /// The survivors, in order of birth.
  var survivors: [NodeID]
  /// The survivor that is shown.
  var sample: NodeID
  /// The path from the root's node to the sample. The first step is the root.
  var path: [LeakGroup.Step]
  /// Index in `path` of the object that holds each survivor's own part of the path. The edge from this object is the
  /// suspect.
  var suspect: Int
  var lifetime: SiteLifetime
  /// The sites of the siblings, as indices.
  var sites: [UInt32]
  /// The number of frames that control leaves before nearly all siblings have ended; nil if siblings do not end.
  var homeDistance: UInt32?
  var evidence: SurvivorFinder.Evidence
  /// The registrations of the survivors, such as timers or tasks, if each survivor has its own.
  var registrations: Set<NodeID> = []
  /// True if no other code can end these registrations.
  var isBeyondReach = false
  /// The program's function that released most of the survivors, if that is the evidence.
  var letGo: SourceFrame?
  /// True if the program cancelled the survivors' own tasks, which wait nevertheless.
  var isCancelled = false
  /// The memory that would be freed with the survivors.
  var retainedBytes: UInt64
  var retainedBlocks: UInt64
}

/// Judges reachable objects by the lives of their siblings.
///
/// Two facts count. The first is where siblings end. A survivor outlives its scope if it is several times as old as
/// siblings get, and control has left the scope where they usually end. The second is how the number of siblings grows.
/// Objects of a site accumulate if none ever ends, and the program makes more for as long as it works. Objects that are
/// made once or at the start do neither. The same is true if the number of objects levels off.
struct SurvivorFinder {
  let rules: SurvivorRules
  let graph: ObjectGraph
  let sites: AllocationSites
  let activations: Activations
  let stacks: StackTree
  /// Nodes that no root reaches. They have verdicts of their own.
  let unreachable: NodeSet
  /// Paths from the roots, and the nodes that each node dominates.
  let ownership: OwnershipTrees
  /// The start of the recording, in ticks.
  let startTime: UInt64
  /// Whether the lives of objects are known from the start of the recording.
  let hasHistory: Bool
  /// Returns whether a block's birth is not known: the block is older than the recording, or was not sampled. Nil if
  /// all births are known.
  let isListed: ((LiveBlock) -> Bool)?
  /// Whether several threads did the work.
  let isConcurrent: Bool
  /// Returns the origin of a site's blocks: whether a function of the program is on the stack, and whether anything
  /// except the program's main function calls it.
  let origin: (SiteID) -> AllocationOrigin

  /// Returns whether the program's code is optimised. Then loops need not retain the elements that they read.
  let isOptimised: () -> Bool
  /// Returns the program's function, file and line that make the objects of a site; nil if they are not known.
  let line: (SiteID) -> String?

  /// Returns whether a node calls the program back, or is the memory of a group that keeps a result. The second node is
  /// the next one on the path.
  let isRegistration: (NodeID, NodeID) -> Bool
  /// The library objects that keep observers, and their collections of observers.
  let observerCenters: () -> Set<NodeID>
  /// Finds the work that is under way in sleeping tasks.
  let waiting: WaitingTasks
  let connections: OpenConnections
  /// Finds the places that released objects. Nil if the events are not at hand.
  let lettingGo: LettingGo?
  /// Finds the uses of single objects. Nil if the events are not at hand.
  let objectUses: ObjectUses?
  /// Finds the moments when owners let objects go. Nil if the events are not at hand.
  let partings: FamilyPartings?
  /// Collects the effects of the rules. Nil unless a report explains them.
  let log: SuspicionLog?

  /// The outer calls of an allocation.
  struct AllocationOrigin {
    var isProgram: Bool
    /// True if a run loop, a queue, a task or a thread calls the program's outermost function, over and over.
    var isCalledBack: Bool
    /// True if a function of the program other than its main function made the object, and no decoder is on the stack.
    /// Such a call is a unit of work that may come again.
    var hasUnit: Bool
  }

  /// Maximum number of groups.
  static let limit = 200

  // MARK: Groups

  /// Returns the step of a path that is a registration of the steps after it. `shared`: the last step that leads to
  /// many survivors.
  typealias RegistrationSearch = (_ steps: [LeakGroup.Step], _ shared: Int) -> (index: Int, kind: Finding.Registration)?

  /// Returns all groups, most retained bytes first. `registration` recognises timers, observers, tasks and the like.
  /// O(graph) once there is a suspicion; else linear in the blocks and sites.
  func groups(registration: RegistrationSearch) -> [SurvivorGroup] {
    var suspicions: [Suspicion] = []
    var weak: [Suspicion] = []
    let taken = NodeSet(bound: graph.graph.nodeCount)
    let lifetimes = TypeLifetimes(sites)
    /// By first survivor: the families with a weak suspicion. A larger family has all survivors of a smaller one.
    var knownWeak: [NodeID: (survivors: Int, births: UInt64)] = [:]
    func isWeak(_ family: Family, _ first: NodeID) -> Bool {
      knownWeak[first].map { $0 == (family.survivors.count, family.lifetime.births) } ?? false
    }
    func judge(_ families: [Family], ofProgram: Bool, by judgement: (Family) -> Suspicion?) {
      if let objectUses {
        for family in families where mayBeLoopedOver(family) || mayBeUsedSingly(family) {
          objectUses.mayBeAsked(about: family.survivors)
        }
      }
      for family in families {
        guard let first = family.survivors.first, !ofProgram || isProgramObject(first), !isWeak(family, first),
          var suspicion = judgement(family)
        else { continue }
        guard holds(.named, isNameable(first)) else { continue }
        log?.end(isSuspected: true)
        suspicion.candidate = log?.current
        guard suspicion.evidence.isStrong || suspicion.needsLettingGo else {
          weak.append(suspicion)
          knownWeak[first] = (family.survivors.count, family.lifetime.births)
          continue
        }
        suspicions.append(suspicion)
        // Another suspicion may be about the same objects.
        if suspicion.needsLettingGo { continue }
        for node in suspicion.family.survivors { taken.insert(node) }
      }
    }
    // One stack may have too few siblings to judge, while one function has enough.
    for depth in hasHistory ? [3, 2, 1] : [] {
      judge(families(depth: depth) { taken.contains($0) }, ofProgram: depth < 3) { suspicion($0, lifetimes) }
    }
    // A weak suspicion counts if no larger family has a strong one. If several do, the smallest family's counts.
    for suspicion in weak where !suspicion.family.survivors.contains(where: { taken.contains($0) }) {
      suspicions.append(suspicion)
      for node in suspicion.family.survivors { taken.insert(node) }
    }
    // If one line makes objects for several callers, their lives say little about one another. Judge these only by
    // their releases.
    if hasHistory { judge(familiesOfLines { taken.contains($0) }, ofProgram: true, by: letGo) }
    suspicions += unseenRegistrations { taken.contains($0) }
    guard !suspicions.isEmpty else { return [] }
    let kin = Dictionary(
      families(depth: 0) { taken.contains($0) }.compactMap { family in
        family.survivors.first.map { (key(of: site(of: $0), depth: 0), family) }
      },
      uniquingKeysWith: { first, _ in first })
    for suspicion in suspicions.flatMap({ [$0] + $0.others }) where suspicion.needsRegistration {
      lettingGo?.mayBeAsked(about: someOf(suspicion.family.survivors))
    }
    for index in suspicions.indices
    where suspicions[index].family.lifetime.births > 0 && isProgramObject(suspicions[index].family.survivors[0]) {
      suspicions[index].kin = kin[key(of: site(of: suspicions[index].family.survivors[0]), depth: 0)]
    }
    return groups(suspicions, registration)
  }

  func site(of node: NodeID) -> AllocationSite { sites[Int(block(node).site.rawValue)] }

  /// Returns groups of objects that should be gone by the program's own statement. Objects that other such objects hold
  /// are omitted.
  func groups(of nodes: [NodeID], registration: RegistrationSearch) -> [SurvivorGroup] {
    let wanted = Set(nodes)
    let families = families(depth: 1) { !wanted.contains($0) }
    return groups(
      families.compactMap { family in
        family.survivors.first.map(isNameable) == true
          ? Suspicion(verdict: .outlived, family: family, isStated: true, least: 1, evidence: Evidence(rules)) : nil
      }, registration)
  }

  func groups(_ unsorted: [Suspicion], _ registration: RegistrationSearch) -> [SurvivorGroup] {
    guard !unsorted.isEmpty else { return [] }
    // Objects come first: closures and tasks are reported only if no object is.
    let suspicions = unsorted.sorted {
      isProgramObject($0.family.survivors[0]) && !isProgramObject($1.family.survivors[0])
    }
    let ownership = ownership
    var familyOf: [NodeID: Int] = [:]
    for (index, suspicion) in suspicions.enumerated() {
      for node in suspicion.family.survivors { familyOf[node] = index }
    }
    func type(of suspicion: Suspicion) -> UInt32 { graph.nodeTypes[Int(suspicion.family.survivors[0])] }
    var groups: [SurvivorGroup] = []
    var accepted: Set<Int> = []
    for (index, suspicion) in suspicions.enumerated() where groups.count < Self.limit {
      log?.resume(suspicion.candidate)
      for found in strongest(of: suspicion, registration) {
        guard var group = suspicion.isStated ? found : lifted(found, of: suspicion, registration) else {
          note(.structure, .excludes, "\(found.survivors.count) instances")
          continue
        }
        let members = Set(group.survivors)
        (group.suspicions, group.candidates) = ([index], suspicion.candidate.map { [$0] } ?? [])
        for node in group.survivors where familyOf[node] == nil { familyOf[node] = index }
        for node in group.survivors {
          if ownership.isDominated(node, by: members) { continue }
          group.retainedBytes &+= ownership.retainedSizes[node]
          group.retainedBlocks &+= ownership.retainedCounts[node]
        }
        if !suspicion.isStated, isKeptElsewhere(group, registration) {
          note(.keptElsewhere, .excludes, "\(group.survivors.count) instances")
          continue
        }
        accepted.insert(index)
        if let known = suspicion.isStated ? nil : groups.firstIndex(where: { isSameCause($0, group) }) {
          merge(group, into: &groups[known])
          // Objects of several sites that hold one another are a tree, unless some were found as keepers of others.
          let all = groups[known].suspicions.union([index])
          if all.contains(where: { type(of: suspicions[$0]) != graph.nodeTypes[Int(group.sample)] }) {
            groups[known].suspicions = all
          }
        } else {
          groups.append(group)
        }
      }
    }
    // A registered timer or a scheduled task is the way that other objects are held. It is reported only if none of
    // these objects is.
    let registered = Set(groups.filter { isRegistration($0, registration) }.flatMap(\.suspicions))
    // If survivors of another group keep objects of this group, the objects count for that group. If objects of this
    // group keep survivors of another group, the objects are their holder.
    let outer = groups.map { group in
      let members = Set(group.survivors)
      return group.survivors.compactMap { node in
        let holder = ownership.dominator(of: node) { other in
          // The finding of a task includes the objects that the task began with.
          let isHolder =
            isProgramObject(other) || graph.type(of: other).kind == .task && !isProgramObject(group.sample)
          return isHolder && !members.contains(other)
            && familyOf[other].map {
              accepted.contains($0) && !group.suspicions.contains($0) && !registered.contains($0)
            }
              ?? false
        }
        return holder.flatMap { familyOf[$0] }
      }
    }
    /// Returns whether a group begins a chain. If objects of two groups hold one another in turn, the groups are one
    /// chain. It begins with the group that has an object that the other group does not hold.
    func beginsChain(_ index: Int) -> Bool {
      guard outer[index].count < groups[index].survivors.count else { return false }
      let holders = Set(outer[index])
      guard !holders.isEmpty else { return false }
      return groups.indices.contains { other in
        other != index && holders.isSubset(of: groups[other].suspicions)
          && outer[other].count == groups[other].survivors.count
          && groups[index].suspicions.isSuperset(of: outer[other])
      }
    }
    /// Returns another group that counts the objects of a group, or shows them as holders.
    func counting(_ index: Int) -> Int? {
      let group = groups[index]
      if outer[index].count * 2 > group.survivors.count, !beginsChain(index) {
        let holders = Set(outer[index])
        return groups.indices.first { !holders.isDisjoint(with: groups[$0].suspicions) } ?? index
      }
      if isProgramObject(group.sample), !isRegistration(group, registration) { return nil }
      if let other = groupOfSubjects(of: group, in: groups) { return other }
      let members = Set(group.survivors)
      return groups.indices.first { other in
        isProgramObject(groups[other].sample) && registered.isDisjoint(with: groups[other].suspicions)
          && groups[other].survivors.contains { ownership.isDominated($0, by: members) }
      }
    }
    // Trees and meshes consist of objects of one class, made by several functions.
    let counted = Self.withoutCircles(groups.indices.map(counting)) { circle in
      Set(circle.map { graph.nodeTypes[Int(groups[$0].sample)] }).count == 1
        ? nil : circle.max { (groups[$0].retainedBytes, $1) < (groups[$1].retainedBytes, $0) }
    }
    // A weak suspicion about the objects of tasks or timers becomes as strong as the suspicion about the tasks or
    // timers.
    for (index, other) in counted.enumerated()
    where groups[index].evidence.isStrong && !groups[index].registrations.isEmpty {
      if let other { groups[other].evidence = groups[other].evidence.ofStrength(of: groups[index].evidence) }
    }
    return groups.indices.filter { index in
      guard counted[index] != nil else { return true }
      log?.notePart(ofAnotherFinding: groups[index])
      return false
    }.map { straightened(groups[$0], among: groups, registration) }
      .sorted { ($0.retainedBytes, $0.survivors.count) > ($1.retainedBytes, $1.survivors.count) }
  }

  /// Returns, for each group, the other group that counts its objects; nil for a group that counts by itself. If groups
  /// count one another in turn, the one that `choose` returns counts by itself. O(groups²).
  static func withoutCircles(_ counting: [Int?], choose: ([Int]) -> Int?) -> [Int?] {
    var counting = counting
    for start in counting.indices {
      var way: [Int] = []
      var current = start
      while let next = counting[current], next != current, !way.contains(current) {
        way.append(current)
        current = next
      }
      guard let first = way.firstIndex(of: current) else { continue }
      if let kept = choose(Array(way[first...])) { counting[kept] = nil }
    }
    return counting
  }

  /// Returns the groups of the first suspicion about a family that has a strong group. If there is none, returns the
  /// groups of the first suspicion that has any.
  private func strongest(of suspicion: Suspicion, _ registration: RegistrationSearch) -> [SurvivorGroup] {
    var weak: [SurvivorGroup] = []
    for each in [suspicion] + suspicion.others {
      let found = held(each, paths: ownership.paths, registration: registration)
      if found.contains(where: \.evidence.isStrong) { return found }
      if weak.isEmpty { weak = found }
    }
    return weak
  }

  // MARK: One cause

  /// Returns whether two groups have one cause. This is so if one holder keeps objects of one type by one reference,
  /// whichever functions made them. It is also so if objects were found twice: directly, and as owners of other
  /// survivors.
  private func isSameCause(_ a: SurvivorGroup, _ b: SurvivorGroup) -> Bool {
    let (first, second) = (a.path[a.suspect], b.path[b.suspect])
    guard graph.nodeTypes[Int(a.sample)] == graph.nodeTypes[Int(b.sample)] else { return false }
    if !Set(a.survivors).isDisjoint(with: b.survivors) { return true }
    guard first.node == second.node else {
      guard a.verdict == .outlived, b.verdict == .outlived, let field = lastingField(a) else { return false }
      return field == lastingField(b)
    }
    func label(_ step: LeakGroup.Step) -> UInt32 { step.edge.map { graph.graph.label(of: $0) } ?? .max }
    // In scanned memory, the offsets of references differ between equal objects.
    return label(first) == label(second) || label(first) >= 1 << 31 && label(second) >= 1 << 31
  }

  /// Returns the field of a lasting object whose collection holds a group.
  private func lastingField(_ group: SurvivorGroup) -> LastingField? {
    guard let (field, collection) = lastingField(group.path, after: 0), collection == group.suspect else { return nil }
    return field
  }

  private func merge(_ other: SurvivorGroup, into group: inout SurvivorGroup) {
    group.candidates += other.candidates
    if other.verdict == .outlived { group.verdict = .outlived }
    // Several parts of one object may have led to the same owner.
    let isMetTwice = !Set(group.survivors).isDisjoint(with: other.survivors)
    if isMetTwice, other.survivors.count <= group.survivors.count {
      group.evidence.join(other.evidence)
      return
    }
    if other.survivors.count > group.survivors.count {
      (group.sample, group.path, group.suspect, group.homeDistance) = (
        other.sample, other.path, other.suspect, other.homeDistance
      )
    }
    let known = Set(group.survivors)
    group.survivors = (group.survivors + other.survivors.filter { !known.contains($0) }).sorted {
      ordinal($0) < ordinal($1)
    }
    if isMetTwice {
      (group.lifetime, group.sites, group.retainedBytes, group.retainedBlocks) = (
        other.lifetime, other.sites, other.retainedBytes, other.retainedBlocks
      )
    } else {
      // Two holders may have objects of one site.
      let added = Set(other.sites).subtracting(group.sites).sorted()
      group.sites += added
      group.lifetime = added.reduce(into: group.lifetime) { $0 += sites[Int($1)].lifetime }
      group.retainedBytes &+= other.retainedBytes
      group.retainedBlocks &+= other.retainedBlocks
    }
    group.registrations.formUnion(other.registrations)
    group.evidence.join(other.evidence)
    var family = Family()
    (family.lifetime, family.sites) = (group.lifetime, group.sites)
    group.evidence.live = population(family, until: activations.ordinal).quarters
  }

  /// Returns whether the program's own variables also hold most of the survivors. Then the registration is not the
  /// cause. A closure or a task is judged by its subjects.
  private func isKeptElsewhere(_ group: SurvivorGroup, _ registration: RegistrationSearch) -> Bool {
    guard let (_, kind) = registration(group.path, 0).flatMap({ $0.index == group.suspect ? $0 : nil }),
      kind != .thread, kind != .taskGroup
    else { return false }
    let members = Set(group.survivors)
    let counts = pathCounts(group.survivors, ownership.paths)
    let subset = graph.graph.allNodes
    for node in group.survivors.prefix(Self.detailLimit) {
      if let holding = holding(node, members, counts, ownership.paths, registration), holding.isRegistered {
        subset.remove(holding.steps[holding.suspect].node)
      }
    }
    let paths = ownership.paths(within: subset)
    func isKept(_ node: NodeID) -> Bool {
      guard let path = paths.path(to: node), case .global(let image) = graph.root(path.root).kind else { return false }
      // The program's file may have the platform's variables, too. They lead to C blocks, tasks and closures.
      let isOwn = path.steps.allSatisfy { step in
        switch graph.type(of: step.node).kind {
        case .object, .array, .dictionary, .set, .box: true
        case .closure, .task, .malloc, .error, .sideTable: step.node == node
        }
      }
      return isOwn && !SystemCode.isSystemImage(graph.roots.images[image].path)
    }
    let kept = group.survivors.count { isKept($0) || !isProgramObject($0) && subjects(of: $0).contains(where: isKept) }
    return kept * 2 > group.survivors.count
  }

  /// Returns the program's objects that a closure or a task refers to by references of some kinds, directly or through
  /// its captures.
  private func subjects(of node: NodeID, kinds: EdgeKinds = .all) -> [NodeID] {
    var found: [NodeID] = []
    var seen: Set<NodeID> = [node]
    var pending = [node]
    while let current = pending.popLast(), seen.count < Self.subjectLimit {
      for edge in graph.graph.edges(from: current) where kinds.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        let target = graph.graph.target(of: edge)
        guard seen.insert(target).inserted else { continue }
        if isProgramObject(target) { found.append(target) } else { pending.append(target) }
      }
    }
    return found
  }

  /// Returns whether survivors are objects of the program, or keep an object of the program that no other survivor
  /// keeps.
  func keepOwnObjects(_ survivors: [NodeID]) -> Bool {
    guard !survivors.contains(where: isProgramObject) else { return true }
    var holders: [NodeID: Int] = [:]
    for node in survivors.prefix(Self.detailLimit) {
      for subject in subjects(of: node, kinds: ObjectGraph.owning) { holders[subject, default: 0] += 1 }
    }
    return holders.values.contains(1)
  }

  /// Returns the group with the objects that most tasks or closures of a group are about. These objects are the cause.
  private func groupOfSubjects(of group: SurvivorGroup, in groups: [SurvivorGroup]) -> Int? {
    guard !isProgramObject(group.sample), group.registrations.isEmpty else { return nil }
    let sample = someOf(group.survivors).map { Set(subjects(of: $0, kinds: ObjectGraph.owning)) }
    return groups.indices.first { other in
      guard isProgramObject(groups[other].sample) else { return false }
      let members = Set(groups[other].survivors)
      return sample.count { !$0.isDisjoint(with: members) } * 2 > sample.count
    }
  }

  /// Maximum number of blocks that are searched for one closure or task.
  private static let subjectLimit = 256

  /// Returns whether a group's objects are registrations themselves, and are held as registrations.
  private func isRegistration(_ group: SurvivorGroup, _ registration: RegistrationSearch) -> Bool {
    guard isProgramObject(group.sample), registration(group.path, 0)?.index == group.suspect else { return false }
    return registration(group.path + [.init(node: group.sample, edge: nil)], 0)?.index == group.path.count - 1
  }

  /// Returns the group with a path that avoids other groups' objects, if there is such a path. Then the holder of two
  /// causes is shown for each cause separately.
  func straightened(_ group: SurvivorGroup, among groups: [SurvivorGroup], _ registration: RegistrationSearch)
    -> SurvivorGroup
  {
    guard groups.count <= 16 else { return group }
    let others = Set(groups.filter { $0.sample != group.sample }.flatMap(\.survivors))
    guard group.path.contains(where: { step in others.contains(step.node) }) else { return group }
    let subset = graph.graph.allNodes
    for node in others { subset.remove(node) }
    let paths = ownership.paths(within: subset)
    let members = Set(group.survivors)
    guard paths.reaches(group.sample),
      let holding = holding(
        group.sample, members, pathCounts(group.survivors.filter { paths.reaches($0) }, paths), paths, registration),
      holding.isRegistered || isKnownHolder(holding.steps, holding.suspect)
    else { return group }
    var group = group
    (group.path, group.suspect) = (holding.steps, holding.suspect)
    return group
  }
}
