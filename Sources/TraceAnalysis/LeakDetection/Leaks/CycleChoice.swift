// Chooses the cycle to show for a leaked component. It is the cycle of the component's cause, and does not change from
// run to run.

import HeapAnalysis
import TraceSymbolication

/// The position of a block's allocation among all allocations.
struct BirthOrder: Comparable {
  var time: UInt64
  var ordinal: UInt64

  static func < (a: BirthOrder, b: BirthOrder) -> Bool { (a.time, a.ordinal) < (b.time, b.ordinal) }
}

extension ObjectGraph {
  func birthOrder(of node: NodeID) -> BirthOrder {
    let block = heap[BlockID(node)]
    return BirthOrder(time: block.birthTime, ordinal: block.ordinal)
  }

  /// Returns where an object's class comes from: 0 for the main program, 1 for another module that was built with it, 2
  /// for the platform. Returns 3 if the node is not an object.
  func classOrigin(of node: NodeID) -> Int {
    let type = type(of: node)
    guard type.kind == .object else { return 3 }
    if type.module == mainModule { return 0 }
    return SystemCode.isSystemModule(type.module) ? 2 : 1
  }
}

/// Chooses one cycle of an unreachable component.
///
/// A component may have many cycles. The order of its objects, their addresses, and the words that look like pointers
/// differ between instances and between runs. So only features of the program's source decide:
///
/// - the origin of the classes in the cycle;
/// - whether the cycle contains the class of the oldest object;
/// - whether all its references are known fields;
/// - the number of its references, and their names.
struct CycleChoice {
  /// Maximum number of types whose members start a search. A cause has fewer types, so further types in the component
  /// do not matter.
  private static let typeLimit = 48
  /// Maximum number of members of each type that start a search, the oldest first. The members of a cause are older
  /// than the objects that the cause collects later.
  private static let membersOfType = 4
  /// In a component with more objects, only one member of each type starts a search. Each search may visit most of the
  /// objects.
  private static let largeComponent = 100_000
  /// Maximum number of tasks that start a search in a component with tasks, the oldest first.
  private static let taskLimit = 12

  private let graph: ObjectGraph
  private let members: ComponentMembers
  private let all: CycleSearch
  /// Searches only references in known fields, so that a stale word that looks like a pointer makes no cycle.
  private let exact: CycleSearch

  /// O(nodes + edges).
  init(
    _ graph: ObjectGraph, _ components: StronglyConnectedComponents, _ members: ComponentMembers, within subset: NodeSet
  ) {
    self.graph = graph
    self.members = members
    all = CycleSearch(components, costs: LeakFinder.costs)
    exact = CycleSearch(
      StronglyConnectedComponents(graph.graph, kinds: EdgeKinds([.strong]), within: subset), costs: LeakFinder.costs)
  }

  /// Returns the cycle to show for a component. If the component has tasks, the cycle leads through a task, since tasks
  /// need an explanation. Nil if no cycle is found. O(component) for each of a fixed number of starts in the worst
  /// case. It is usually far less, since a search stops at the length of the best cycle.
  func cycle(of component: ComponentID) -> (steps: [LeakGroup.Step], hasTask: Bool)? {
    let (starts, hasTask) = starts(in: component)
    let first = firstClass(in: component)
    var best: (rank: Rank, cycle: NodeCycle)?
    for start in starts {
      for cycle in [exact.shortestCycle(through: start), all.shortestCycle(through: start)].compactMap({ $0 }) {
        let rank = rank(cycle, first: first)
        if best.map({ rank < $0.rank }) ?? true { best = (rank, cycle) }
      }
    }
    return best.map {
      (rotated(zip($0.cycle.nodes, $0.cycle.edges).map { LeakGroup.Step(node: $0, edge: $1) }), hasTask)
    }
  }

  private func starts(in component: ComponentID) -> (nodes: [NodeID], hasTask: Bool) {
    var byType: [UInt32: [NodeID]] = [:]
    let ofType = members.count(of: component) > Self.largeComponent ? 1 : Self.membersOfType
    members.forEach(of: component) { node in
      let type = graph.nodeTypes[Int(node)]
      let limit = graph.type(of: node).kind == .task ? Self.taskLimit : ofType
      insert(node, into: &byType[type, default: []], limit: limit)
    }
    let tasks = byType.filter { graph.types[Int($0.key)].kind == .task }.values.joined()
    if !tasks.isEmpty {
      return (Array(tasks.sorted { graph.birthOrder(of: $0) < graph.birthOrder(of: $1) }.prefix(Self.taskLimit)), true)
    }
    let ordered = byType.values.filter { !$0.isEmpty }.sorted { first, second in
      let (a, b) = (first[0], second[0])
      return (graph.classOrigin(of: a), graph.type(of: a).qualifiedName) < (
        graph.classOrigin(of: b), graph.type(of: b).qualifiedName
      )
    }
    return (ordered.prefix(Self.typeLimit).flatMap { $0 }, false)
  }

  /// Returns the class of the object that was made first. As a rule, this object owns the others.
  private func firstClass(in component: ComponentID) -> UInt32? {
    var oldest: NodeID?
    members.forEach(of: component) { node in
      guard graph.type(of: node).kind == .object else { return }
      if oldest.map({ graph.birthOrder(of: node) < graph.birthOrder(of: $0) }) ?? true { oldest = node }
    }
    return oldest.map { graph.nodeTypes[Int($0)] }
  }

  /// Inserts a node into the oldest nodes of a type, which are in order of birth. Keeps at most `limit` nodes.
  private func insert(_ node: NodeID, into nodes: inout [NodeID], limit: Int) {
    let order = graph.birthOrder(of: node)
    if nodes.count == limit, let last = nodes.last {
      guard order < graph.birthOrder(of: last) else { return }
      nodes.removeLast()
    }
    nodes.insert(node, at: nodes.firstIndex { order < graph.birthOrder(of: $0) } ?? nodes.count)
  }

  /// The order of cycles, the most informative first. A cycle with an object of the program's classes comes first. The
  /// next criteria are, in this order: an object of the oldest object's class, references that are all known for
  /// certain, and a short length. Names break ties.
  private struct Rank: Comparable {
    var origin: Int
    var isOfOthers: Bool
    var isScanned: Bool
    var cost: UInt32
    var names: [String]

    static func < (a: Rank, b: Rank) -> Bool {
      if a.origin != b.origin { return a.origin < b.origin }
      if a.isOfOthers != b.isOfOthers { return !a.isOfOthers }
      if a.isScanned != b.isScanned { return !a.isScanned }
      if a.cost != b.cost { return a.cost < b.cost }
      return a.names.lexicographicallyPrecedes(b.names)
    }
  }

  private func rank(_ cycle: NodeCycle, first: UInt32?) -> Rank {
    let origin = cycle.nodes.map { graph.classOrigin(of: $0) }.min() ?? 3
    let isScanned = cycle.edges.contains { graph.graph.kind(of: $0) != EdgeStrength.strong.rawValue }
    let isOfOthers = !cycle.nodes.contains { graph.nodeTypes[Int($0)] == first }
    return Rank(origin: origin, isOfOthers: isOfOthers, isScanned: isScanned, cost: cycle.cost, names: names(cycle))
  }

  /// Returns the types and references of a cycle, in the rotation that sorts first.
  private func names(_ cycle: NodeCycle) -> [String] {
    let own = zip(cycle.nodes, cycle.edges).map { node, edge in
      "\(graph.type(of: node).qualifiedName)\n\(graph.label(graph.graph.label(of: edge))?.name ?? "")"
    }
    guard own.count <= Self.comparedSteps else { return own.sorted() }
    return own.indices.map { Array(own[$0...] + own[..<$0]) }.min { $0.lexicographicallyPrecedes($1) } ?? own
  }

  /// Maximum length of a cycle whose rotations are compared. Longer cycles are compared without their order, since
  /// comparing all rotations takes quadratic time.
  private static let comparedSteps = 64

  /// Returns the steps rotated to begin with a task, or with the program's object that was made first.
  private func rotated(_ steps: [LeakGroup.Step]) -> [LeakGroup.Step] {
    func key(_ step: LeakGroup.Step) -> (Int, BirthOrder) {
      (graph.type(of: step.node).kind == .task ? -1 : graph.classOrigin(of: step.node), graph.birthOrder(of: step.node))
    }
    guard let start = steps.indices.min(by: { key(steps[$0]) < key(steps[$1]) }) else { return steps }
    return Array(steps[start...] + steps[..<start])
  }
}
