// What the compiler left without a release, since control never comes back.

/// Objects that belong to functions which still run, or which ended the process by a call that does not return.
///
/// Behind a call that does not return, such as `exit`, `dispatchMain` or an endless loop, the compiler gives up what a function owns without a release, and
/// uses the place where the reference was for something else. Nothing leads to such an object, and still it is none that the program
/// lost: it lives as long as its function, which never returns. Seen with Swift 6.3.1, at -Onone and -O.
///
/// Of a place that makes several, one may belong to the function; so a place at which two objects were lost is a leak.
struct AbandonedValues {
  let graph: ObjectGraph
  let sites: AllocationSites
  let stacks: StackTree
  let activations: Activations
  /// Whether a frame has a function of the program's that is no initialiser.
  let isProgramFunction: (StackFrame) -> Bool
  /// Whether a strand's functions may still run.
  let isLive: (StrandID) -> Bool

  /// Of nodes that nothing reaches, those that belong to such functions, with all that they keep. `sources`: the nodes that none of the others leads to.
  func nodes(among unreachable: NodeSet) -> [NodeID] {
    var counts: [UInt32: Int] = [:]
    unreachable.forEach { if graph.type(of: $0).kind.isCounted { counts[site(of: $0), default: 0] += 1 } }
    var found: [NodeID] = []
    unreachable.forEach { node in
      if counts[site(of: node)] == 1, graph.type(of: node).kind.isCounted, graph.type(of: node).kind != .task, isOwnerRunning(graph.heap[BlockID(node)]) { found.append(node) }
    }
    return found
  }

  private func site(of node: NodeID) -> UInt32 { graph.heap[BlockID(node)].site.rawValue }

  /// The innermost function of the program's that was running when it was made has not been left since: control is still in the calls that its callers
  /// were in then.
  private func isOwnerRunning(_ block: LiveBlock) -> Bool {
    guard isLive(block.strand) else { return false }
    let shared = activations.sharedDepth(block.strand, since: block.ordinal)
    let site = sites[Int(block.site.rawValue)]
    guard let index = stacks.path(of: site.stack).frames.firstIndex(where: isProgramFunction) else { return false }
    let callers = Int(site.depth) - index - 1
    return callers > 0 && callers <= shared
  }
}
