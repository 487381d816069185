// The tasks that code can await or cancel.

import HeapAnalysis

/// Finds the tasks whose handle is in an object or a variable.
///
/// Memory of the runtime and timers refer to tasks as well. Code can neither await nor cancel a task by that.
enum TaskHandles {
  /// Returns the nodes of these tasks. Linear in the graph.
  static func tasks(in graph: ObjectGraph) -> Set<NodeID> {
    var tasks: Set<NodeID> = []
    for node in 0..<NodeID(graph.graph.nodeCount) where mayHaveHandle(node, graph) {
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.keeping.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        let target = graph.graph.target(of: edge)
        if !graph.isRoot(target), graph.type(of: target).kind == .task { tasks.insert(target) }
      }
    }
    return tasks
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
