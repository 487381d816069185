// Sets of nodes that reach each other.

/// A component's number, from 0 to the number of components less 1.
package typealias ComponentID = UInt32

/// The strongly connected components of a part of a graph, numbered in reverse topological order. An edge that leaves a
/// component leads to a component with a lower number.
///
/// Memory: 4 bytes for each node of the subset, in whole pages, and 4 bytes for each component. The search takes up to
/// 16 bytes more for each node of the subset. Safe for concurrent use.
///
/// After D. J. Pearce, "A space-efficient algorithm for finding strongly connected components", IPL 116 (2016), with
/// explicit stacks instead of recursion.
package final class StronglyConnectedComponents: @unchecked Sendable {
  package let graph: HeapGraph
  package let kinds: EdgeKinds
  /// The nodes of all components; nil means all nodes of the graph.
  package let subset: NodeSet?

  package let componentOfNode: ComponentTable
  /// The number of nodes of each component.
  package let sizes: NodeTable<UInt32>
  /// The components with a cycle: they have more than one node, or a node with an edge to itself.
  package let nontrivial: NodeSet

  package var count: Int { sizes.count }

  package static let noComponent = ComponentID.max

  /// Finds the components over edges of some kinds between nodes of `subset`; nil means all nodes. `subset` must not
  /// change later. O(nodes + edges).
  package init(_ graph: HeapGraph, kinds: EdgeKinds = .all, within subset: NodeSet? = nil) {
    let scope = GraphScope(graph, kinds: kinds, within: subset)
    (self.graph, self.kinds, self.subset) = (graph, kinds, subset)
    let table = NodeTable<UInt32>(zeroed: graph.nodeCount)
    let search = Self.search(scope, table.start, graph.nodeCount)
    (componentOfNode, sizes, nontrivial) = (ComponentTable(following: table), search.sizes, search.nontrivial)
  }

  private struct Frame: BitwiseCopyable {
    var node: NodeID
    /// The number that the node got when the search entered it.
    var visit: UInt32
    var edge: UInt32
  }

  /// Writes the component of each node of the scope, plus 1, to `table`, which must be all 0.
  ///
  /// During the search, the value of a node in `table` depends on its progress:
  ///
  /// - 0 before the node is entered;
  /// - after that, the lowest visit number that the node is known to reach;
  /// - the number of its component, after the component is complete.
  ///
  /// Component numbers count down from the highest value, so they stay above all visit numbers.
  private static func search(
    _ scope: GraphScope, _ table: UnsafeMutablePointer<UInt32>, _ nodeCount: Int
  ) -> (sizes: NodeTable<UInt32>, nontrivial: NodeSet) {
    let firstComponent = UInt32.max - 1
    var component = firstComponent
    var visits: UInt32 = 0
    var frames = GrowingStack<Frame>()
    /// Nodes whose edges were all followed, but whose component is not complete.
    var open = GrowingStack<NodeID>()
    var sizes = GrowingStack<UInt32>()
    let selfReferring = NodeSet(bound: nodeCount)

    for start in 0..<UInt32(nodeCount) where scope.contains(start) && table[Int(start)] == 0 {
      visits &+= 1
      table[Int(start)] = visits
      frames.push(Frame(node: start, visit: visits, edge: scope.offsets[Int(start)]))
      while !frames.isEmpty {
        let top = frames.start + (frames.count &- 1)
        let node = top.pointee.node
        var edge = Int(top.pointee.edge)
        let end = Int(scope.offsets[Int(node) &+ 1])
        var lowest = table[Int(node)]
        var child = HeapGraph.noNode
        while edge < end {
          if scope.follows(edge) {
            let target = scope.targets[edge]
            if scope.contains(target) {
              let value = table[Int(target)]
              if value == 0 {
                // The edge is read again after the child is finished. The child's value then shows which nodes the
                // child can reach.
                child = target
                break
              }
              if value < lowest { lowest = value }
              if target == node { _ = NodeSet.insert(node, into: selfReferring.words) }
            }
          }
          edge &+= 1
        }
        table[Int(node)] = lowest
        if child != HeapGraph.noNode {
          top.pointee.edge = UInt32(truncatingIfNeeded: edge)
          visits &+= 1
          table[Int(child)] = visits
          frames.push(Frame(node: child, visit: visits, edge: scope.offsets[Int(child)]))
          continue
        }
        let visit = top.pointee.visit
        _ = frames.pop()
        if lowest != visit {
          open.push(node)
          continue
        }
        // This node was the first of its component to be entered. The other nodes of the component were pushed to
        // `open` since then.
        var size: UInt32 = 1
        while !open.isEmpty, table[Int(open.start[open.count &- 1])] >= visit {
          table[Int(open.pop())] = component
          size &+= 1
        }
        table[Int(node)] = component
        component &-= 1
        sizes.push(size)
      }
    }

    let nontrivial = NodeSet(bound: sizes.count)
    for node in 0..<UInt32(nodeCount) where scope.contains(node) {
      let number = firstComponent &- table[Int(node)]
      table[Int(node)] = number &+ 1
      if sizes.start[Int(number)] > 1 || selfReferring.contains(node) {
        _ = NodeSet.insert(number, into: nontrivial.words)
      }
    }
    let sizeTable = NodeTable<UInt32>(uninitialized: sizes.count)
    sizeTable.start.update(from: sizes.start, count: sizes.count)
    return (sizeTable, nontrivial)
  }

  /// Returns the components without an incoming edge from another component, over the same edges and nodes. Paths
  /// through the condensed graph begin at these components. O(nodes + edges).
  package func sources() -> NodeSet {
    let held = NodeSet(bound: count)
    let scope = GraphScope(graph, kinds: kinds, within: subset)
    let table = componentOfNode
    for node in 0..<UInt32(graph.nodeCount) where scope.contains(node) {
      let own = table.unchecked(node)
      for edge in scope.edges(from: node) where scope.follows(edge) {
        let other = table.unchecked(scope.targets[edge])
        if other != own && other != Self.noComponent { _ = NodeSet.insert(other, into: held.words) }
      }
    }
    withExtendedLifetime(self) {}
    return held.complement
  }
}

/// The component of each node. Safe for concurrent use.
package struct ComponentTable: Sendable {
  /// The number of each node's component, plus 1; 0 for nodes without a component. Pages that hold only zeros take no
  /// memory.
  private let following: NodeTable<UInt32>

  init(following: NodeTable<UInt32>) { self.following = following }

  var count: Int { following.count }

  /// The component of a node; `StronglyConnectedComponents.noComponent` for nodes outside the subset. Traps if there is
  /// no such node. Constant time.
  package subscript(_ node: NodeID) -> ComponentID { @inline(__always) get { following[node] &- 1 } }

  /// Like the subscript, for a node that must exist.
  @inline(__always) func unchecked(_ node: NodeID) -> ComponentID { following.start[Int(node)] &- 1 }
}

/// The nodes of each component. Memory: 4 bytes a node and 4 bytes a component. Safe for concurrent use.
package final class ComponentMembers: @unchecked Sendable {
  private let offsets: NodeTable<UInt32>
  private let nodes: NodeTable<NodeID>

  /// Lists the nodes of each component. O(nodes), by counting sort.
  package init(_ components: StronglyConnectedComponents) {
    let offsets = NodeTable<UInt32>(uninitialized: components.count + 1)
    var end: UInt32 = 0
    for component in 0..<components.count {
      end += components.sizes.start[component]
      offsets.start[component] = end
    }
    offsets.start[components.count] = end
    let nodes = NodeTable<NodeID>(uninitialized: Int(end))
    // Rows are filled from the end, so each offset moves down to its row's beginning.
    let table = components.componentOfNode
    for node in stride(from: table.count - 1, through: 0, by: -1) {
      let component = table.unchecked(NodeID(truncatingIfNeeded: node))
      if component == StronglyConnectedComponents.noComponent { continue }
      offsets.start[Int(component)] &-= 1
      nodes.start[Int(offsets.start[Int(component)])] = NodeID(truncatingIfNeeded: node)
    }
    (self.offsets, self.nodes) = (offsets, nodes)
  }

  /// Returns the number of a component's nodes; traps if there is no such component. Constant time.
  package func count(of component: ComponentID) -> Int {
    let begin = offsets[component]
    return Int(offsets[component + 1] - begin)
  }

  /// Returns the node at `index` of a component, in ascending order of nodes. Traps if there is none. Constant time.
  package func node(_ index: Int, of component: ComponentID) -> NodeID {
    precondition(index >= 0 && index < count(of: component), "no such member")
    return nodes.start[Int(offsets[component]) + index]
  }

  /// Calls `body` with the nodes of a component in ascending order; traps if there is no such component.
  package func forEach(of component: ComponentID, _ body: (NodeID) -> Void) {
    let begin = offsets[component]
    for place in Int(begin)..<Int(offsets[component + 1]) { body(nodes.start[place]) }
  }
}
