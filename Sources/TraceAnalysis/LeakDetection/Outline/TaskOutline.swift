// The tasks of a heap image, with the functions that they are suspended in and the objects that can resume them.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Tasks by function and holder. Tasks that are suspended in one function and have equal holders form a group.
package struct TaskOutline: Sendable {
  package struct Group: Sendable {
    /// The function that the tasks resume in; nil if it is not known.
    package var function: SourceFrame?
    /// The object or variable that leads to the tasks, and so can resume them; nil if nothing leads to them.
    package var holder: String?
    package var count: UInt64 = 0
    /// Bytes of the tasks themselves and of their functions' frames.
    package var bytes: UInt64 = 0
    /// Age of the oldest task, in seconds; nil if the times of allocations or the clock's rate are unknown.
    package var oldest: Double?
  }

  /// The groups, in descending order of tasks.
  package internal(set) var groups: [Group] = []
  /// The number of tasks that were not examined because there are too many.
  package internal(set) var omittedCount: UInt64 = 0
}

extension LeakAnalysis {
  /// Maximum number of tasks that are examined, since each task needs look-ups of names.
  private static let taskLimit = 20_000
  /// Maximum number of references from a named holder to a task. A more distant holder does not show what can resume
  /// the task.
  private static let holderDistance = 16

  private struct TaskKey: Hashable {
    var function: SourceFrame?
    var holder: String?
  }

  /// Returns the tasks of the heap image. O(blocks and references), and one lookup of names per task.
  package func tasks() -> TaskOutline {
    var outline = TaskOutline()
    let tasks = (0..<NodeID(graph.blockCount)).filter { graph.type(of: $0).kind == .task }
    guard !tasks.isEmpty else { return outline }
    let names = self.names()
    let roots = graph.rootNodes
    let paths = RetainPaths(
      graph.graph, roots: roots, rootCosts: roots.map { Self.rootCost(graph.root($0).kind) }, kinds: ObjectGraph.owning,
      costs: LeakFinder.costs)
    var slabs: [NodeID: UInt64] = [:]
    for (slab, task) in graph.taskOfSlab { slabs[task, default: 0] &+= graph.heap[BlockID(slab)].size }
    var groups: [TaskKey: TaskOutline.Group] = [:]
    for task in tasks.prefix(Self.taskLimit) {
      let key = TaskKey(function: names.suspension(of: task), holder: holder(of: task, paths, names))
      let block = graph.heap[BlockID(task)]
      var group = groups[key] ?? TaskOutline.Group(function: key.function, holder: key.holder)
      group.count += 1
      group.bytes &+= block.size &+ (slabs[task] ?? 0)
      // An inspection does not have the times of allocations.
      if model.snapshot.reason != .inspection, let birth = model.trace.clock.seconds(at: block.birthTime),
        let now = model.trace.clock.seconds(at: model.snapshot.time)
      {
        group.oldest = max(group.oldest ?? 0, now - birth)
      }
      groups[key] = group
    }
    outline.groups = groups.values.sorted {
      ($1.count, $0.function?.function ?? "", $0.holder ?? "") < (
        $0.count, $1.function?.function ?? "", $1.holder ?? ""
      )
    }
    outline.omittedCount = UInt64(max(0, tasks.count - Self.taskLimit))
    return outline
  }

  /// Returns the name of the nearest object that leads to a task, with its field. Skips closures and collections.
  /// Returns a variable if there is no object on the way.
  private func holder(of task: NodeID, _ paths: RetainPaths, _ names: FindingNaming) -> String? {
    guard paths.reaches(task) else { return nil }
    var node = task
    var nearest: String?
    for _ in 0..<Self.holderDistance {
      let parent = paths.parents[node]
      guard parent != HeapGraph.noNode else { break }
      if graph.isRoot(parent) { return nearest ?? names.origin(parent, target: node).name }
      let type = graph.type(of: parent)
      if type.kind != .malloc, type.kind != .sideTable {
        let field = graph.label(graph.graph.label(of: paths.parentEdges[node]))?.name ?? ""
        let name = field.isEmpty || field.hasPrefix("[") ? type.name : "\(type.name).\(field)"
        if type.kind == .object || type.kind == .task { return name }
        if nearest == nil { nearest = name }
      }
      node = parent
    }
    return nearest ?? "memory of libraries"
  }
}
