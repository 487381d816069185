// Attributes each leaked object to its cause.

import HeapAnalysis
import TraceReading

/// For every component of unreachable nodes: the only cause that leads to the component, and the only group of causes.
///
/// If two causes lead to an object, it is freed only after both causes are fixed. If both causes are in one group, the
/// object counts for that group. Otherwise it counts for no group. Memory: 8 bytes a component.
struct CauseShares {
  /// The marker for components that several causes, or several groups, lead to.
  static let several: Int32 = -2
  private static let unvisited: Int32 = -1

  /// By component: the index of the cause, or `several`.
  private(set) var causes: [Int32]
  /// By component: the number of the group, or `several`.
  private(set) var groups: [Int32]

  /// `sources`: the causes. They are the components that no other component leads to. `group`: the number of each
  /// source's group. O(nodes + edges), since components are numbered so that edges lead to lower numbers.
  init(_ components: StronglyConnectedComponents, _ members: ComponentMembers, sources: [ComponentID], group: [Int32]) {
    var causes = [Int32](repeating: Self.unvisited, count: components.count)
    var groups = causes
    for (index, source) in sources.enumerated() {
      causes[Int(source)] = Int32(truncatingIfNeeded: index)
      groups[Int(source)] = group[index]
    }
    func join(_ own: inout Int32, _ other: Int32) { own = own == Self.unvisited || own == other ? other : Self.several }
    let graph = components.graph
    for component in stride(from: components.count - 1, through: 0, by: -1) {
      let (cause, group) = (causes[component], groups[component])
      members.forEach(of: ComponentID(component)) { node in
        for edge in graph.edges(from: node) where components.kinds.contains(EdgeKinds(kind: graph.kind(of: edge))) {
          let target = components.componentOfNode[graph.target(of: edge)]
          guard target != StronglyConnectedComponents.noComponent, Int(target) != component else { continue }
          join(&causes[Int(target)], cause)
          join(&groups[Int(target)], group)
        }
      }
    }
    (self.causes, self.groups) = (causes, groups)
  }
}

/// The causes of a heap's leaks. If several groups turn out to be one finding, the figures can be computed again.
final class LeakCauses {
  private let components: StronglyConnectedComponents
  private let members: ComponentMembers
  private let sources: [ComponentID]
  private let groups: [Int32]

  init(_ components: StronglyConnectedComponents, _ members: ComponentMembers, sources: [ComponentID], groups: [Int32])
  {
    (self.components, self.members, self.sources, self.groups) = (components, members, sources, groups)
  }

  /// Returns the sum of the blocks that each joined group retains. `joined`: by group, the number of the joined group.
  /// The sums are by that number. O(nodes + edges).
  func retained(joined: [Int32: Int32], _ heap: LiveHeap) -> [Int32: BlockSum] {
    let shares = CauseShares(
      components, members, sources: sources, group: groups.map { joined[$0] ?? CauseShares.several })
    var sums: [Int32: BlockSum] = [:]
    for component in 0..<components.count where shares.groups[component] >= 0 {
      members.forEach(of: ComponentID(component)) {
        sums[shares.groups[component], default: .init()].add(heap[BlockID($0)].size)
      }
    }
    return sums
  }
}
