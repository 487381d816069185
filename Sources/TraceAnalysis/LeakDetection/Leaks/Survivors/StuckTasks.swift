// Finds tasks that cannot end because one of their children cannot end.

import HeapAnalysis

/// The tasks that wait for a child that is suspended for ever.
///
/// The finding of the child also explains all that such a task keeps. The task itself needs no change.
struct StuckTasks {
  private let graph: ObjectGraph
  private let tasks: Set<NodeID>

  /// - Parameter unreachable: nodes that no root leads to.
  ///
  /// Linear in the tasks and their references. A child task refers to its parent.
  init(_ graph: ObjectGraph, unreachable: NodeSet) {
    self.graph = graph
    var tasks: Set<NodeID> = []
    for (child, state) in graph.taskStates where state == .waiting(.continuation) && unreachable.contains(child) {
      for edge in graph.graph.edges(from: child) {
        let parent = graph.graph.target(of: edge)
        if graph.taskStates[parent] == .waiting(.end), !unreachable.contains(parent) { tasks.insert(parent) }
      }
    }
    self.tasks = tasks
  }

  /// Returns whether the innermost task on a path is stuck. Linear in the path.
  func keeps(_ path: [LeakGroup.Step]) -> Bool {
    guard !tasks.isEmpty else { return false }
    for step in path.reversed() {
      let task = graph.taskOfSlab[step.node] ?? step.node
      if !graph.isRoot(task), graph.type(of: task).kind == .task { return tasks.contains(task) }
    }
    return false
  }
}
