// The heap as a directed graph.

/// A node's number, from 0 to the graph's node count less 1.
package typealias NodeID = UInt32
/// An edge's number, from 0 to the graph's edge count less 1, in the order of source nodes.
package typealias EdgeIndex = UInt32

/// An immutable directed graph in compressed rows: the edges of a node are adjacent, in the order of their insertion.
/// Parallel edges and edges from a node to itself are kept. The graph does not know the meaning of nodes, labels and
/// kinds, nor the sizes of nodes.
///
/// Made by `HeapGraphBuilder`. Memory: 4 bytes a node and 9 bytes an edge. Safe for concurrent use.
package final class HeapGraph: @unchecked Sendable {
  package let nodeCount: Int
  package let edgeCount: Int

  /// The index of each node's first edge, and `edgeCount` at the end. So a node's edges end at the next node's offset.
  let offsets: NodeTable<EdgeIndex>
  let targets: NodeTable<NodeID>
  let labels: NodeTable<UInt32>
  let kinds: NodeTable<UInt8>

  /// Node numbers from this one on are reserved for marker values such as `noNode`.
  static let maximumNodeCount = Int(Int32.max)
  /// Edge numbers from this one on are reserved for marker values such as `noEdge`.
  static let maximumEdgeCount = Int(UInt32.max) - 1
  /// The marker for no node.
  package static let noNode = NodeID.max
  /// The marker for no edge.
  package static let noEdge = EdgeIndex.max

  init(
    offsets: NodeTable<EdgeIndex>, targets: NodeTable<NodeID>, labels: NodeTable<UInt32>, kinds: NodeTable<UInt8>
  ) {
    nodeCount = offsets.count - 1
    edgeCount = targets.count
    (self.offsets, self.targets, self.labels, self.kinds) = (offsets, targets, labels, kinds)
  }

  /// Returns the edges that leave a node. Traps if there is no such node. Constant time.
  package func edges(from node: NodeID) -> Range<EdgeIndex> {
    precondition(Int(node) < nodeCount, "no such node")
    return offsets.start[Int(node)]..<offsets.start[Int(node) + 1]
  }

  /// Returns the node that an edge leads to. Traps if there is no such edge. Constant time.
  package func target(of edge: EdgeIndex) -> NodeID { targets[edge] }

  /// Returns the label that the edge was added with. Traps if there is no such edge. Constant time.
  package func label(of edge: EdgeIndex) -> UInt32 { labels[edge] }

  /// Returns the edge's kind, below `EdgeKinds.count`. Traps if there is no such edge. Constant time.
  package func kind(of edge: EdgeIndex) -> UInt8 { kinds[edge] }

  /// Returns the node that an edge leaves. Traps if there is no such edge. O(log nodes), by binary search.
  package func source(of edge: EdgeIndex) -> NodeID {
    precondition(Int(edge) < edgeCount, "no such edge")
    // Find the last node whose edges begin at or before this edge. A node without edges has the same offset as the next
    // node, so it is not the last.
    var (low, high) = (0, nodeCount)
    while high - low > 1 {
      let middle = (low + high) / 2
      if offsets.start[middle] <= edge { low = middle } else { high = middle }
    }
    return NodeID(low)
  }

  /// All nodes. O(nodes).
  package var allNodes: NodeSet { NodeSet(bound: nodeCount).complement }
}

/// The part of a graph that an algorithm works on: edges of some kinds between nodes of a set. It has unsafe pointers,
/// so its user must keep the graph and the set alive.
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

  /// Returns whether an edge's kind is included. Does not check the edge's ends.
  @inline(__always)
  func follows(_ edge: Int) -> Bool { allowsEveryKind || kindBits &>> UInt32(kinds[edge]) & 1 != 0 }

  @inline(__always)
  func edges(from node: NodeID) -> Range<Int> {
    Range(uncheckedBounds: (Int(offsets[Int(node)]), Int(offsets[Int(node) &+ 1])))
  }

  /// Returns whether a node that a caller passed is in the set. Traps if there is no such node.
  func admits(_ root: NodeID) -> Bool {
    precondition(Int(root) < nodeCount, "no such node")
    return contains(root)
  }
}
