// Which live blocks are leaked, and what holds each: in numbers, before anything has a name.

/// What is wrong with a leaked object.
public enum Verdict: String, CaseIterable, Codable, Hashable, Sendable {
  /// Objects that hold one another, and that nothing else can reach.
  case retainCycle
  /// Nothing holds it, and still its count is above 0; or a block that nothing points to.
  case lost
  /// Its `deinit` has run; unowned references keep its memory.
  case deinitialised
  /// A task that nothing can resume.
  case suspended
  /// A live object refers to memory that has been freed.
  case dangling
  /// Reachable, but its scope has ended, and its siblings with it.
  case outlived
  /// Reachable, like all of its kind, of which there are more and more.
  case accumulating
}

/// Instances of one shape from the same allocation sites, with one of them to be shown.
struct LeakGroup {
  /// A node of the shown instance, and the edge that leads to the next one.
  struct Step {
    var node: NodeID
    /// Leads to the next step's node, and in a cycle from the last to the first; nil at the end of a path.
    var edge: EdgeIndex?
  }

  struct Sum {
    var blocks: UInt64 = 0
    var bytes: UInt64 = 0

    mutating func add(_ size: UInt64) {
      blocks += 1
      bytes &+= size
    }
  }

  var verdict: Verdict
  var steps: [Step]
  var isCycle: Bool
  var instances: Int
  /// What would be freed with all of them, and how many blocks that is.
  var retainedBytes: UInt64
  var retainedBlocks: UInt64
  /// The number of the causes of its shape; nil for what is reachable.
  var cause: Int32?
  /// By type: all that goes with the shown instance alone, itself among it.
  var held: [UInt32: Sum] = [:]
  /// By type: what hangs from several of the instances, and from nothing else.
  var heldTogether: [UInt32: Sum] = [:]
  var dangling: ObjectGraph.DanglingReference?
  /// What ended before those that used or still refer to it: of the shown instance.
  var ended: EndedBlock?
}

/// Everything leaked in a snapshot.
struct LeakFinder {
  /// Cycles are looked for from as many members of a component, one of each type.
  private static let cycleStarts = 12
  private static let typeLimit = 1000

  let graph: ObjectGraph
  /// What no root leads to, side tables left out.
  let unreachable: NodeSet
  private(set) var groups: [LeakGroup] = []
  /// Of the groups of what is unreachable; nil if nothing is.
  private(set) var causes: LeakCauses?

  /// Blocks of which a leak must have one to be told; nil for all.
  private let wanted: ((BlockID) -> Bool)?

  /// Linear in the graph, but for the cycles that are looked for: one for each shape of component.
  init(_ graph: ObjectGraph, among wanted: ((BlockID) -> Bool)? = nil) {
    self.graph = graph
    self.wanted = wanted
    let heap = graph.graph
    let reached = heap.reachable(from: graph.rootNodes, kinds: ObjectGraph.owning)
    let unreachable = reached.complement
    for node in 0..<NodeID(graph.blockCount) where unreachable.contains(node) && graph.type(of: node).kind == .sideTable { unreachable.remove(node) }
    self.unreachable = unreachable
    // What an image lacks may be what holds them, or what would show that they are just ending.
    if graph.isWhole { findDeinitialised() }
    // What may have been freed unseen is not accused.
    graph.uncertain.forEach { unreachable.remove($0) }
    // What was deinitialised holds nothing, and has been dealt with.
    graph.deinitialised.forEach { unreachable.remove($0) }
    if graph.isWhole { findUnreachable() }
    if !graph.hasUnseenMemory { groups += danglingGroups { _ in true } }
  }

  // MARK: Unreachable

  private mutating func findUnreachable() {
    guard !unreachable.isEmpty else { return }
    let heap = graph.graph
    let components = StronglyConnectedComponents(heap, kinds: ObjectGraph.owning, within: unreachable)
    let sources = components.sources().members
    let members = ComponentMembers(components)
    var numbers: [Signature: Int32] = [:]
    var found: [Candidate] = []
    let groupOfSource = sources.map { component -> Int32 in
      if let wanted, !(0..<members.count(of: component)).contains(where: { wanted(BlockID(members.node($0, of: component))) }) { return CauseShares.several }
      let signature = signature(of: component, members, components)
      let size = members.count(of: component)
      if let known = numbers[signature] {
        found[Int(known)].instances += 1
        if size < found[Int(known)].size { (found[Int(known)].component, found[Int(known)].size) = (component, size) }
        return known
      }
      let number = Int32(truncatingIfNeeded: found.count)
      numbers[signature] = number
      found.append(Candidate(component: component, size: size))
      return number
    }
    let shares = CauseShares(components, members, sources: sources, group: groupOfSource)
    causes = LeakCauses(components, members, sources: sources, groups: groupOfSource)
    let shown = found.map { shares.causes[Int($0.component)] }
    unreachable.forEach { node in
      let component = Int(components.componentOfNode[node])
      let group = Int(shares.groups[component])
      guard found.indices.contains(group) else { return }
      let size = graph.heap[BlockID(node)].size
      found[group].all.add(size)
      let cause = shares.causes[component]
      if cause == shown[group] {
        found[group].held[graph.nodeTypes[Int(node)], default: .init()].add(size)
      } else if cause == CauseShares.several {
        found[group].heldTogether[graph.nodeTypes[Int(node)], default: .init()].add(size)
      }
    }
    let search = CycleSearch(components, costs: Self.costs)
    for (number, candidate) in found.enumerated() {
      var group = group(candidate, members, components, search)
      group.cause = Int32(truncatingIfNeeded: number)
      groups.append(group)
    }
  }

  private struct Candidate {
    /// That of the instance that is shown, and how many objects are in it.
    var component: ComponentID
    var size: Int
    var instances = 1
    /// All that goes with the group.
    var all = LeakGroup.Sum()
    var held: [UInt32: LeakGroup.Sum] = [:]
    var heldTogether: [UInt32: LeakGroup.Sum] = [:]
  }

  /// Exact references make better evidence than scanned words.
  static var costs: EdgeCosts {
    var costs = EdgeCosts(default: 200)
    costs[EdgeStrength.strong.rawValue] = 2
    costs[EdgeStrength.conservative.rawValue] = 9
    costs[EdgeStrength.unmanaged.rawValue] = 12
    return costs
  }

  /// What instances of a shape have in common, however many objects each has: types, sites, and which field of which type leads where.
  private struct Signature: Hashable {
    var first: UInt64
    var second: UInt64
    var isCycle: Bool
  }

  private func signature(of component: ComponentID, _ members: ComponentMembers, _ components: StronglyConnectedComponents) -> Signature {
    func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
      var x = (a ^ b &* 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
      x ^= x >> 31
      return x &* 0x94D0_49BB_1331_11EB
    }
    let isCycle = components.nontrivial.contains(component)
    if !isCycle {
      let node = members.node(0, of: component)
      let block = graph.heap[BlockID(node)]
      return Signature(first: UInt64(graph.nodeTypes[Int(node)]), second: UInt64(block.site.rawValue), isCycle: false)
    }
    var parts: Set<UInt64> = []
    members.forEach(of: component) { node in
      let type = UInt64(graph.nodeTypes[Int(node)])
      parts.insert(mix(type, UInt64(graph.heap[BlockID(node)].site.rawValue) + (1 << 40)))
      for edge in graph.graph.edges(from: node) {
        let target = graph.graph.target(of: edge)
        guard ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))), components.componentOfNode[target] == component else { continue }
        // Offsets in memory that is scanned differ between equal things.
        let label = graph.graph.label(of: edge)
        parts.insert(mix(mix(type, UInt64(label < 1 << 31 ? label : 1 << 31)), UInt64(graph.nodeTypes[Int(target)]) + (1 << 41)))
      }
    }
    var sum: UInt64 = 0
    var product: UInt64 = 1
    for part in parts {
      sum &+= part
      product &*= part | 1
    }
    return Signature(first: sum, second: product, isCycle: true)
  }

  private func group(
    _ candidate: Candidate, _ members: ComponentMembers, _ components: StronglyConnectedComponents, _ search: CycleSearch
  ) -> LeakGroup {
    let component = candidate.component
    let first = members.node(0, of: component)
    func make(_ verdict: Verdict, _ steps: [LeakGroup.Step], isCycle: Bool) -> LeakGroup {
      LeakGroup(
        verdict: verdict, steps: steps, isCycle: isCycle, instances: candidate.instances, retainedBytes: candidate.all.bytes,
        retainedBlocks: candidate.all.blocks, held: candidate.held, heldTogether: candidate.heldTogether)
    }
    guard components.nontrivial.contains(component) else {
      return make(graph.type(of: first).kind == .task ? .suspended : .lost, [.init(node: first, edge: nil)], isCycle: false)
    }
    // One start of each type, the one that was made first; tasks alone if there are any, since they are what has to be explained.
    var starts: [UInt32: NodeID] = [:]
    var tasks: [NodeID] = []
    var oldest = first
    members.forEach(of: component) { node in
      let type = graph.nodeTypes[Int(node)]
      if let known = starts[type] {
        if isOlder(node, than: known) { starts[type] = node }
      } else if starts.count < Self.typeLimit {
        starts[type] = node
      }
      if graph.type(of: node).kind.isCounted, isOlder(node, than: oldest) || !graph.type(of: oldest).kind.isCounted { oldest = node }
      if graph.type(of: node).kind == .task, tasks.count < Self.cycleStarts { tasks.append(node) }
    }
    let candidates = starts.values.sorted { (origin($0), graph.type(of: $0).qualifiedName, $0) < (origin($1), graph.type(of: $1).qualifiedName, $1) }
    let cycles = (tasks.isEmpty ? Array(candidates.prefix(Self.cycleStarts)) + [oldest] : tasks).compactMap { search.shortestCycle(through: $0) }
    let best = cycles.min { (rank($0, oldest: oldest), names($0)) < (rank($1, oldest: oldest), names($1)) }
    let steps = best.map { cycle in rotated(zip(cycle.nodes, cycle.edges).map { LeakGroup.Step(node: $0, edge: $1) }) }
    // Blocks of C code that point to one another are not counted: nothing would have freed them.
    let isCounted = (0..<members.count(of: component)).contains { graph.type(of: members.node($0, of: component)).kind.isCounted }
    if !isCounted { return make(.lost, [.init(node: steps?.first?.node ?? first, edge: nil)], isCycle: false) }
    return make(tasks.isEmpty ? .retainCycle : .suspended, steps ?? [.init(node: first, edge: nil)], isCycle: true)
  }

  /// A cycle that says most: through an object that the program itself has a class for, then through the one that all else came after, made of
  /// exact references, and short.
  private func rank(_ cycle: NodeCycle, oldest: NodeID) -> UInt32 {
    let origin = cycle.nodes.map { self.origin($0) }.min() ?? 3
    return UInt32(origin) * 10_000 + (cycle.nodes.contains(oldest) ? 0 : 1000) + min(cycle.cost, 999)
  }

  /// Whose class an object has: 0 the main program's, 1 another module's that was built with it, 2 the platform's; 3 for what is no object.
  private func origin(_ node: NodeID) -> Int {
    let type = graph.type(of: node)
    guard type.kind == .object else { return 3 }
    if type.module == graph.mainModule { return 0 }
    return SystemCode.isSystemModule(type.module) ? 2 : 1
  }

  private func isOlder(_ a: NodeID, than b: NodeID) -> Bool {
    let (first, second) = (graph.heap[BlockID(a)], graph.heap[BlockID(b)])
    return (first.birthTime, first.ordinal) < (second.birthTime, second.ordinal)
  }

  private func names(_ cycle: NodeCycle) -> String {
    cycle.nodes.map { graph.type(of: $0).qualifiedName }.sorted().joined(separator: "\n")
  }

  /// Begins with the program's object that was made first.
  private func rotated(_ steps: [LeakGroup.Step]) -> [LeakGroup.Step] {
    func key(_ step: LeakGroup.Step) -> (Int, UInt64, UInt64) {
      let block = graph.heap[BlockID(step.node)]
      let kind = graph.type(of: step.node).kind
      return (kind == .task ? -1 : origin(step.node), block.birthTime, block.ordinal)
    }
    guard let start = steps.indices.min(by: { key(steps[$0]) < key(steps[$1]) }) else { return steps }
    return Array(steps[start...] + steps[..<start])
  }

  // MARK: Deinitialised

  private mutating func findDeinitialised() {
    guard !graph.deinitialised.isEmpty else { return }
    let heap = graph.graph
    // Who keeps the memory: an unowned reference by preference.
    var holders: [NodeID: (node: NodeID, edge: EdgeIndex)] = [:]
    for node in 0..<NodeID(heap.nodeCount) {
      for edge in heap.edges(from: node) where graph.deinitialised.contains(heap.target(of: edge)) {
        let target = heap.target(of: edge)
        let isBetter = holders[target].map { known in
          heap.kind(of: edge) == EdgeStrength.unowned.rawValue && heap.kind(of: known.edge) != EdgeStrength.unowned.rawValue
        }
        if isBetter ?? true { holders[target] = (node, edge) }
      }
    }
    var numbers: [[UInt64]: Int] = [:]
    for target in graph.deinitialised.members where wanted?(BlockID(target)) ?? true {
      let holder = holders[target]
      // Being deinitialised right now, on some thread; or held by what is leaked itself, and counted there.
      if let holder, graph.isRoot(holder.node), heap.kind(of: holder.edge) != EdgeStrength.unowned.rawValue, isStack(holder.node) { continue }
      if let holder, unreachable.contains(holder.node), !graph.deinitialised.contains(holder.node) { continue }
      // Nobody refers to a closure's context without keeping it: what a library still points to is on its way out.
      if graph.type(of: target).kind != .object, holder.map({ heap.kind(of: $0.edge) != EdgeStrength.unowned.rawValue }) ?? true { continue }
      let block = graph.heap[BlockID(target)]
      let holderType = holder.map { graph.isRoot($0.node) ? UInt64.max : UInt64(graph.nodeTypes[Int($0.node)]) } ?? .max - 1
      let key = [UInt64(graph.nodeTypes[Int(target)]), UInt64(block.site.rawValue), holderType, holder.map { UInt64(heap.label(of: $0.edge)) } ?? .max]
      if let known = numbers[key] {
        groups[known].instances += 1
        groups[known].retainedBytes &+= block.size
        groups[known].retainedBlocks += 1
      } else {
        numbers[key] = groups.count
        var steps = [LeakGroup.Step(node: target, edge: nil)]
        if let holder, !graph.isRoot(holder.node) { steps.insert(.init(node: holder.node, edge: holder.edge), at: 0) }
        groups.append(
          LeakGroup(
            verdict: .deinitialised, steps: steps, isCycle: false, instances: 1, retainedBytes: block.size, retainedBlocks: 1))
      }
    }
  }

  private func isStack(_ node: NodeID) -> Bool {
    switch graph.root(node).kind {
    case .stack, .registers: true
    default: false
    }
  }

  // MARK: Dangling

  /// Groups of the references that dangle for certain.
  func danglingGroups(_ isCertain: (ObjectGraph.DanglingReference) -> Bool) -> [LeakGroup] {
    var groups: [LeakGroup] = []
    var numbers: [[UInt64]: Int] = [:]
    for reference in graph.dangling where isCertain(reference) && !unreachable.contains(reference.from.rawValue) && wanted?(reference.from) ?? true {
      let key = key(of: reference)
      if let known = numbers[key] {
        groups[known].instances += 1
      } else {
        numbers[key] = groups.count
        groups.append(
          LeakGroup(
            verdict: .dangling, steps: [.init(node: reference.from.rawValue, edge: nil)], isCycle: false, instances: 1,
            retainedBytes: 0, retainedBlocks: 0, dangling: reference))
      }
    }
    return groups
  }

  /// Equal for references that make one group.
  func key(of reference: ObjectGraph.DanglingReference) -> [UInt64] {
    let block = graph.heap[reference.from]
    return [UInt64(graph.nodeTypes[Int(reference.from.rawValue)]), UInt64(block.site.rawValue), UInt64(reference.label.rawValue)]
  }
}
