// Names the keys of task-local values.

import HeapAnalysis

/// The variables that hold the keys of task-local values. For one thread at a time.
struct TaskLocalNames {
  private let graph: ObjectGraph
  private let names: FindingNaming
  /// The root of the variable that refers to each key, by the key's node.
  private var roots: [NodeID: NodeID] = [:]

  /// Linear in the references of roots, if some task has a task-local value.
  ///
  /// - Parameter tasks: the addresses of the tasks whose keys are named.
  init(_ graph: ObjectGraph, _ names: FindingNaming, tasks: [UInt64]) {
    (self.graph, self.names) = (graph, names)
    let keys = Set(tasks.flatMap(graph.taskLocalKeys).compactMap { graph.heap.block(containing: $0)?.rawValue })
    guard !keys.isEmpty else { return }
    for root in graph.rootNodes {
      guard case .global = graph.root(root).kind else { continue }
      for edge in graph.graph.edges(from: root) {
        let target = graph.graph.target(of: edge)
        if keys.contains(target), roots[target] == nil { roots[target] = root }
      }
    }
  }

  /// Returns the key whose object is at an address. A `@TaskLocal` variable has the key in a second variable with a
  /// dollar sign.
  func key(at address: UInt64) -> TaskInventory.TaskLocalKey {
    guard let node = graph.heap.block(containing: address)?.rawValue else {
      return TaskInventory.TaskLocalKey(variable: nil, type: "TaskLocal")
    }
    let name = roots[node].map { names.origin($0, target: node).name }
    return TaskInventory.TaskLocalKey(variable: name.flatMap(Self.variable), type: graph.type(of: node).name)
  }

  /// Returns the variable of an origin such as `static Request.$id in server`; nil if the origin is another one.
  private static func variable(_ origin: String) -> String? {
    guard let dollar = origin.firstIndex(of: "$") else { return nil }
    let start = origin[..<dollar].lastIndex(of: " ").map { origin.index(after: $0) } ?? origin.startIndex
    let rest = origin[origin.index(after: dollar)...]
    return String(origin[start..<dollar]) + rest.prefix { $0 != " " }
  }
}
