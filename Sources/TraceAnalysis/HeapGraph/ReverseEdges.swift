// Who points to a node.

/// The edges of a graph by their targets. Made on demand. Memory: 4 bytes a node and 8 bytes an edge taken in. Any number of threads may
/// use it at once.
public final class ReverseEdges: @unchecked Sendable {
  private let offsets: NodeTable<UInt32>
  private let sources: NodeTable<NodeID>
  private let edges: NodeTable<EdgeIndex>

  /// Takes in the edges of some kinds whose ends are both in `subset`; nil means all nodes. O(nodes + edges).
  public init(_ graph: HeapGraph, kinds: EdgeKinds = .all, within subset: NodeSet? = nil) {
    let nodeCount = graph.nodeCount
    let offsets = NodeTable<UInt32>(repeating: 0, count: nodeCount + 1)
    let scope = GraphScope(graph, kinds: kinds, within: subset)
    Self.forEachEdge(scope, nodeCount) { _, target, _ in offsets.start[Int(target)] &+= 1 }
    // Each is at first where its row ends, and moves down to where it begins as the row fills from behind.
    var end: UInt32 = 0
    for node in 0...nodeCount {
      end += offsets.start[node]
      offsets.start[node] = end
    }
    let (sources, edges) = (NodeTable<NodeID>(uninitialized: Int(end)), NodeTable<EdgeIndex>(uninitialized: Int(end)))
    Self.forEachEdge(scope, nodeCount) { source, target, edge in
      let place = Int(offsets.start[Int(target)] &- 1)
      offsets.start[Int(target)] = UInt32(truncatingIfNeeded: place)
      sources.start[place] = source
      edges.start[place] = EdgeIndex(truncatingIfNeeded: edge)
    }
    (self.offsets, self.sources, self.edges) = (offsets, sources, edges)
    withExtendedLifetime((graph, subset)) {}
  }

  /// Goes from the last edge to the first, so that rows filled from behind are in ascending order.
  @inline(__always)
  private static func forEachEdge(_ scope: GraphScope, _ nodeCount: Int, _ body: (NodeID, NodeID, Int) -> Void) {
    var node = nodeCount
    while node > 0 {
      node &-= 1
      let source = NodeID(truncatingIfNeeded: node)
      if !scope.contains(source) { continue }
      let row = scope.edges(from: source)
      var edge = row.upperBound
      while edge > row.lowerBound {
        edge &-= 1
        if scope.follows(edge), scope.contains(scope.targets[edge]) { body(source, scope.targets[edge], edge) }
      }
    }
  }

  /// How many of the edges taken in point to a node; traps if there is no such node. Constant time.
  public func count(to node: NodeID) -> Int {
    let begin = offsets[node]
    return Int(offsets[node + 1] - begin)
  }

  /// Calls `body` with the source and the number of every edge to a node, in ascending order; traps if there is no such node.
  public func forEach(to node: NodeID, _ body: (_ source: NodeID, _ edge: EdgeIndex) -> Void) {
    let begin = offsets[node]
    for place in Int(begin)..<Int(offsets[node + 1]) { body(sources.start[place], edges.start[place]) }
  }
}
