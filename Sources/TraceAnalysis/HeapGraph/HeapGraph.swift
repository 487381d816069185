// The heap as a directed graph.

/// A node's number: 0 up to the graph's node count.
public typealias NodeID = UInt32
/// An edge's number: 0 up to the graph's edge count, in the order of source nodes.
public typealias EdgeIndex = UInt32

/// An immutable directed graph in compressed rows: the edges of a node lie side by side, in the order in which they were added. Parallel
/// edges and edges from a node to itself are kept. What nodes, labels and kinds stand for, and how large a node is, the graph does not
/// know.
///
/// Made by `HeapGraphBuilder`. Memory: 4 bytes a node and 9 bytes an edge. Any number of threads may use it at once.
public final class HeapGraph: @unchecked Sendable {
  public let nodeCount: Int
  public let edgeCount: Int

  /// `nodeCount + 1` of them: where a node's edges begin, and so where the last one's end.
  let offsets: NodeTable<EdgeIndex>
  let targets: NodeTable<NodeID>
  let labels: NodeTable<UInt32>
  let kinds: NodeTable<UInt8>

  /// Numbers from here on are not nodes but marks, such as `noNode`.
  public static let maximumNodeCount = Int(Int32.max)
  /// Edge numbers from here on are not edges but marks, such as `noEdge`.
  public static let maximumEdgeCount = Int(UInt32.max) - 1
  /// Stands where there is no node.
  public static let noNode = NodeID.max
  /// Stands where there is no edge.
  public static let noEdge = EdgeIndex.max

  init(
    offsets: NodeTable<EdgeIndex>, targets: NodeTable<NodeID>, labels: NodeTable<UInt32>, kinds: NodeTable<UInt8>
  ) {
    nodeCount = offsets.count - 1
    edgeCount = targets.count
    (self.offsets, self.targets, self.labels, self.kinds) = (offsets, targets, labels, kinds)
  }

  /// The edges that leave a node; traps if there is no such node. Constant time.
  public func edges(from node: NodeID) -> Range<EdgeIndex> {
    precondition(Int(node) < nodeCount, "no such node")
    return offsets.start[Int(node)]..<offsets.start[Int(node) + 1]
  }

  /// The node an edge points to; traps if there is no such edge. Constant time.
  public func target(of edge: EdgeIndex) -> NodeID { targets[edge] }

  /// What the builder was given with the edge; traps if there is no such edge. Constant time.
  public func label(of edge: EdgeIndex) -> UInt32 { labels[edge] }

  /// The edge's kind, below `EdgeKinds.count`; traps if there is no such edge. Constant time.
  public func kind(of edge: EdgeIndex) -> UInt8 { kinds[edge] }

  /// The node an edge leaves; traps if there is no such edge. O(log nodes), by binary search.
  public func source(of edge: EdgeIndex) -> NodeID {
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
  public var allNodes: NodeSet { NodeSet(bound: nodeCount).complement }
}

/// The part of a graph an algorithm works on, as bare pointers: some kinds of edges, between nodes of a set. For use while whoever made it
/// keeps the graph and the set alive.
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

  /// Whether a node of the graph is in the set.
  @inline(__always)
  func contains(_ node: NodeID) -> Bool {
    guard let subset else { return true }
    return subset[Int(node) &>> 6] &>> UInt64(node & 63) & 1 != 0
  }

  /// Whether an edge is of a kind to be followed; its ends are not looked at.
  @inline(__always)
  func follows(_ edge: Int) -> Bool { allowsEveryKind || kindBits &>> UInt32(kinds[edge]) & 1 != 0 }

  @inline(__always)
  func edges(from node: NodeID) -> Range<Int> {
    Range(uncheckedBounds: (Int(offsets[Int(node)]), Int(offsets[Int(node) &+ 1])))
  }

  /// Whether a number from outside is a node, and in the set. Traps if it is none.
  func admits(_ root: NodeID) -> Bool {
    precondition(Int(root) < nodeCount, "no such node")
    return contains(root)
  }
}
