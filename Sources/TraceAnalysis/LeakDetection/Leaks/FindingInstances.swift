// The instances of a finding: one object for each instance, and the place that allocated all of them.

import HeapAnalysis
import TraceReading

/// Finds the instances of groups of leaked objects, and the place that allocated them.
struct FindingInstances {
  private let graph: ObjectGraph

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Returns an object for each instance. If the instances are cycles, the group's members may be any objects of the
  /// cycles. For such a member, returns the nearest object whose type is the type of the path's first object.
  func nodes(of group: LeakGroup) -> [NodeID] {
    guard group.isCycle, let first = group.steps.first?.node, !graph.isRoot(first) else {
      return group.members.map(\.node)
    }
    let type = graph.nodeTypes[Int(first)]
    var spareVisits = Self.searchedInAll
    return group.members.map { member in
      var queue = [member.node]
      var seen: Set<NodeID> = [member.node]
      var next = 0
      while next < queue.count {
        if graph.nodeTypes[Int(queue[next])] == type { return queue[next] }
        for edge in graph.graph.edges(from: queue[next]) where queue.count < Self.searchedObjects && spareVisits > 0 {
          spareVisits -= 1
          let target = graph.graph.target(of: edge)
          if !graph.isRoot(target), ObjectGraph.keeping.rawValue >> graph.graph.kind(of: edge) & 1 != 0,
            seen.insert(target).inserted
          {
            queue.append(target)
          }
        }
        next += 1
      }
      return member.node
    }
  }

  /// Maximum number of objects searched around one member of a cycle.
  private static let searchedObjects = 256
  /// Maximum number of references followed for all of a finding's instances.
  private static let searchedInAll = 1 << 22

  /// Returns the place of the object in the finding's title. All instances of a group come from the same places.
  func place(of group: LeakGroup, _ path: [Finding.Step]) -> Finding.Place? {
    guard let step = group.verdict == .deinitialised ? path.last : path.first, !group.members.isEmpty else {
      return nil
    }
    // A member of a cycle may be any of its objects, so ignore the sizes of members.
    let sizes = group.isCycle ? [step.size.rawValue] : group.members.map { graph.heap[BlockID($0.node)].size }
    return Finding.Place(
      allocation: step.allocation, ownAllocation: step.ownAllocation, stack: step.stack, instances: group.instances,
      retainedBytes: ByteCount(group.retainedBytes),
      retainedBlocks: group.retainedBlocks, smallest: ByteCount(sizes.min() ?? 0), largest: ByteCount(sizes.max() ?? 0))
  }
}
