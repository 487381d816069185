// Ways to objects that no reference keeps. The program may still use them.

import HeapAnalysis

/// A way to an object other than a reference that keeps it: a proof has to name it, or is none.
enum PossibleWay: Hashable {
  /// A number is the address of it, or of an object that leads to it.
  case number(holder: NodeID)
  /// A weak or unowned reference of an object in use leads to it.
  case unkept(holder: NodeID, edge: EdgeIndex)
}

/// The objects among those that nothing keeps which the program may still use.
struct PossibleReach {
  /// By node that a number leads to, perhaps over references: the node with the number.
  let numberHolders: [NodeID: NodeID]
  /// By node: a weak or unowned reference to it from a node in use.
  let unkept: [NodeID: (holder: NodeID, edge: EdgeIndex)]
  /// The tasks that such a reference can resume, and all that they keep.
  let resumable: NodeSet

  private static let unkeptKinds = EdgeKinds([.weak, .unowned])

  /// - Parameters:
  ///   - reached: the nodes that roots lead to over references that keep.
  ///   - unreachable: all others.
  ///
  /// Linear in the graph, and in the numbers once more for each row of numbers that lead to numbers.
  init(_ graph: ObjectGraph, reached: NodeSet, unreachable: NodeSet) {
    let heap = graph.graph
    numberHolders = Self.numberHolders(graph, reached: reached, unreachable: unreachable)
    var unkept: [NodeID: (holder: NodeID, edge: EdgeIndex)] = [:]
    if !unreachable.isEmpty {
      reached.forEach { node in
        for edge in heap.edges(from: node) where Self.unkeptKinds.contains(EdgeKinds(kind: heap.kind(of: edge))) {
          let target = heap.target(of: edge)
          if unreachable.contains(target), unkept[target] == nil { unkept[target] = (node, edge) }
        }
      }
    }
    self.unkept = unkept
    resumable = Self.resumable(graph, from: unkept.keys.sorted(), within: unreachable)
  }

  private static func numberHolders(
    _ graph: ObjectGraph, reached: NodeSet, unreachable: NodeSet
  ) -> [NodeID: NodeID] {
    let heap = graph.graph
    var holders: [NodeID: NodeID] = [:]
    func add(_ target: NodeID, of holder: NodeID) {
      var found = [target]
      while let node = found.popLast() {
        guard unreachable.contains(node), holders[node] == nil else { continue }
        holders[node] = holder
        for edge in heap.edges(from: node) where ObjectGraph.owning.contains(EdgeKinds(kind: heap.kind(of: edge))) {
          found.append(heap.target(of: edge))
        }
      }
    }
    var pending = graph.numbers.filter { unreachable.contains($0.to) }
    var count = 0
    repeat {
      count = pending.count
      var left: [ObjectGraph.NumberReference] = []
      for number in pending {
        if reached.contains(number.from) || holders[number.from] != nil {
          add(number.to, of: number.from)
        } else {
          left.append(number)
        }
      }
      pending = left
    } while pending.count < count
    return holders
  }

  /// The program can call an object that it has. The object can resume the tasks whose continuations it leads to. A
  /// handle of a task, which is a reference that the task counts, resumes nothing.
  private static func resumable(_ graph: ObjectGraph, from starts: [NodeID], within subset: NodeSet) -> NodeSet {
    let heap = graph.graph
    let seen = NodeSet(bound: heap.nodeCount)
    var tasks: [NodeID] = []
    var pending = starts
    for start in starts { seen.insert(start) }
    while let node = pending.popLast() {
      for edge in heap.edges(from: node) where ObjectGraph.owning.contains(EdgeKinds(kind: heap.kind(of: edge))) {
        let target = heap.target(of: edge)
        guard subset.contains(target), !seen.contains(target) else { continue }
        let task = graph.taskOfSlab[target] ?? target
        if !graph.isRoot(task), graph.type(of: task).kind == .task {
          if isHandle(edge, graph) { continue }
          if graph.taskStates[task] != .finished { tasks.append(task) }
        }
        seen.insert(target)
        pending.append(target)
      }
    }
    return tasks.isEmpty
      ? NodeSet(bound: heap.nodeCount) : heap.reachable(from: tasks, kinds: ObjectGraph.owning, within: subset)
  }

  /// A task's handle is a field of its own type; a continuation's field leads to the task, too.
  private static func isHandle(_ edge: EdgeIndex, _ graph: ObjectGraph) -> Bool {
    guard graph.graph.kind(of: edge) == EdgeStrength.strong.rawValue,
      let label = graph.label(graph.graph.label(of: edge))
    else { return false }
    return !label.typeName.contains("Continuation")
  }

  /// The way to an object, if there is one: a number rather than a reference, since that makes it no proof.
  func way(to node: NodeID) -> PossibleWay? {
    if let holder = numberHolders[node] { return .number(holder: holder) }
    return unkept[node].map { .unkept(holder: $0.holder, edge: $0.edge) }
  }
}
