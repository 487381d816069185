// Objects that the compiler never releases, since their function never returns.

import HeapAnalysis
import TraceReading

/// Finds unreachable objects that belong to a function that has not returned. The function still runs, or it ended the
/// process.
///
/// Before a call that does not return, such as `exit` or `dispatchMain`, the compiler drops the function's references
/// without a release, and reuses their locations. No reference then leads to such an object. But the program has not
/// lost the object: it lives as long as its function, which never returns. See docs/engineering/runtimes.md.
///
/// Three kinds of such objects count as leaks nevertheless:
///
/// - objects of a place that made several lost objects, since the function owns only one of them;
/// - objects of a class with another lost object that belongs to no function, and the keepers of such objects;
/// - objects that a lost object holds.
struct AbandonedValues {
  let graph: ObjectGraph
  let sites: AllocationSites
  let stacks: StackTree
  let activations: Activations
  /// Returns whether a frame has a function of the program that is not an initialiser.
  let isProgramFunction: (StackFrame) -> Bool
  /// Returns whether an execution's functions may still run.
  let isLive: (ExecutionID) -> Bool

  /// Returns the nodes of `unreachable` that belong to a function that has not returned. Linear in the nodes.
  func nodes(among unreachable: NodeSet) -> [NodeID] {
    var counts: [UInt32: Int] = [:]
    unreachable.forEach { if graph.type(of: $0).kind.isCounted { counts[site(of: $0), default: 0] += 1 } }
    let held = NodeSet(bound: graph.graph.nodeCount)
    unreachable.forEach { node in
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.keeping.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        held.insert(graph.graph.target(of: edge))
      }
    }
    var found: [NodeID] = []
    unreachable.forEach { node in
      let kind = graph.type(of: node).kind
      if counts[site(of: node)] == 1, !held.contains(node), kind.isCounted, kind != .task,
        isOwnerRunning(graph.heap[BlockID(node)])
      {
        found.append(node)
      }
    }
    if found.isEmpty { return [] }
    let kept = graph.graph.reachable(from: found, kinds: ObjectGraph.owning)
    var lost: Set<UInt32> = []
    unreachable.forEach { if !kept.contains($0), isClass(graph.type(of: $0)) { lost.insert(graph.nodeTypes[Int($0)]) } }
    if lost.isEmpty { return found }
    return found.prefix(Self.limit).filter { node in
      var keepsLost = false
      graph.graph.reachable(from: [node], kinds: ObjectGraph.owning).forEach {
        if lost.contains(graph.nodeTypes[Int($0)]) { keepsLost = true }
      }
      return !keepsLost
    }
  }

  /// Maximum number of nodes that are returned if other objects are lost. Functions own only few values.
  private static let limit = 256

  /// Returns whether a type is a class of a module other than `Swift`. String storage, for example, does not show what
  /// the object is for.
  private func isClass(_ type: NodeType) -> Bool {
    type.kind == .object && !type.module.isEmpty && type.module != "Swift"
  }

  private func site(of node: NodeID) -> UInt32 { graph.heap[BlockID(node)].site.rawValue }

  /// Returns whether the function that made the block has not returned since the allocation. This holds if its callers'
  /// calls are still the same. The function is the program's innermost function on the stack.
  ///
  /// Also returns true if the allocation was not recorded. Any function may own such a block, so the block is not
  /// reported.
  private func isOwnerRunning(_ block: LiveBlock) -> Bool {
    let site = sites[Int(block.site.rawValue)]
    if site.depth == 0 { return true }
    guard isLive(block.execution) else { return false }
    let shared = activations.sharedDepth(block.execution, since: block.ordinal)
    guard let index = stacks.path(of: site.stack).frames.firstIndex(where: isProgramFunction) else { return false }
    let callers = Int(site.depth) - index - 1
    return callers > 0 && callers <= shared
  }
}
