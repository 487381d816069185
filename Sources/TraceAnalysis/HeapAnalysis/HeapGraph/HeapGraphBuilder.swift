// The making of graphs.

/// Collects edges and makes a `HeapGraph` of them. Edges may come in any order; while they come in the order of their
/// sources, 4 bytes an edge are saved. For one thread at a time.
///
/// Memory: 4 bytes a node, and 9 bytes an edge, or 13 once a source came out of order, and up to half as much again
/// that is reserved but not touched; while building the graph's own memory as well.
package final class HeapGraphBuilder {
  package let nodeCount: Int
  /// The highest number of edges.
  package let edgeLimit: Int
  /// The number of edges left out because there were `edgeLimit` already.
  package private(set) var refusedEdgeCount = 0

  /// The number of edges that leave each node.
  private let degrees: NodeTable<UInt32>
  private var sources = GrowingStack<NodeID>()
  private var targets: GrowingStack<NodeID>
  private var labels: GrowingStack<UInt32>
  private var kinds: GrowingStack<UInt8>
  private var lastSource: NodeID = 0
  /// As long as it is true, `sources` is empty: `degrees` say it all.
  private var isInOrder = true

  /// A builder for a graph of `nodeCount` nodes, at most `HeapGraph.maximumNodeCount` (traps beyond), and no edges yet.
  /// `expectedEdges` is a hint.
  package init(nodeCount: Int, expectedEdges: Int = 0, edgeLimit: Int = HeapGraph.maximumEdgeCount) {
    precondition(nodeCount >= 0 && nodeCount <= HeapGraph.maximumNodeCount, "too many nodes")
    self.nodeCount = nodeCount
    self.edgeLimit = min(edgeLimit, HeapGraph.maximumEdgeCount)
    degrees = NodeTable(repeating: 0, count: nodeCount)
    let capacity = min(expectedEdges, self.edgeLimit)
    targets = GrowingStack(capacity: capacity)
    labels = GrowingStack(capacity: capacity)
    kinds = GrowingStack(capacity: capacity)
  }

  package var edgeCount: Int { targets.count }

  /// Adds an edge between two nodes; traps if there is no such node or kind. `label` is given back by
  /// `HeapGraph.label`. Beyond
  /// `edgeLimit` the edge is counted and left out. Amortised constant time, but for the first edge whose source is
  /// lower than the last one's: O(nodes + edges).
  @inline(__always)
  package func addEdge(from source: NodeID, to target: NodeID, label: UInt32 = 0, kind: UInt8 = 0) {
    precondition(Int(source) < nodeCount && Int(target) < nodeCount, "no such node")
    precondition(kind < EdgeKinds.count, "no such edge kind")
    if targets.count >= edgeLimit {
      refusedEdgeCount += 1
      return
    }
    if isInOrder && source < lastSource { writeOutSources() }
    if !isInOrder { sources.push(source) }
    lastSource = source
    degrees.start[Int(source)] &+= 1
    targets.push(target)
    labels.push(label)
    kinds.push(kind)
  }

  /// Returns the number of edges of a kind that lead to each node, so far. O(nodes + edges).
  func edgeCounts(ofKind kind: UInt8) -> NodeTable<UInt32> {
    let counts = NodeTable<UInt32>(repeating: 0, count: nodeCount)
    for edge in 0..<edgeCount where kinds.start[edge] == kind { counts.start[Int(targets.start[edge])] &+= 1 }
    return counts
  }

  private func writeOutSources() {
    for node in 0..<nodeCount {
      for _ in 0..<degrees.start[node] { sources.push(NodeID(node)) }
    }
    isInOrder = false
  }

  /// The graph of the edges added; the builder is empty afterwards and may be used again. A node's edges keep their
  /// order.
  /// O(nodes + edges), by counting sort.
  package func build() -> HeapGraph {
    let edgeCount = targets.count
    let offsets = NodeTable<EdgeIndex>(uninitialized: nodeCount + 1)
    var next: EdgeIndex = 0
    for node in 0..<nodeCount {
      offsets.start[node] = next
      next += degrees.start[node]
    }
    offsets.start[nodeCount] = next

    let graph = HeapGraph(
      offsets: offsets, targets: NodeTable(uninitialized: edgeCount), labels: NodeTable(uninitialized: edgeCount),
      kinds: NodeTable(uninitialized: edgeCount))
    if isInOrder {
      graph.targets.start.update(from: targets.start, count: edgeCount)
      graph.labels.start.update(from: labels.start, count: edgeCount)
      graph.kinds.start.update(from: kinds.start, count: edgeCount)
    } else {
      // The rest of a node's degree tells the next free one of its places, counted from the first.
      let remaining = degrees.start
      let (sources, targets, labels, kinds) = (sources.start, targets.start, labels.start, kinds.start)
      for edge in 0..<edgeCount {
        let source = Int(sources[edge])
        let place = Int(offsets.start[source + 1] &- remaining[source])
        remaining[source] &-= 1
        graph.targets.start[place] = targets[edge]
        graph.labels.start[place] = labels[edge]
        graph.kinds.start[place] = kinds[edge]
      }
    }
    sources = GrowingStack()
    targets = GrowingStack()
    labels = GrowingStack()
    kinds = GrowingStack()
    degrees.start.initialize(repeating: 0, count: nodeCount)
    lastSource = 0
    isInOrder = true
    refusedEdgeCount = 0
    return graph
  }
}
