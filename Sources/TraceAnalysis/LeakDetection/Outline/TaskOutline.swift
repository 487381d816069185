// The tasks of a heap image: the function that each is suspended in, and the object that can resume it.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Tasks by function and holder: tasks suspended in one function and held in one way form a group. A value.
package struct TaskOutline: Sendable {
  package struct Group: Sendable {
    /// The function that it resumes in; nil if that is not known.
    package var function: SourceFrame?
    /// The object or variable that leads to it, and so can resume it; nil if nothing does.
    package var holder: String?
    package var count: UInt64 = 0
    /// Bytes of the tasks themselves and of their functions' frames.
    package var bytes: UInt64 = 0
    /// Age of the oldest, in seconds; nil if the clock's rate is unknown.
    package var oldest: Double?
  }

  /// Most tasks first.
  package internal(set) var groups: [Group] = []
  /// Tasks that are in no group, since there are too many.
  package internal(set) var omittedCount: UInt64 = 0
}

extension LeakAnalysis {
  /// Limit of the tasks that are examined: each needs lookups of names.
  private static let taskLimit = 20_000
  /// Limit of the references back from a task to a named holder. More distant holders do not show who resumes it.
  private static let holderDistance = 16

  private struct TaskKey: Hashable {
    var function: SourceFrame?
    var holder: String?
  }

  /// The tasks of the heap image. O(blocks and references), and names for the tasks.
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

  /// The nearest object with a name that leads to a task, by its field; through closures and collections, which have
  /// none. A variable if there is no object on the way.
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
