// Builds graphs.

/// Collects edges and makes a `HeapGraph` of them. Edges may be added in any order. Edges in the order of their sources
/// need the least time and memory. For one thread at a time.
///
/// Memory: 4 bytes for each node and 9 for each edge. The graph takes over this memory. A late edge, whose source is
/// lower than an earlier source, takes 13 bytes, and 8 more in `build`. The builder reserves up to half as much again,
/// but does not touch it.
package final class HeapGraphBuilder {
  package let nodeCount: Int
  /// The highest number of edges.
  let edgeLimit: Int
  /// The number of edges that were left out because there were already `edgeLimit` edges.
  private(set) var refusedEdgeCount = 0

  /// The number of edges that leave each node, and one more element for the end offset. Nil before the first edge.
  private var degrees: NodeTable<UInt32>?
  private var degreeOf: UnsafeMutablePointer<UInt32>?
  /// The edges that are not late, in the order of their sources.
  private var targets: GrowingStack<NodeID>
  private var labels: GrowingStack<UInt32>
  private var kinds: GrowingStack<UInt8>
  private var lastSource: NodeID = 0
  /// Late edges: their source is lower than the source of an earlier edge.
  private var lateSources = GrowingStack<NodeID>()
  private var lateTargets = GrowingStack<NodeID>()
  private var lateLabels = GrowingStack<UInt32>()
  private var lateKinds = GrowingStack<UInt8>()

  /// Makes a builder for a graph of `nodeCount` nodes. Traps if there are more than `HeapGraph.maximumNodeCount`.
  /// `expectedEdges` is a hint.
  package init(nodeCount: Int, expectedEdges: Int = 0, edgeLimit: Int = HeapGraph.maximumEdgeCount) {
    precondition(nodeCount >= 0 && nodeCount <= HeapGraph.maximumNodeCount, "too many nodes")
    self.nodeCount = nodeCount
    self.edgeLimit = min(edgeLimit, HeapGraph.maximumEdgeCount)
    let capacity = min(expectedEdges, self.edgeLimit)
    targets = GrowingStack(capacity: capacity)
    labels = GrowingStack(capacity: capacity)
    kinds = GrowingStack(capacity: capacity)
  }

  package var edgeCount: Int { targets.count + lateTargets.count }

  /// Adds an edge between two nodes. Traps if there is no such node or kind. `HeapGraph.label(of:)` later returns
  /// `label`. Once there are `edgeLimit` edges, further edges are only counted. Amortised constant time, but O(nodes)
  /// for the first edge.
  @inline(__always)
  package func addEdge(from source: NodeID, to target: NodeID, label: UInt32 = 0, kind: UInt8 = 0) {
    precondition(Int(source) < nodeCount && Int(target) < nodeCount, "no such node")
    precondition(kind < EdgeKinds.count, "no such edge kind")
    if targets.count &+ lateTargets.count >= edgeLimit {
      refusedEdgeCount += 1
      return
    }
    (degreeOf ?? begin())[Int(source)] &+= 1
    if source < lastSource {
      lateSources.push(source)
      lateTargets.push(target)
      lateLabels.push(label)
      lateKinds.push(kind)
      return
    }
    lastSource = source
    targets.push(target)
    labels.push(label)
    kinds.push(kind)
  }

  @inline(never)
  private func begin() -> UnsafeMutablePointer<UInt32> {
    let table = NodeTable<UInt32>(repeating: 0, count: nodeCount + 1)
    degrees = table
    degreeOf = table.start
    return table.start
  }

  /// Returns for each node the number of incoming edges of a kind, among the edges added so far. O(nodes + edges).
  func edgeCounts(ofKind kind: UInt8) -> NodeCounts {
    let counts = NodeCounts(count: nodeCount)
    for edge in 0..<targets.count where kinds.start[edge] == kind { counts.increment(targets.start[edge]) }
    for edge in 0..<lateTargets.count where lateKinds.start[edge] == kind { counts.increment(lateTargets.start[edge]) }
    return counts
  }

  /// Returns the graph of the added edges. Afterwards the builder is empty and may be used again. A node's edges keep
  /// their order. O(nodes + edges), plus O(n log n) for n late edges.
  package func build() -> HeapGraph {
    let offsets = degrees ?? NodeTable<EdgeIndex>(repeating: 0, count: nodeCount + 1)
    (degrees, degreeOf) = (nil, nil)
    var next: EdgeIndex = 0
    for node in 0...nodeCount {
      let degree = offsets.start[node]
      offsets.start[node] = next
      next += degree
    }
    mergeLate(offsets.start)
    let graph = HeapGraph(
      offsets: offsets, targets: Self.table(&targets), labels: Self.table(&labels), kinds: Self.table(&kinds))
    lastSource = 0
    refusedEdgeCount = 0
    return graph
  }

  /// Moves each late edge after the other edges of its source, which were all added earlier.
  private func mergeLate(_ offsets: UnsafeMutablePointer<EdgeIndex>) {
    let lateCount = lateSources.count
    if lateCount == 0 { return }
    var order = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: lateCount)
    defer { order.deallocate() }
    for index in 0..<lateCount { order[index] = UInt64(lateSources.start[index]) << 32 | UInt64(index) }
    order.sort()
    /// The edges before `unmoved` have not moved yet. The places from `end` on are filled.
    var unmoved = targets.count
    for _ in 0..<lateCount {
      targets.push(0)
      labels.push(0)
      kinds.push(0)
    }
    var end = targets.count
    for place in stride(from: lateCount - 1, through: 0, by: -1) {
      let source = Int(order[place] >> 32)
      let index = Int(order[place] & 0xFFFF_FFFF)
      // Move all edges of later nodes, unless a previous late edge of the same source has moved them.
      if place == lateCount - 1 || order[place + 1] >> 32 != order[place] >> 32 {
        let first = Int(offsets[source + 1]) - (place + 1)
        let count = unmoved - first
        end -= count
        (targets.start + end).update(from: targets.start + first, count: count)
        (labels.start + end).update(from: labels.start + first, count: count)
        (kinds.start + end).update(from: kinds.start + first, count: count)
        unmoved = first
      }
      end -= 1
      targets.start[end] = lateTargets.start[index]
      labels.start[end] = lateLabels.start[index]
      kinds.start[end] = lateKinds.start[index]
    }
    lateSources = GrowingStack()
    lateTargets = GrowingStack()
    lateLabels = GrowingStack()
    lateKinds = GrowingStack()
  }

  private static func table<Element: BitwiseCopyable>(_ stack: inout GrowingStack<Element>) -> NodeTable<Element> {
    var taken = GrowingStack<Element>()
    swap(&taken, &stack)
    return NodeTable(taking: taken)
  }
}
