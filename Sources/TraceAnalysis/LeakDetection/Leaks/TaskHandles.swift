// Finds the tasks that code can await or cancel, and the tasks that no code can use any more.

import HeapAnalysis

/// Finds the tasks whose handle is in an object or a variable.
///
/// Memory of the runtime and timers also refer to tasks. Code can neither await nor cancel a task through such a
/// reference.
enum TaskHandles {
  /// Returns the tasks whose handle is in an object or a variable. Linear in the graph.
  static func tasks(in graph: ObjectGraph) -> Set<NodeID> { Set(owners(in: graph).keys) }

  /// Returns, by task, the objects and variables that have its handle. Linear in the graph.
  static func owners(in graph: ObjectGraph) -> [NodeID: [NodeID]] {
    var owners: [NodeID: [NodeID]] = [:]
    for node in 0..<NodeID(graph.graph.nodeCount) where mayHaveHandle(node, graph) {
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.keeping.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        let target = graph.graph.target(of: edge)
        if !graph.isRoot(target), graph.type(of: target).kind == .task { owners[target, default: []].append(node) }
      }
    }
    return owners
  }

  /// Returns the nodes that roots lead to. Does not follow a handle that cannot affect its task.
  ///
  /// A handle can await or cancel a task. This does not resume a task that waits for a continuation, unless the task or
  /// one of its children notices a cancellation. Such a task keeps itself alive for ever. Releasing its handle does not
  /// free it. Linear in the graph.
  static func reached(in graph: ObjectGraph) -> NodeSet {
    let heap = graph.graph
    let deaf = NodeSet(bound: heap.nodeCount)
    for (task, state) in graph.taskStates
    where state == .waiting(.continuation) && !graph.cancellableTasks.contains(task) { deaf.insert(task) }
    guard !deaf.isEmpty else { return heap.reachable(from: graph.rootNodes, kinds: ObjectGraph.owning) }
    for (slab, task) in graph.taskOfSlab where deaf.contains(task) { deaf.insert(slab) }
    let others = deaf.complement
    let reached = heap.reachable(from: graph.rootNodes, kinds: ObjectGraph.owning, within: others)
    var pending: [NodeID] = reached.members
    while let node = pending.popLast() {
      for edge in heap.edges(from: node) where ObjectGraph.owning.contains(EdgeKinds(kind: heap.kind(of: edge))) {
        let target = heap.target(of: edge)
        guard !reached.contains(target), !(deaf.contains(target) && isHandle(edge, in: graph)) else { continue }
        reached.insert(target)
        pending.append(target)
      }
    }
    return reached
  }

  /// Returns whether a reference is a handle by its type. Other references to a task may be continuations.
  static func isHandle(_ edge: EdgeIndex, in graph: ObjectGraph) -> Bool {
    countedType(edge, in: graph).map { $0.contains("Task<") && !$0.contains("Continuation") } ?? false
  }

  /// Returns whether all references from an object to a task are continuations. Continuations resume the task, and
  /// cannot cancel it.
  static func isContinuation(from owner: NodeID, to task: NodeID, in graph: ObjectGraph) -> Bool {
    if !graph.isRoot(owner), graph.type(of: owner).name.contains("Continuation") { return true }
    let types = graph.graph.edges(from: owner).filter { graph.graph.target(of: $0) == task }.map {
      countedType($0, in: graph)
    }
    return !types.isEmpty && types.allSatisfy { $0?.contains("Continuation") ?? false }
  }

  /// Returns the declared type of a counted reference in a known field; nil for all other references.
  static func countedType(_ edge: EdgeIndex, in graph: ObjectGraph) -> String? {
    guard graph.graph.kind(of: edge) == EdgeStrength.strong.rawValue else { return nil }
    return graph.label(graph.graph.label(of: edge))?.typeName
  }

  private static func mayHaveHandle(_ node: NodeID, _ graph: ObjectGraph) -> Bool {
    if graph.isRoot(node) {
      if case .global = graph.root(node).kind { return true }
      return false
    }
    let kind = graph.type(of: node).kind
    return kind.isCounted && kind != .task
  }
}
