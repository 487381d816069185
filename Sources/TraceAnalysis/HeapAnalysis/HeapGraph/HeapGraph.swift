// The heap as a directed graph.

/// A node's number: 0 up to the graph's node count.
package typealias NodeID = UInt32
/// An edge's number: 0 up to the graph's edge count, in the order of source nodes.
package typealias EdgeIndex = UInt32

/// An immutable directed graph in compressed rows: the edges of a node lie side by side, in the order of their
/// insertion. Parallel edges and edges from a node to itself are kept. The graph does not know the meaning of nodes,
/// labels and kinds, nor a node's size.
///
/// Made by `HeapGraphBuilder`. Memory: 4 bytes a node and 9 bytes an edge. Any number of threads may use it at once.
package final class HeapGraph: @unchecked Sendable {
  package let nodeCount: Int
  package let edgeCount: Int

  /// `nodeCount + 1` of them: the index of each node's first edge, which ends the edges of the node before.
  let offsets: NodeTable<EdgeIndex>
  let targets: NodeTable<NodeID>
  let labels: NodeTable<UInt32>
  let kinds: NodeTable<UInt8>

  /// Numbers from here on are not nodes but marks, such as `noNode`.
  package static let maximumNodeCount = Int(Int32.max)
  /// Edge numbers from here on are not edges but marks, such as `noEdge`.
  package static let maximumEdgeCount = Int(UInt32.max) - 1
  /// Stands where there is no node.
  package static let noNode = NodeID.max
  /// Stands where there is no edge.
  package static let noEdge = EdgeIndex.max

  init(
    offsets: NodeTable<EdgeIndex>, targets: NodeTable<NodeID>, labels: NodeTable<UInt32>, kinds: NodeTable<UInt8>
  ) {
    nodeCount = offsets.count - 1
    edgeCount = targets.count
    (self.offsets, self.targets, self.labels, self.kinds) = (offsets, targets, labels, kinds)
  }

  /// The edges that leave a node; traps if there is no such node. Constant time.
  package func edges(from node: NodeID) -> Range<EdgeIndex> {
    precondition(Int(node) < nodeCount, "no such node")
    return offsets.start[Int(node)]..<offsets.start[Int(node) + 1]
  }

  /// The node an edge points to; traps if there is no such edge. Constant time.
  package func target(of edge: EdgeIndex) -> NodeID { targets[edge] }

  /// The label that the builder was given with the edge; traps if there is no such edge. Constant time.
  package func label(of edge: EdgeIndex) -> UInt32 { labels[edge] }

  /// The edge's kind, below `EdgeKinds.count`; traps if there is no such edge. Constant time.
  package func kind(of edge: EdgeIndex) -> UInt8 { kinds[edge] }

  /// The node an edge leaves; traps if there is no such edge. O(log nodes), by binary search.
  package func source(of edge: EdgeIndex) -> NodeID {
    precondition(Int(edge) < edgeCount, "no such edge")
    // The last node whose edges begin at or before this one; nodes without edges share their successor's beginning.
    var (low, high) = (0, nodeCount)
    while high - low > 1 {
      let middle = (low + high) / 2
      if offsets.start[middle] <= edge { low = middle } else { high = middle }
    }
    return NodeID(low)
  }

  /// Every node. O(nodes).
  package var allNodes: NodeSet { NodeSet(bound: nodeCount).complement }
}

/// The part of a graph an algorithm works on, as bare pointers: some kinds of edges, between nodes of a set. For use
/// while its maker keeps the graph and the set alive.
struct GraphScope {
  let offsets: UnsafeMutablePointer<EdgeIndex>
  let targets: UnsafeMutablePointer<NodeID>
  let kinds: UnsafeMutablePointer<UInt8>
  private let kindBits: UInt32
  private let allowsEveryKind: Bool
  private let subset: UnsafeMutablePointer<UInt64>?
  private let nodeCount: Int

  init(_ graph: HeapGraph, kinds: EdgeKinds, within subset: NodeSet?) {
    precondition(subset == nil || subset!.bound == graph.nodeCount, "a set for another graph")
    offsets = graph.offsets.start
    targets = graph.targets.start
    self.kinds = graph.kinds.start
    kindBits = UInt32(kinds.rawValue)
    allowsEveryKind = kinds == .all
    self.subset = subset?.words
    nodeCount = graph.nodeCount
  }

  /// Returns whether a node of the graph is in the set.
  @inline(__always)
  func contains(_ node: NodeID) -> Bool {
    guard let subset else { return true }
    return subset[Int(node) &>> 6] &>> UInt64(node & 63) & 1 != 0
  }

  /// Returns whether the set includes an edge's kind; ignores the edge's ends.
  @inline(__always)
  func follows(_ edge: Int) -> Bool { allowsEveryKind || kindBits &>> UInt32(kinds[edge]) & 1 != 0 }

  @inline(__always)
  func edges(from node: NodeID) -> Range<Int> {
    Range(uncheckedBounds: (Int(offsets[Int(node)]), Int(offsets[Int(node) &+ 1])))
  }

  /// Returns whether a caller's number is a node in the set. Traps if it is no node.
  func admits(_ root: NodeID) -> Bool {
    precondition(Int(root) < nodeCount, "no such node")
    return contains(root)
  }
}
