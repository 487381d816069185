// Finds ways to objects that no reference keeps. The program may still use such objects.

import HeapAnalysis

/// A way to an object other than through a reference that keeps the object. A report of a leak has to name the way,
/// since the program may still use the object.
enum PossibleWay: Hashable {
  /// A number is the address of the object, or of an object that leads to it.
  case number(holder: NodeID)
  /// A weak or unowned reference of an object in use leads to the object.
  case unkept(holder: NodeID, edge: EdgeIndex)
}

/// A way that the program still has to a leaked block.
package enum LeakWay: String {
  /// A number is the block's address, or the address of an object that keeps the block. The leak is not proven then.
  case number
  /// A weak or unowned reference leads to the block, or to an object that keeps the block.
  case reference
}

/// The objects that nothing keeps, but that the program may still use.
///
/// A way may have several steps. For example, a weak reference leads to an object with a number. The number is the
/// address of an object with another weak reference.
struct PossibleReach {
  /// The node with a number, for each node that the number leads to, directly or over references.
  private(set) var numberHolders: [NodeID: NodeID] = [:]
  /// A weak or unowned reference to each node, from a node that the program may use.
  private(set) var unkept: [NodeID: (holder: NodeID, edge: EdgeIndex)] = [:]
  /// The tasks that such a reference can resume, and all nodes that they keep.
  private(set) var resumable: NodeSet
  /// All nodes that one of the ways leads to.
  private let usable: NodeSet

  private static let unkeptKinds = EdgeKinds([.weak, .unowned])

  /// - Parameters:
  ///   - inUse: the nodes that roots lead to over references that keep, and other nodes that are not leaks.
  ///   - unreachable: all other nodes.
  ///
  /// Linear in the graph and the numbers.
  init(_ graph: ObjectGraph, inUse: NodeSet, unreachable: NodeSet) {
    let heap = graph.graph
    usable = NodeSet(bound: heap.nodeCount)
    resumable = NodeSet(bound: heap.nodeCount)
    guard !unreachable.isEmpty else { return }
    var numbers: [NodeID: [NodeID]] = [:]
    var pending: [NodeID] = []
    for number in graph.numbers where unreachable.contains(number.to) {
      if inUse.contains(number.from) {
        addNumber(to: number.to, of: number.from, heap, unreachable, &pending)
      } else {
        numbers[number.from, default: []].append(number.to)
      }
    }
    inUse.forEach { addUnkept(of: $0, heap, unreachable, &pending) }
    while let node = pending.popLast() {
      addUnkept(of: node, heap, unreachable, &pending)
      for target in numbers.removeValue(forKey: node) ?? [] {
        addNumber(to: target, of: node, heap, unreachable, &pending)
      }
    }
    resumable = Self.resumable(graph, from: unkept.keys.sorted(), within: unreachable)
  }

  private mutating func addNumber(
    to target: NodeID, of holder: NodeID, _ heap: HeapGraph, _ unreachable: NodeSet, _ pending: inout [NodeID]
  ) {
    var found = [target]
    while let node = found.popLast() {
      guard unreachable.contains(node), numberHolders[node] == nil else { continue }
      numberHolders[node] = holder
      if usable.insert(node) { pending.append(node) }
      for edge in heap.edges(from: node) where ObjectGraph.owning.contains(EdgeKinds(kind: heap.kind(of: edge))) {
        found.append(heap.target(of: edge))
      }
    }
  }

  /// Adds the targets of a node's weak and unowned references, and all that they keep.
  private mutating func addUnkept(
    of holder: NodeID, _ heap: HeapGraph, _ unreachable: NodeSet, _ pending: inout [NodeID]
  ) {
    for edge in heap.edges(from: holder) where Self.unkeptKinds.contains(EdgeKinds(kind: heap.kind(of: edge))) {
      let target = heap.target(of: edge)
      guard unreachable.contains(target), unkept[target] == nil else { continue }
      unkept[target] = (holder, edge)
      var found = [target]
      while let node = found.popLast() {
        guard unreachable.contains(node), usable.insert(node) else { continue }
        pending.append(node)
        for edge in heap.edges(from: node) where ObjectGraph.owning.contains(EdgeKinds(kind: heap.kind(of: edge))) {
          found.append(heap.target(of: edge))
        }
      }
    }
  }

  /// Returns the tasks that the program can resume by objects that it has, and all nodes that these tasks keep.
  ///
  /// The program can call an object that it has. The object can resume the tasks whose continuations it leads to.
  ///
  /// A handle of a task is a reference that the task counts. A handle can only cancel its task. If neither the task nor
  /// its children notice the cancellation, it resumes nothing. The handle of a finished task leads to the task's
  /// result, but not every finished task is known to have finished.
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
          let state = graph.taskStates[task]
          if case .waiting? = state, isHandle(edge, graph), !graph.cancellableTasks.contains(task) { continue }
          if state != .finished { tasks.append(task) }
        }
        seen.insert(target)
        pending.append(target)
      }
    }
    return tasks.isEmpty
      ? NodeSet(bound: heap.nodeCount) : heap.reachable(from: tasks, kinds: ObjectGraph.owning, within: subset)
  }

  /// Returns whether an edge is a task's handle. A handle is a field whose type is a task. A continuation's field also
  /// leads to the task, but is not a handle.
  private static func isHandle(_ edge: EdgeIndex, _ graph: ObjectGraph) -> Bool {
    TaskHandles.countedType(edge, in: graph).map { !$0.contains("Continuation") } ?? false
  }

  /// Returns the kind of way to an object; nil if there is none.
  func kindOfWay(to node: NodeID) -> LeakWay? {
    numberHolders[node] != nil ? .number : usable.contains(node) ? .reference : nil
  }

  /// Returns the way to an object; nil if there is none. A number comes before a reference, since a number makes the
  /// leak doubtful.
  func way(to node: NodeID) -> PossibleWay? {
    if let holder = numberHolders[node] { return .number(holder: holder) }
    return unkept[node].map { .unkept(holder: $0.holder, edge: $0.edge) }
  }
}
