// Objects that the compiler left without a release, since control never comes back.

import HeapAnalysis
import TraceReading

/// Finds objects that belong to functions which still run, or which ended the process by a call that does not return.
///
/// At a call that does not return, such as `exit` or `dispatchMain`, the compiler gives up a function's values without
/// a release, and reuses the location of the reference. Nothing leads to such an object any more, and still the program
/// has not lost it: it lives as long as its function, which never returns. See docs/engineering/runtimes.md.
///
/// If a place makes several objects, one may belong to the function, so a place with two lost objects is a leak. If
/// other lost objects of its class belong to no function, this one is lost as well. And objects that hold one another
/// form a leak wherever they were made.
struct AbandonedValues {
  let graph: ObjectGraph
  let sites: AllocationSites
  let stacks: StackTree
  let activations: Activations
  /// Returns whether a frame has a function of the program that is not an initialiser.
  let isProgramFunction: (StackFrame) -> Bool
  /// Returns whether a strand's functions may still run.
  let isLive: (StrandID) -> Bool

  /// Returns the unreachable nodes that belong to such functions. Linear in the nodes.
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

  /// Functions own few values: only this number of them is examined.
  private static let limit = 256

  /// A class that says what its objects are for; a string's storage does not.
  private func isClass(_ type: NodeType) -> Bool {
    type.kind == .object && !type.module.isEmpty && type.module != "Swift"
  }

  private func site(of node: NodeID) -> UInt32 { graph.heap[BlockID(node)].site.rawValue }

  /// Returns whether the innermost function of the program that made the block has not returned since: control is still
  /// in the calls that its callers were in then.
  ///
  /// If the allocation was not recorded, any function may own the block, so it is not reported.
  private func isOwnerRunning(_ block: LiveBlock) -> Bool {
    let site = sites[Int(block.site.rawValue)]
    if site.depth == 0 { return true }
    guard isLive(block.strand) else { return false }
    let shared = activations.sharedDepth(block.strand, since: block.ordinal)
    guard let index = stacks.path(of: site.stack).frames.firstIndex(where: isProgramFunction) else { return false }
    let callers = Int(site.depth) - index - 1
    return callers > 0 && callers <= shared
  }
}
