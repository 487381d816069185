@testable import HeapAnalysis
import TraceTestSupport

/// A small graph as lists, for slow but simple algorithms, and the same graph as `HeapGraph`. The nodes and edges that
/// algorithms may use are also random.
struct RandomGraph {
  struct Edge: Hashable {
    var source: Int
    var target: Int
    var label: UInt32
    var kind: UInt8
  }

  var nodeCount: Int
  /// The edges in the order of their numbers in the graph.
  var edges: [Edge]
  var graph: HeapGraph
  var subset: NodeSet?
  var kinds: EdgeKinds
  var costs: EdgeCosts
  var roots: [NodeID]

  /// Seeds differ in density, in the share of self edges, and in whether kinds and nodes are restricted.
  init(seed: UInt64, maximumNodes: UInt64 = 24) {
    var random = SeededRandom(seed: seed &* 977 &+ 5)
    nodeCount = Int(1 + random.next() % maximumNodes)
    let density = [0.3, 0.8, 1.2, 2, 4, 12][Int(seed % 6)]
    let builder = HeapGraphBuilder(nodeCount: nodeCount)
    var added: [Edge] = []
    for number in 0..<Int(density * Double(nodeCount)) {
      let source = Int(random.next() % UInt64(nodeCount))
      var target = Int(random.next() % UInt64(nodeCount))
      if random.oneIn(10) { target = source }
      // Some edges to distant nodes become edges to the next node, so that there are long paths as well.
      if random.oneIn(3) { target = min(source + 1, nodeCount - 1) }
      added.append(Edge(source: source, target: target, label: UInt32(number), kind: UInt8(random.next() % 8)))
      if random.oneIn(8) { added.append(added[added.count - 1]) }
    }
    let inOrder = seed % 4 == 0
    if inOrder { added = Self.sortedBySource(added) }
    for edge in added {
      builder.addEdge(from: NodeID(edge.source), to: NodeID(edge.target), label: edge.label, kind: edge.kind)
    }
    edges = Self.sortedBySource(added)
    graph = builder.build()
    kinds = seed % 5 < 2 ? .all : EdgeKinds(rawValue: UInt8(truncatingIfNeeded: random.next() | random.next()))
    costs = .uniform
    if seed % 2 == 1 {
      for kind in 0..<EdgeKinds.count { costs[kind] = UInt8([0, 1, 1, 2, 5, 254, 255][Int(random.next() % 7)]) }
    }
    subset = nil
    if seed % 3 == 1 {
      let drawn = NodeSet(bound: nodeCount)
      for node in 0..<NodeID(nodeCount) where !random.oneIn(5) { drawn.insert(node) }
      subset = drawn
    }
    roots = []
    for _ in 0..<(random.next() % 4) { roots.append(NodeID(random.next() % UInt64(nodeCount))) }
  }

  private static func sortedBySource(_ edges: [Edge]) -> [Edge] {
    edges.enumerated().sorted { ($0.element.source, $0.offset) < ($1.element.source, $1.offset) }.map(\.element)
  }

  func contains(_ node: Int) -> Bool { subset?.contains(NodeID(node)) ?? true }

  /// Whether algorithms may use an edge.
  func allows(_ edge: Edge) -> Bool {
    kinds.contains(EdgeKinds(kind: edge.kind)) && contains(edge.source) && contains(edge.target)
  }

  var allowedEdges: [(index: Int, edge: Edge)] {
    edges.enumerated().filter { allows($0.element) }.map { ($0.offset, $0.element) }
  }

  /// Returns the nodes that some nodes can reach if one node is removed.
  func reached(from starts: [Int], without removed: Int? = nil) -> Set<Int> {
    var result = Set(starts.filter { contains($0) && $0 != removed })
    let edges = allowedEdges.map(\.edge)
    var grew = true
    while grew {
      grew = false
      for edge in edges
      where result.contains(edge.source) && edge.target != removed && result.insert(edge.target).inserted {
        grew = true
      }
    }
    return result
  }

  /// Returns the cost of the cheapest path to each node (Bellman and Ford). `starts`: the nodes where paths may begin,
  /// with the initial costs of those paths.
  func cheapest(from starts: [Int: Int]) -> [Int: Int] {
    var result = starts.filter { contains($0.key) }
    let edges = allowedEdges.map(\.edge)
    for _ in 0...nodeCount {
      for edge in edges {
        guard let base = result[edge.source] else { continue }
        result[edge.target] = min(result[edge.target] ?? .max, base + Int(costs[edge.kind]))
      }
    }
    return result
  }
}
